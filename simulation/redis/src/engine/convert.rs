//! Values between Lua and Redis.

use bstr::BStr;
use mlua::{Either, Lua, Table, Value};

use crate::{
    failure::{Failure, Outcome, on_one_line},
    number,
    options::Dialect,
    reply::Reply,
};

/// A text on its way into Lua. mlua is much faster with what is UTF-8.
pub(super) fn text(text: &[u8]) -> Either<&str, &BStr> {
    match std::str::from_utf8(text) {
        Ok(text) => Either::Left(text),
        Err(_) => Either::Right(BStr::new(text)),
    }
}

/// What a command answered, as a script sees it. An error is a table here; the caller decides whether
/// to raise it.
pub(super) fn value(lua: &Lua, reply: &Reply) -> mlua::Result<Value> {
    Ok(match reply {
        Reply::Nil => Value::Boolean(false),
        Reply::Ok => named(lua, "ok", "OK")?,
        Reply::Status(status) => named(lua, "ok", status)?,
        Reply::Error(error) => named(lua, "err", error)?,
        Reply::Int(integer) => Value::Integer(*integer),
        Reply::Bulk(bytes) => Value::String(lua.create_string(bytes)?),
        Reply::Array(items) => Value::Table(list(lua, items)?),
    })
}

fn named(lua: &Lua, name: &str, text: &str) -> mlua::Result<Value> {
    let table = lua.create_table_with_capacity(0, 1)?;
    table.raw_set(name, text)?;
    Ok(Value::Table(table))
}

fn list(lua: &Lua, items: &[Reply]) -> mlua::Result<Table> {
    if items.iter().all(|item| matches!(item, Reply::Bulk(_) | Reply::Nil)) {
        return lua.create_sequence_from(items.iter().map(|item| match item {
            Reply::Bulk(bytes) => Either::Left(text(bytes)),
            _ => Either::Right(false),
        }));
    }
    let table = lua.create_table_with_capacity(items.len(), 0)?;
    for (i, item) in items.iter().enumerate() {
        table.raw_seti(i + 1, value(lua, item)?)?;
    }
    Ok(table)
}

/// What a script returned, as Redis answers it.
pub(super) fn reply(value: &Value, dialect: Dialect) -> Outcome {
    Ok(match value {
        Value::String(text) => Reply::bulk(text.as_bytes()),
        Value::Integer(integer) => Reply::Int(*integer),
        Value::Number(number) => Reply::Int(truncated(*number)),
        Value::Boolean(true) => Reply::Int(1),
        Value::Table(table) => return of_table(table, dialect),
        _ => Reply::Nil,
    })
}

/// As C does it: what does not fit is the lowest integer.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "checked")]
fn truncated(number: f64) -> i64 {
    const LIMIT: f64 = i64::MAX as f64;
    if (-LIMIT..LIMIT).contains(&number) { number as i64 } else { i64::MIN }
}

fn of_table(table: &Table, dialect: Dialect) -> Outcome {
    let broken = |error: mlua::Error| Failure(format!("ERR {error}").into());
    if let Value::String(error) = table.raw_get("err").map_err(broken)? {
        return Err(Failure(error.to_string_lossy().into()));
    }
    if let Value::String(status) = table.raw_get("ok").map_err(broken)? {
        let status = on_one_line(&status.to_string_lossy());
        return Ok(if status == "OK" { Reply::Ok } else { Reply::Status(status) });
    }
    match table.raw_get("double").map_err(broken)? {
        Value::Integer(integer) => return Ok(Reply::bulk(integer.to_string())),
        Value::Number(double) => return Ok(Reply::bulk(number::write_float(double, dialect))),
        _ => {}
    }
    let mut items = Vec::with_capacity(table.raw_len());
    table
        .for_each_value(|item: Value| {
            items.push(reply(&item, dialect).unwrap_or_else(Reply::from));
            Ok(())
        })
        .map_err(broken)?;
    Ok(Reply::Array(items))
}
