//! What an error means for the connection on which it came.

use redis::RedisError;

/// Whether whoever answered, or did not, should be left: the connection is broken or silent, or the
/// server cannot write, now or any more. A refusal of one command is no such thing.
pub(super) fn leaves_server(error: &RedisError) -> bool {
    error.is_io_error()
        || error.is_timeout()
        || error.is_connection_dropped()
        || error.is_unrecoverable_error()
        || matches!(error.code(), Some("LOADING" | "READONLY" | "MASTERDOWN" | "NOAUTH"))
}

/// Nobody answered in the time that there was.
pub(super) fn timed_out(why: &str) -> RedisError {
    std::io::Error::new(std::io::ErrorKind::TimedOut, why.to_owned()).into()
}

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::*;

    fn told(line: &str) -> RedisError {
        redis::parse_redis_value(format!("-{line}\r\n").as_bytes())
            .and_then(Value::extract_error)
            .expect_err("an error")
    }

    #[test]
    fn a_refused_command_does_not_break_the_connection() {
        assert!(leaves_server(&timed_out("late")));
        assert!(leaves_server(&told("READONLY You can't write against a read only replica.")));
        assert!(leaves_server(&told("LOADING Redis is loading the dataset in memory")));
        for harmless in
            ["NOROOM", "OOM command not allowed", "NOSCRIPT No matching script", "ERR x"]
        {
            assert!(!leaves_server(&told(harmless)), "{harmless}");
        }
    }
}
