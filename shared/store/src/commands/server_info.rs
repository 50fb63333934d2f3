//! What the servers tell of themselves, where the user may ask.

use redis::{RedisError, Value};

use crate::{Store, StoreError};

/// A server's answer to `INFO`.
pub(crate) enum Told {
    Info(String),
    /// The user may not ask, or the server does not know the command. All else works there.
    Refused(RedisError),
}

// === impl Store ===

impl Store {
    /// Asks every server that holds a part of the data, and gives its answer beside its name.
    ///
    /// # Errors
    /// For one server: [`StoreError::Unavailable`] if it does not answer.
    pub(crate) async fn info_of_each(
        &self,
        section: Option<&str>,
    ) -> Vec<(String, Result<Told, StoreError>)> {
        let mut info = redis::cmd("INFO");
        if let Some(section) = section {
            info.arg(section);
        }
        let answers = self.link().call_each(&info).await.into_iter();
        answers.map(|(server, answer)| (server, told(answer))).collect()
    }
}

fn told(answer: Result<Value, RedisError>) -> Result<Told, StoreError> {
    match answer.and_then(Value::extract_error) {
        Ok(info) => redis::from_redis_value(info).map(Told::Info).map_err(StoreError::unexpected),
        // Elsewhere a missing right makes a server as good as away; this one is not needed.
        Err(error) if error.code() == Some("NOPERM") => Ok(Told::Refused(error)),
        Err(error) => match StoreError::from(error.clone()) {
            away @ StoreError::Unavailable(_) => Err(away),
            _ => Ok(Told::Refused(error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(wire: &str) -> Result<Told, StoreError> {
        told(redis::parse_redis_value(wire.as_bytes()))
    }

    #[test]
    fn a_user_that_may_not_ask_is_told_from_a_server_that_takes_nobody() {
        assert!(matches!(answered("+redis_version:7\r\n"), Ok(Told::Info(_))));
        for refused in ["NOPERM this user has no permissions", "ERR unknown command 'INFO'"] {
            let told = answered(&format!("-{refused}\r\n"));
            assert!(matches!(told, Ok(Told::Refused(_))), "{refused}");
        }
        for away in [
            "NOAUTH Authentication required.",
            "LOADING it loads",
            "ERR max number of clients reached",
        ] {
            let told = answered(&format!("-{away}\r\n"));
            assert!(matches!(told, Err(StoreError::Unavailable(_))), "{away}");
        }
    }
}
