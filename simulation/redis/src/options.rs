//! What a server is told about itself.

/// Whose answers the model gives, where the two differ: in the digits of floats, and in a few texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// Redis 7.0.
    #[default]
    Redis7,
    /// Valkey 9.
    Valkey9,
}

/// What INFO says the server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// It takes writes.
    #[default]
    Master,
    /// It follows another. This is only what INFO says: see [`Server::refuse`](crate::Server::refuse).
    Replica,
}

/// What a server is told about itself. It survives [`Server::restore`](crate::Server::restore), because
/// it belongs to the process and not to its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Whose answers it gives.
    pub dialect: Dialect,
    /// What INFO calls the process: 40 hex digits. Another one means another process.
    pub run_id: String,
    /// What INFO says it is.
    pub role: Role,
    /// What INFO and CONFIG GET say.
    pub maxmemory_policy: String,
    /// What WAIT answers: how many replicas have everything.
    pub replicas: i64,
    /// Whether a script may touch only the keys that it was given, as on a cluster.
    pub strict_keys: bool,
}

// === impl Options ===

impl Default for Options {
    fn default() -> Self {
        Self {
            dialect: Dialect::default(),
            run_id: "0".repeat(40),
            role: Role::default(),
            maxmemory_policy: "noeviction".to_owned(),
            replicas: 0,
            strict_keys: true,
        }
    }
}
