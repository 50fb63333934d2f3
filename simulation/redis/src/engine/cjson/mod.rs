//! The library `cjson`, with the rules of lua-cjson 2.1: numbers have 14 digits, an empty table is an
//! object, and null is a value.
//!
//! Its settings (`encode_max_depth` and so on) are not here.

mod decode;
mod encode;
mod token;

use mlua::{Lua, MultiValue, Table, Value};

use super::raised::Raised;

/// How deep values may lie in each other.
const MAX_DEPTH: usize = 1000;

/// The library.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let cjson = lua.create_table()?;
    cjson.raw_set("null", Value::NULL)?;
    cjson.raw_set("_NAME", "cjson")?;
    cjson.raw_set("_VERSION", "2.1.0")?;
    cjson.raw_set("encode", lua.create_function(|lua, args: MultiValue| encode(lua, &args))?)?;
    cjson.raw_set("decode", lua.create_function(|lua, args: MultiValue| decode(lua, &args))?)?;
    Ok(cjson)
}

fn encode(lua: &Lua, args: &MultiValue) -> mlua::Result<Value> {
    let Some(value) = only(args) else { return Err(wrong_count(lua, "encode")) };
    let text = encode::text(value).map_err(|error| Raised::at_caller(lua, &error))?;
    Ok(Value::String(lua.create_string(text)?))
}

fn decode(lua: &Lua, args: &MultiValue) -> mlua::Result<Value> {
    let Some(value) = only(args) else { return Err(wrong_count(lua, "decode")) };
    // Numbers are texts to Lua, where it wants texts.
    let Some(text) = lua.coerce_string(value.clone())? else {
        let kind = value.type_name();
        let error = format!("bad argument #1 to 'decode' (string expected, got {kind})");
        return Err(Raised::at_caller(lua, &error));
    };
    let decoded = decode::value(lua, &text.as_bytes());
    decoded.map_err(|error| Raised::at_caller(lua, &error))
}

fn only(args: &MultiValue) -> Option<&Value> {
    if args.len() == 1 { args.front() } else { None }
}

fn wrong_count(lua: &Lua, function: &str) -> mlua::Error {
    Raised::at_caller(lua, &format!("bad argument #1 to '{function}' (expected 1 argument)"))
}
