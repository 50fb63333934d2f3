//! To which slot a command belongs, and what a node that cannot carry it out says about where to go.

use redis::{Arg, Cmd, RedisError, cluster_routing::Slot};

use crate::{keys::LEASE, link::address::Host};

/// Where a command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// To the owner of the slot of its first key. A command without a key (`TIME`, `PING`) goes where the
    /// keys of the deployment are: always the same node while the slots stay, and one that everything
    /// depends on anyway.
    Slot(Slot),
    /// To every primary: scripts, which any of them may be asked for next.
    Everywhere,
}

/// What an error says about where to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Redirect {
    /// The slot belongs to another node.
    Moved(Host),
    /// The slot is on its way, and what was asked for may be at another node already.
    Ask(Host),
    /// Later: keys are on their way, or nobody owns the slot just now.
    Later,
}

// === impl Route ===

impl Route {
    pub(super) fn of(command: &Cmd) -> Self {
        let mut words = command.args_iter().map(|word| match word {
            Arg::Simple(word) => word,
            _ => &[],
        });
        let name = words.next().unwrap_or_default().to_ascii_uppercase();
        let key = match &name[..] {
            b"SCRIPT" => return Self::Everywhere,
            b"EVALSHA" | b"EVAL" => words.nth(2),
            b"PING" | b"TIME" | b"INFO" | b"ROLE" | b"CLUSTER" => None,
            _ => words.next(),
        };
        Self::Slot(key.map_or_else(|| Slot::for_key(LEASE), Slot::for_key))
    }
}

// === impl Redirect ===

impl Redirect {
    /// `asked`: who answered; a node that does not know its own name leaves it out.
    pub(super) fn of(error: &RedisError, asked: &Host) -> Option<Self> {
        match error.code()? {
            "MOVED" => Some(host(error, asked).map_or(Self::Later, Self::Moved)),
            "ASK" => Some(host(error, asked).map_or(Self::Later, Self::Ask)),
            "TRYAGAIN" | "CLUSTERDOWN" => Some(Self::Later),
            _ => None,
        }
    }
}

fn host(error: &RedisError, asked: &Host) -> Option<Host> {
    let (address, _slot) = error.redirect_node()?;
    let (name, port) = address.rsplit_once(':')?;
    let name = if name.is_empty() { &asked.name } else { name };
    Some(Host { name: name.to_owned(), port: port.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use redis::{Value, cmd};

    use super::*;

    fn slot(key: &str) -> Route {
        Route::Slot(Slot::for_key(key))
    }

    #[test]
    fn commands_go_where_their_first_key_is() {
        let mut script = cmd("EVALSHA");
        script.arg("sha").arg(2).arg("{a}:1").arg("{a}:2").arg(7);
        assert_eq!(Route::of(&script), slot("{a}"));
        assert_eq!(Route::of(cmd("HMGET").arg("{b}:x").arg("field")), slot("b"));
        assert_eq!(Route::of(&cmd("TIME")), slot("deployment"));
        assert_eq!(Route::of(cmd("SCRIPT").arg("LOAD").arg("return 1")), Route::Everywhere);
    }

    #[test]
    fn redirects_are_read() {
        let asked = Host { name: "asked".to_owned(), port: 1 };
        let of = |line: &str| {
            let error = redis::parse_redis_value(format!("-{line}\r\n").as_bytes())
                .and_then(Value::extract_error)
                .expect_err("an error");
            Redirect::of(&error, &asked)
        };
        let at = |name: &str, port| Host { name: name.to_owned(), port };
        assert_eq!(of("MOVED 7 b:2"), Some(Redirect::Moved(at("b", 2))));
        assert_eq!(of("MOVED 7 :2"), Some(Redirect::Moved(at("asked", 2))));
        assert_eq!(of("ASK 7 ::1:2"), Some(Redirect::Ask(at("::1", 2))));
        assert_eq!(of("TRYAGAIN x"), Some(Redirect::Later));
        assert_eq!(of("NOROOM x"), None);
    }
}
