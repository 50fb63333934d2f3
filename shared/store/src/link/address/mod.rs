//! Where the shared state is, as `VESTIBULE_REDIS_URL` says it: one server, several of a Cluster, or
//! Sentinels that know the server.
//!
//! Parsed here and not by a library for URLs, because those know no address with several hosts. What is
//! wrong is said by its place, never by quoting: whatever is misplaced may be a piece of a password.

mod parse;
#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr};

use crate::StoreError;

/// Where the shared state is. Neither `Debug` nor `Display` tells a password.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerAddress {
    pub(super) servers: Servers,
    pub(super) tls: bool,
    /// Of the servers that hold the data.
    pub(super) credentials: Credentials,
    pub(super) database: i64,
}

/// Which servers are named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Servers {
    /// One, which may be a node of a Cluster.
    One(Host),
    /// Nodes of a Cluster, from which all others are learnt.
    Cluster(Vec<Host>),
    /// Sentinels, and how they call the primary. Without credentials of their own they want none, or
    /// those of the servers.
    Sentinels { sentinels: Vec<Host>, master: String, credentials: Option<Credentials> },
}

/// Where one server listens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) port: u16,
}

/// How a server is told who calls.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

// === impl ServerAddress ===

impl ServerAddress {
    /// Whether connections are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.tls
    }
}

impl FromStr for ServerAddress {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        parse::address(text).map_err(|why| StoreError::Address(why.into()))
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tls = if self.tls { "s" } else { "" };
        let list = |hosts: &[Host]| hosts.iter().map(Host::to_string).collect::<Vec<_>>().join(",");
        match &self.servers {
            Servers::One(host) => write!(f, "redis{tls}://{host}/{}", self.database),
            Servers::Cluster(hosts) => write!(f, "redis{tls}://{}", list(hosts)),
            Servers::Sentinels { sentinels, master, .. } => {
                write!(f, "redis{tls}+sentinel://{}/{master}?db={}", list(sentinels), self.database)
            }
        }
    }
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerAddress({self})")
    }
}

// === impl Host ===

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(f, "[{}]:{}", self.name, self.port)
        } else {
            write!(f, "{}:{}", self.name, self.port)
        }
    }
}

// === impl Credentials ===

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}
