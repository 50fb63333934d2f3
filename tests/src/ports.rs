//! Ports for servers that cannot be told to pick one themselves.
//!
//! Taken from below the range that systems use for outgoing connections, so that none of the
//! thousands a test opens can sit on a port that a server is about to take, or to come back to.

use std::{
    net::{Ipv4Addr, TcpListener},
    sync::{
        LazyLock,
        atomic::{AtomicU16, Ordering::Relaxed},
    },
};

const FIRST: u16 = 12_000;
const COUNT: u16 = 18_000;

/// Where this process begins to look: somewhere else than others that run beside it.
#[expect(
    clippy::disallowed_methods,
    reason = "processes that run beside each other begin at different ports"
)]
static NEXT: LazyLock<AtomicU16> = LazyLock::new(|| AtomicU16::new(rand::random_range(0..COUNT)));

/// A port of 127.0.0.1 on which nobody listens now, and which no other call here has given.
#[must_use]
pub fn free() -> u16 {
    loop {
        let port = FIRST + NEXT.fetch_add(1, Relaxed) % COUNT;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ports_are_distinct_and_not_taken() {
        let ports: BTreeSet<_> = (0..50).map(|_| free()).collect();
        assert_eq!(ports.len(), 50);
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, free())).unwrap();
        NEXT.store(taken.local_addr().unwrap().port() - FIRST, Relaxed);
        assert_ne!(free(), taken.local_addr().unwrap().port());
    }
}
