//! Arguments and replies of the scripts that are called most: lists without names, because a JSON
//! document for each of a thousand visitors would cost more than the work itself.
//!
//! The fields of a struct made by these macros define the order. The struct is written or read in that
//! order, and the script's prelude, which names the values in Lua, is generated from the same names. A
//! test compares them with the header of the script. The structs are in `scripts/order.rs`.

use redis::{FromRedisValue, ParsingError, ScriptInvocation, Value};

/// The names of a script's arguments and replies, in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Positions {
    /// Arguments of the call, after the time.
    pub(crate) call: &'static [&'static str],
    /// Arguments of each item that follows.
    pub(crate) item: &'static [&'static str],
    /// The reply.
    pub(crate) reply: &'static [&'static str],
    /// Each item of the reply.
    pub(crate) reply_item: &'static [&'static str],
}

/// Arguments in a fixed order.
pub(crate) trait Arguments {
    /// Adds them to `call`.
    fn push(&self, call: &mut ScriptInvocation<'_>);
}

/// One argument. A missing one is an empty text.
pub(crate) trait Argument {
    /// Adds it to `call`.
    fn push(&self, call: &mut ScriptInvocation<'_>);
}

/// The fields of a reply that have not been read yet.
pub(crate) struct Fields(std::vec::IntoIter<Value>);

/// Declares a struct whose fields are the arguments of a script, in order.
macro_rules! arguments {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident $(<$life:lifetime>)? {
        $($(#[$doc:meta])* $field:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        $visibility struct $name $(<$life>)? { $($(#[$doc])* pub $field: $type,)* }

        impl $(<$life>)? $name $(<$life>)? {
            pub(crate) const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];
        }

        impl $(<$life>)? $crate::positional::Arguments for $name $(<$life>)? {
            fn push(&self, call: &mut redis::ScriptInvocation<'_>) {
                $($crate::positional::Argument::push(&self.$field, call);)*
            }
        }
    };
}
pub(crate) use arguments;

/// Declares a struct whose fields are the reply of a script, in order.
macro_rules! reply {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        $visibility struct $name { $($(#[$doc])* pub $field: $type,)* }

        impl $name {
            pub(crate) const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];
        }

        impl redis::FromRedisValue for $name {
            fn from_redis_value(value: redis::Value) -> Result<Self, redis::ParsingError> {
                let mut fields = $crate::positional::Fields::new(value)?;
                Ok(Self { $($field: fields.read(stringify!($field))?,)* })
            }
        }
    };
}
pub(crate) use reply;

macro_rules! written_as_they_are {
    ($($type:ty),*) => {
        $(impl Argument for $type {
            fn push(&self, call: &mut ScriptInvocation<'_>) {
                call.arg(self);
            }
        })*
    };
}

written_as_they_are!(u32, u64, i64, usize, bool, String, &str);

impl Argument for Option<u64> {
    fn push(&self, call: &mut ScriptInvocation<'_>) {
        match self {
            Some(value) => call.arg(value),
            None => call.arg(""),
        };
    }
}

// === impl Fields ===

impl Fields {
    pub(crate) fn new(reply: Value) -> Result<Self, ParsingError> {
        match reply {
            Value::Array(values) => Ok(Self(values.into_iter())),
            other => Err(ParsingError::from(format!("not a list: {other:?}"))),
        }
    }

    /// Reads the next field, which is called `name` in errors.
    pub(crate) fn read<T: FromRedisValue>(&mut self, name: &str) -> Result<T, ParsingError> {
        let value = self.0.next().unwrap_or(Value::Nil);
        T::from_redis_value(value).map_err(|error| ParsingError::from(format!("{name}: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    reply! {
        #[derive(Debug, PartialEq)]
        struct Reply {
            now_ms: u64,
            pool: Option<u32>,
            suspended: bool,
        }
    }

    #[test]
    fn a_reply_is_read_by_its_names() {
        let values = vec![Value::Int(9_007_199_254_740_991), Value::Nil, Value::Int(1)];
        let read = Reply::from_redis_value(Value::Array(values)).unwrap();
        assert_eq!(read, Reply { now_ms: 9_007_199_254_740_991, pool: None, suspended: true });
        assert_eq!(Reply::NAMES, ["now_ms", "pool", "suspended"]);
    }

    #[test]
    fn an_error_names_the_field() {
        let wrong = Value::Array(vec![Value::BulkString(b"soon".to_vec())]);
        let error = Reply::from_redis_value(wrong).unwrap_err();
        assert!(error.to_string().contains("now_ms: "), "{error}");
    }
}
