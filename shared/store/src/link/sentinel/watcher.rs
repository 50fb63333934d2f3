//! One Sentinel: what it says about the primary when it is asked, and when it speaks by itself.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use redis::{Client, RedisError, Value, aio::ConnectionLike};

use crate::link::{
    Messages,
    access::Access,
    address::{Credentials, Host},
    opener::Expected,
    subscription::{self, Kind},
};

/// The channel on which a Sentinel tells of a fail-over that is done.
const SWITCHES: &str = "+switch-master";

/// One Sentinel.
#[derive(Debug)]
pub(super) struct Watcher {
    pub(super) host: Host,
    /// With the credentials meant for Sentinels; else without any.
    first: Access,
    /// With those of the servers, for Sentinels that want some and for which none are given.
    second: Option<Access>,
    wants_second: AtomicBool,
}

/// What a Sentinel says about the primary.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Told {
    /// Rises with every fail-over: whoever says the highest knows best.
    pub(super) epoch: u64,
    pub(super) primary: Host,
}

// === impl Watcher ===

impl Watcher {
    pub(super) fn new(host: Host, servers: &Access, own: Option<&Credentials>) -> Self {
        let first = servers.with_credentials(own.cloned().unwrap_or_default());
        let second = if own.is_none() { servers.with_own_credentials() } else { None };
        Self { host, first, second, wants_second: AtomicBool::new(false) }
    }

    /// Asks where the primary is.
    pub(super) async fn primary(&self, master: &str) -> Result<Told, RedisError> {
        let mut asked = redis::cmd("SENTINEL");
        asked.arg("MASTER").arg(master);
        let answer = self.with_credentials(|access| self.ask(access, &asked)).await?;
        let fields: BTreeMap<String, String> = redis::from_redis_value(answer)?;
        read(&fields).ok_or_else(|| std::io::Error::other("the Sentinel names no primary").into())
    }

    /// Listens to fail-overs, of every primary that it watches.
    pub(super) async fn switches(&self) -> Result<Messages, RedisError> {
        self.with_credentials(|access| async {
            let client = access.subscriber(&self.host)?;
            let ends = std::future::pending();
            let (kind, probe) = (Kind::Everywhere, Expected::Anything);
            subscription::open(&client, access, kind, &[SWITCHES], probe, ends).await
        })
        .await
    }

    async fn ask(&self, access: &Access, command: &redis::Cmd) -> Result<Value, RedisError> {
        let client: Client = access.client(&self.host)?;
        let config = access.config();
        let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        connection.req_packed_command(command).await.and_then(Value::extract_error)
    }

    async fn with_credentials<'a, T, F>(
        &'a self,
        attempt: impl Fn(&'a Access) -> F,
    ) -> Result<T, RedisError>
    where
        F: Future<Output = Result<T, RedisError>>,
    {
        let Some(second) = &self.second else { return attempt(&self.first).await };
        let was_second = self.wants_second.load(Ordering::Relaxed);
        let (one, other) = if was_second { (second, &self.first) } else { (&self.first, second) };
        match attempt(one).await {
            // Sentinels may get a password while this runs, and lose it.
            Err(error) if is_about_credentials(&error) => {
                let done = attempt(other).await;
                if done.is_ok() {
                    self.wants_second.store(!was_second, Ordering::Relaxed);
                }
                done
            }
            done => done,
        }
    }
}

/// Whether it is refused because it comes with a password, or without one.
fn is_about_credentials(error: &RedisError) -> bool {
    error.code() == Some("NOAUTH")
        || error.kind() == redis::ErrorKind::AuthenticationFailed
        || error.to_string().contains("NOAUTH")
}

fn read(fields: &BTreeMap<String, String>) -> Option<Told> {
    let field = |name: &str| fields.get(name);
    let primary = Host { name: field("ip")?.clone(), port: field("port")?.parse().ok()? };
    Some(Told { epoch: field("config-epoch")?.parse().ok()?, primary })
}

/// Whether a fail-over told on [`SWITCHES`] is of `master`, and where it is now.
pub(super) fn switched(master: &str, payload: &str) -> Option<Host> {
    let mut words = payload.split(' ');
    let (name, _old, _old_port) = (words.next()?, words.next()?, words.next()?);
    let primary = Host { name: words.next()?.to_owned(), port: words.next()?.parse().ok()? };
    (name == master).then_some(primary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fail_overs_are_read() {
        let told = "mine 10.0.0.1 6379 10.0.0.2 6380";
        let now = Host { name: "10.0.0.2".to_owned(), port: 6380 };
        assert_eq!(switched("mine", told), Some(now));
        assert_eq!(switched("other", told), None);
        assert_eq!(switched("mine", "mine 10.0.0.1"), None);
    }

    #[test]
    fn who_has_seen_the_last_fail_over_knows_best() {
        let told = |epoch: u64, port: u16| {
            let fields = [
                ("ip", "h".to_owned()),
                ("port", port.to_string()),
                ("config-epoch", epoch.to_string()),
            ];
            read(&fields.map(|(name, value)| (name.to_owned(), value)).into()).unwrap()
        };
        assert!(told(10, 1) > told(9, 2));
    }
}
