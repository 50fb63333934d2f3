//! How calls fail on the way.

use std::io;

use redis::RedisError;

/// The connection broke before an answer came.
pub(super) fn broken() -> RedisError {
    io::Error::from(io::ErrorKind::BrokenPipe).into()
}

/// No answer came in time.
pub(super) fn timed_out() -> RedisError {
    io::Error::from(io::ErrorKind::TimedOut).into()
}

/// Nobody listens at the server's address.
pub(super) fn refused() -> RedisError {
    io::Error::from(io::ErrorKind::ConnectionRefused).into()
}
