//! From the commands and values of the crate `redis` to the model's, and back: for whoever puts a
//! model in a server's place under that crate.

/// That crate, for whoever has it from here alone.
pub use redis;
use redis::{Arg, Cmd, RedisError, Value};

use crate::Reply;

/// The words of a command.
#[must_use]
pub fn words(command: &Cmd) -> Vec<Vec<u8>> {
    let word = |arg: Arg<&[u8]>| match arg {
        Arg::Simple(word) => word.to_vec(),
        Arg::Cursor => b"0".to_vec(),
        _ => Vec::new(),
    };
    command.args_iter().map(word).collect()
}

/// A server's answer. An error that it answered is a value, too.
///
/// # Errors
/// When the text of an error is none that a server sends.
pub fn value(reply: Reply) -> Result<Value, RedisError> {
    Ok(match reply {
        Reply::Nil => Value::Nil,
        Reply::Ok => Value::Okay,
        Reply::Status(status) => Value::SimpleString(status),
        Reply::Int(number) => Value::Int(number),
        Reply::Bulk(text) => Value::BulkString(text.to_vec()),
        Reply::Array(items) => {
            Value::Array(items.into_iter().map(value).collect::<Result<_, _>>()?)
        }
        Reply::Error(text) => redis::parse_redis_value(format!("-{text}\r\n").as_bytes())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_keeps_its_code_and_its_words() {
        let error = value(Reply::Error("FENCED 7 script: abc".to_owned()));
        let error = error.unwrap().extract_error().unwrap_err();
        assert_eq!((error.code(), error.detail()), (Some("FENCED"), Some("7 script: abc")));
    }

    #[test]
    fn a_command_is_its_words() {
        let mut command = redis::cmd("SET");
        command.arg("key").arg(7);
        assert_eq!(words(&command), [b"SET".to_vec(), b"key".to_vec(), b"7".to_vec()]);
    }
}
