//! INFO, as far as anybody asks.

use std::fmt::Write;

use super::{ALWAYS, Args, Command, Keys::None as NoKeys, MANY, command};
use crate::{
    arguments::is,
    core::Core,
    failure::Outcome,
    options::{Dialect, Role},
    reply::Reply,
};

pub(super) const COMMANDS: &[Command] = &[command("info", (0, MANY), ALWAYS, NoKeys, info)];

fn info(core: &mut Core, args: Args) -> Outcome {
    let wanted = |section: &str| {
        let everything = ["DEFAULT", "ALL", "EVERYTHING"];
        args.is_empty()
            || args.iter().any(|arg| is(arg, section) || everything.iter().any(|all| is(arg, all)))
    };
    let mut text = String::new();
    for (name, lines) in SECTIONS {
        if wanted(name) {
            let gap = if text.is_empty() { "" } else { "\r\n" };
            let _ = write!(text, "{gap}# {name}\r\n");
            for (field, value) in lines(core) {
                let _ = write!(text, "{field}:{value}\r\n");
            }
        }
    }
    Ok(Reply::bulk(text))
}

type Lines = Vec<(&'static str, String)>;
type Section = (&'static str, fn(&Core) -> Lines);

/// Each section, and what says what is in it.
const SECTIONS: [Section; 5] = [
    ("Server", server),
    ("Memory", |core| vec![("maxmemory_policy", core.options.maxmemory_policy.clone())]),
    ("Persistence", |_| vec![("loading", "0".to_owned())]),
    ("Replication", replication),
    ("Keyspace", keyspace),
];

fn server(core: &Core) -> Lines {
    let (version, mode) = match core.options.dialect {
        Dialect::Redis7 => ("7.0.15", "redis_mode"),
        Dialect::Valkey9 => ("7.2.4", "server_mode"),
    };
    let mut lines = vec![("redis_version", version.to_owned())];
    if core.options.dialect == Dialect::Valkey9 {
        lines.push(("server_name", "valkey".to_owned()));
        lines.push(("valkey_version", "9.1.2".to_owned()));
    }
    lines.push((mode, "standalone".to_owned()));
    lines.push(("run_id", core.options.run_id.clone()));
    lines.push(("server_time_usec", core.now.to_string()));
    lines
}

fn replication(core: &Core) -> Lines {
    let role = match core.options.role {
        Role::Master => "master",
        Role::Replica => "slave",
    };
    let replicas = core.options.replicas.to_string();
    vec![("role", role.to_owned()), ("connected_slaves", replicas)]
}

fn keyspace(core: &Core) -> Lines {
    let keys = core.keyspace();
    if keys.is_empty() {
        return vec![];
    }
    let expires = keys.keys().into_iter().filter(|key| keys.expires_at(key).is_some()).count();
    vec![("db0", format!("keys={},expires={expires},avg_ttl=0", keys.len()))]
}
