//! What an `INFO` says that whoever runs the servers should know.

/// Something found about a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// It throws keys away when its memory is full.
    Evicts,
    /// It would, if it had a limit.
    WouldEvict,
    /// Nothing that it holds was seen to be written to a disk.
    NotPersistent,
    /// Fewer replicas follow it than are waited for.
    FewReplicas,
    /// It is older than the oldest version that is supported.
    OldVersion,
    /// It is a node of a Cluster.
    Cluster,
}

/// The answer to `INFO`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Info<'a>(pub(super) &'a str);

const OLDEST_MAJOR: u32 = 7;

// === impl Finding ===

impl Finding {
    /// Its name in the metric.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Evicts => "evicts",
            Self::WouldEvict => "would_evict",
            Self::NotPersistent => "not_persistent",
            Self::FewReplicas => "few_replicas",
            Self::OldVersion => "old_version",
            Self::Cluster => "cluster",
        }
    }

    /// What it means, and what to do.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Evicts => {
                "the server throws keys away when its memory is full, and with them rooms and places in \
                 line: set maxmemory-policy to noeviction"
            }
            Self::WouldEvict => {
                "the server would throw keys away once it gets a limit of memory: set maxmemory-policy to \
                 noeviction before it gets one"
            }
            Self::NotPersistent => {
                "the server keeps no append-only file, and has written no snapshot since it started; \
                 whether it will, it does not tell. After a restart without either, rooms are restored from \
                 what the services remember: switch appendonly on"
            }
            Self::FewReplicas => {
                "fewer replicas follow the server than VESTIBULE_REDIS_WAIT_REPLICAS asks for: every join \
                 and every claim waits in vain, for VESTIBULE_REDIS_WAIT_MS"
            }
            Self::OldVersion => "the server is older than 7.0, which nothing here is tested with",
            Self::Cluster => {
                "the server is a node of a Cluster: rooms are spread over it, and one whose slot moves \
                 stands still until the slot has arrived"
            }
        }
    }

    /// Whether somebody should do something about it.
    pub(super) fn is_warning(self) -> bool {
        !matches!(self, Self::WouldEvict | Self::Cluster)
    }
}

// === impl Info ===

impl<'a> Info<'a> {
    /// Everything found, with so many replicas wanted.
    pub(super) fn findings(self, wanted: u32) -> Vec<Finding> {
        let mut found = Vec::new();
        found.extend(self.eviction());
        if self.seems_not_persistent() {
            found.push(Finding::NotPersistent);
        }
        if self.number("connected_slaves").is_some_and(|connected| connected < wanted.into()) {
            found.push(Finding::FewReplicas);
        }
        let major = self.field("redis_version").and_then(|version| version.split('.').next());
        if major.and_then(|major| major.parse().ok()).is_some_and(|major: u32| major < OLDEST_MAJOR)
        {
            found.push(Finding::OldVersion);
        }
        if self.field("cluster_enabled") == Some("1") {
            found.push(Finding::Cluster);
        }
        found
    }

    fn eviction(self) -> Option<Finding> {
        let policy = self.field("maxmemory_policy")?;
        let limit = self.number("maxmemory")?;
        match (policy, limit) {
            ("noeviction", _) => None,
            (_, 0) => Some(Finding::WouldEvict),
            _ => Some(Finding::Evicts),
        }
    }

    /// A snapshot for a replica counts as one, too; `INFO` does not tell them apart.
    fn seems_not_persistent(self) -> bool {
        self.field("aof_enabled") == Some("0")
            && self.field("rdb_last_bgsave_time_sec") == Some("-1")
            && self.number("rdb_saves").unwrap_or(0) == 0
    }

    fn number(self, name: &str) -> Option<u64> {
        self.field(name)?.parse().ok()
    }

    fn field(self, name: &str) -> Option<&'a str> {
        self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WELL: [(&str, &str); 8] = [
        ("redis_version", "7.0.15"),
        ("maxmemory", "1000000"),
        ("maxmemory_policy", "noeviction"),
        ("aof_enabled", "1"),
        ("rdb_last_bgsave_time_sec", "-1"),
        ("rdb_saves", "0"),
        ("connected_slaves", "1"),
        ("cluster_enabled", "0"),
    ];

    /// What is found if these fields differ.
    fn found(wanted: u32, differ: &[(&str, &str)]) -> Vec<Finding> {
        let value = |(name, value): (&str, &str)| {
            let other = differ.iter().find(|(differs, _)| *differs == name);
            format!("{name}:{}\r\n", other.map_or(value, |(_, other)| *other))
        };
        Info(&WELL.map(value).concat()).findings(wanted)
    }

    #[test]
    fn each_is_found_and_nothing_else() {
        assert_eq!(found(1, &[]), []);
        let lru = ("maxmemory_policy", "allkeys-lru");
        assert_eq!(found(0, &[lru]), [Finding::Evicts]);
        assert_eq!(found(0, &[lru, ("maxmemory", "0")]), [Finding::WouldEvict]);
        assert_eq!(found(0, &[("aof_enabled", "0")]), [Finding::NotPersistent]);
        let saved = [("aof_enabled", "0"), ("rdb_last_bgsave_time_sec", "0")];
        assert_eq!(found(0, &saved), []);
        assert_eq!(found(2, &[]), [Finding::FewReplicas]);
        assert_eq!(found(0, &[("redis_version", "6.2.14")]), [Finding::OldVersion]);
        assert_eq!(found(0, &[("redis_version", "10.0.0")]), []);
        assert_eq!(found(0, &[("cluster_enabled", "1")]), [Finding::Cluster]);
    }

    #[test]
    fn a_server_that_tells_little_has_no_findings() {
        assert_eq!(Info("# Server\r\n").findings(3), []);
    }
}
