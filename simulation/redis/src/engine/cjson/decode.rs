//! JSON as values of Lua.

use mlua::{Lua, Value};

use super::{
    MAX_DEPTH,
    token::{Token, Tokens},
};

/// The value of a JSON text.
pub(super) fn value(lua: &Lua, text: &[u8]) -> Result<Value, String> {
    if text.len() >= 2 && (text[0] == 0 || text[1] == 0) {
        return Err("JSON parser does not support UTF-16 or UTF-32".to_owned());
    }
    let mut reader = Reader { lua, tokens: Tokens::new(text), depth: 0 };
    let first = reader.tokens.next();
    let value = reader.value(first)?;
    match reader.tokens.next() {
        (Token::End, _) => Ok(value),
        found => Err(unexpected("the end", &found)),
    }
}

struct Reader<'a> {
    lua: &'a Lua,
    tokens: Tokens<'a>,
    depth: usize,
}

// === impl Reader ===

impl Reader<'_> {
    fn value(&mut self, token: (Token, usize)) -> Result<Value, String> {
        match token.0 {
            Token::Text(text) => self.string(&text),
            Token::Number(number) => Ok(Value::Number(number)),
            Token::Flag(flag) => Ok(Value::Boolean(flag)),
            Token::Null => Ok(Value::NULL),
            Token::ObjectBegin => self.nested(Self::object),
            Token::ListBegin => self.nested(Self::list),
            _ => Err(unexpected("value", &token)),
        }
    }

    fn string(&self, text: &[u8]) -> Result<Value, String> {
        self.lua.create_string(text).map(Value::String).map_err(|error| error.to_string())
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, String>) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let (depth, at) = (self.depth, self.tokens.at());
            return Err(format!(
                "Found too many nested data structures ({depth}) at character {at}"
            ));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Value, String> {
        let table = self.lua.create_table().map_err(|error| error.to_string())?;
        let mut token = self.tokens.next();
        if token.0 == Token::ObjectEnd {
            return Ok(Value::Table(table));
        }
        loop {
            let Token::Text(name) = &token.0 else {
                return Err(unexpected("object key string", &token));
            };
            let name = self.string(name)?;
            match self.tokens.next() {
                (Token::Colon, _) => {}
                found => return Err(unexpected("colon", &found)),
            }
            let next = self.tokens.next();
            let value = self.value(next)?;
            table.raw_set(name, value).map_err(|error| error.to_string())?;
            match self.tokens.next() {
                (Token::ObjectEnd, _) => return Ok(Value::Table(table)),
                (Token::Comma, _) => token = self.tokens.next(),
                found => return Err(unexpected("comma or object end", &found)),
            }
        }
    }

    fn list(&mut self) -> Result<Value, String> {
        let table = self.lua.create_table().map_err(|error| error.to_string())?;
        let mut token = self.tokens.next();
        if token.0 == Token::ListEnd {
            return Ok(Value::Table(table));
        }
        for place in 1.. {
            let value = self.value(token)?;
            table.raw_seti(place, value).map_err(|error| error.to_string())?;
            match self.tokens.next() {
                (Token::ListEnd, _) => break,
                (Token::Comma, _) => token = self.tokens.next(),
                found => return Err(unexpected("comma or array end", &found)),
            }
        }
        Ok(Value::Table(table))
    }
}

fn unexpected(wanted: &str, (found, at): &(Token, usize)) -> String {
    format!("Expected {wanted} but found {} at character {}", found.name(), at + 1)
}
