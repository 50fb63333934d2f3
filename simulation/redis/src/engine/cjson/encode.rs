//! Values of Lua as JSON.

use mlua::{Table, Value};

use super::MAX_DEPTH;
use crate::number;

/// A list may have this many times as many places as items, unless it is short.
const SPARSE_RATIO: f64 = 2.0;
const SPARSE_SAFE: f64 = 10.0;

/// The value as JSON.
pub(super) fn text(value: &Value) -> Result<Vec<u8>, String> {
    let mut text = vec![];
    push(&mut text, value, 0)?;
    Ok(text)
}

fn push(text: &mut Vec<u8>, value: &Value, depth: usize) -> Result<(), String> {
    match value {
        Value::Nil => text.extend(b"null"),
        Value::LightUserData(pointer) if pointer.0.is_null() => text.extend(b"null"),
        Value::Boolean(flag) => text.extend(if *flag { "true" } else { "false" }.as_bytes()),
        Value::Integer(_) | Value::Number(_) => text.extend(digits(value)?.as_bytes()),
        Value::String(string) => push_string(text, &string.as_bytes()),
        Value::Table(table) => push_table(text, table, depth + 1)?,
        other => {
            return Err(format!("Cannot serialise {}: type not supported", other.type_name()));
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "it was a float in Lua")]
fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(integer) => Some(*integer as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

fn digits(value: &Value) -> Result<String, String> {
    match float(value) {
        Some(number) if number.is_finite() => Ok(number::general(number, 14)),
        _ => Err("Cannot serialise number: must not be NaN or Inf".to_owned()),
    }
}

fn push_string(text: &mut Vec<u8>, string: &[u8]) {
    text.push(b'"');
    for byte in string {
        match byte {
            b'"' | b'\\' | b'/' => text.extend([b'\\', *byte]),
            8 => text.extend(b"\\b"),
            b'\t' => text.extend(b"\\t"),
            b'\n' => text.extend(b"\\n"),
            12 => text.extend(b"\\f"),
            b'\r' => text.extend(b"\\r"),
            0..32 | 127 => text.extend(format!("\\u{byte:04x}").as_bytes()),
            other => text.push(*other),
        }
    }
    text.push(b'"');
}

fn push_table(text: &mut Vec<u8>, table: &Table, depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("Cannot serialise, excessive depth ({depth})"));
    }
    match list_length(table)? {
        Some(length) => push_list(text, table, length, depth),
        None => push_object(text, table, depth),
    }
}

/// How many items it has as a list; `None` if it is an object, or empty.
#[expect(clippy::float_cmp, reason = "whole numbers only")]
fn list_length(table: &Table) -> Result<Option<usize>, String> {
    let (mut most, mut count, mut is_list) = (0.0_f64, 0.0, true);
    for pair in table.pairs::<Value, Value>() {
        let (key, _) = pair.map_err(|error| error.to_string())?;
        match float(&key) {
            Some(place) if place >= 1.0 && place.floor() == place => most = most.max(place),
            _ => {
                is_list = false;
                break;
            }
        }
        count += 1.0;
    }
    if !is_list || most == 0.0 {
        return Ok(None);
    }
    if most > count * SPARSE_RATIO && most > SPARSE_SAFE {
        return Err("Cannot serialise table: excessively sparse array".to_owned());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    Ok(Some(most as usize))
}

fn push_list(text: &mut Vec<u8>, table: &Table, length: usize, depth: usize) -> Result<(), String> {
    text.push(b'[');
    for place in 1..=length {
        if place > 1 {
            text.push(b',');
        }
        let item: Value = table.raw_get(place).map_err(|error| error.to_string())?;
        push(text, &item, depth)?;
    }
    text.push(b']');
    Ok(())
}

fn push_object(text: &mut Vec<u8>, table: &Table, depth: usize) -> Result<(), String> {
    text.push(b'{');
    let mut is_first = true;
    for pair in table.pairs::<Value, Value>() {
        let (key, value) = pair.map_err(|error| error.to_string())?;
        if !std::mem::take(&mut is_first) {
            text.push(b',');
        }
        match &key {
            Value::String(name) => push_string(text, &name.as_bytes()),
            Value::Integer(_) | Value::Number(_) => {
                text.extend(format!("\"{}\"", digits(&key)?).as_bytes());
            }
            _ => {
                let wrong = "Cannot serialise table: table key must be a number or string";
                return Err(wrong.to_owned());
            }
        }
        text.push(b':');
        push(text, &value, depth)?;
    }
    text.push(b'}');
    Ok(())
}
