//! The Lua that scripts see: that of Redis, and no more.

use std::sync::{Arc, Mutex};

use mlua::{
    Error, Function, Lua, LuaOptions, StdLib, Table, Value,
    chunk::ChunkMode,
    state::{GcIncParams, GcMode},
};

use super::{
    bits, cjson, lock,
    raised::{self, CHUNK},
    redis_call::{self, Running},
};
use crate::failure::Failure;

/// A Lua with the libraries that Redis has of it.
pub(super) fn lua() -> mlua::Result<Lua> {
    let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH;
    let lua = Lua::new_with(libraries, LuaOptions::default())?;
    // Scripts leave much garbage and keep nothing but what is compiled, which is much to look through. Looked through ten
    // times less often, a night takes a seventh less time than if it is collected all the time.
    lua.gc_set_mode(GcMode::Incremental(GcIncParams::default().pause(1000)));
    Ok(lua)
}

/// Builds the sandbox, and returns the function that runs one of `functions` in it.
pub(super) fn build(
    lua: &Lua,
    running: &Arc<Mutex<Running>>,
    functions: &Table,
) -> mlua::Result<Function> {
    let host = lua.create_table()?;
    host.raw_set("call", redis_call::function(lua, running, true)?)?;
    host.raw_set("pcall", redis_call::function(lua, running, false)?)?;
    host.raw_set("cjson", cjson::library(lua)?)?;
    host.raw_set("bit", bits::library(lua)?)?;
    host.raw_set("plain", lua.create_function(raised::plain)?)?;
    host.raw_set("line", lua.create_function(|lua, ()| Ok(raised::script_line(lua)))?)?;
    host.raw_set("sha1hex", lua.create_function(|lua, text: Value| sha1hex(lua, text))?)?;
    set_random(lua, &host, running)?;
    lua.load(include_str!("sandbox.lua")).set_name("=sandbox").call((host, functions))
}

fn set_random(lua: &Lua, host: &Table, running: &Arc<Mutex<Running>>) -> mlua::Result<()> {
    let next = Arc::clone(running);
    let next = move |_: &Lua, ()| Ok(lock(&next).random().next());
    host.raw_set("random", lua.create_function(next)?)?;
    let seeded = Arc::clone(running);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as in C")]
    let seed = move |_: &Lua, seed: f64| {
        lock(&seeded).random().seed(seed as i64 as u32);
        Ok(())
    };
    host.raw_set("randomseed", lua.create_function(seed)?)
}

fn sha1hex(lua: &Lua, text: Value) -> mlua::Result<String> {
    let text = lua.coerce_string(text)?;
    let digest = |bytes: &[u8]| sha1_smol::Sha1::from(bytes).digest().to_string();
    Ok(text.map_or_else(|| digest(b""), |text| digest(&text.as_bytes())))
}

/// A script's function.
pub(super) fn compile(lua: &Lua, text: &[u8]) -> Result<Function, Failure> {
    // A first line that says which engine the script is for, such as `#!lua flags=…`.
    let body = match text.strip_prefix(b"#!") {
        Some(rest) => &text[text.len() - rest.iter().skip_while(|byte| **byte != b'\n').count()..],
        None => text,
    };
    let chunk = lua.load(body).set_name(format!("@{CHUNK}")).set_mode(ChunkMode::Text);
    chunk.into_function().map_err(|error| {
        let message = match &error {
            Error::SyntaxError { message, .. } => message.clone(),
            other => other.to_string(),
        };
        Failure(format!("ERR Error compiling script (new function): {message}").into())
    })
}
