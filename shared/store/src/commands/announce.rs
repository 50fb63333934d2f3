//! Services announce which formats they read and write: see [`Formats`].

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use vestibule_domain::{Announcement, Formats};

use crate::{Store, StoreError, document, keys::FORMATS, memory::Announced, scripts};

/// A service counts as stopped if it has not announced anything for so long, ms.
const SEEN_WITHIN_MS: u64 = 60_000;

/// What the names of controllers begin with, and those of other services do not.
pub const CONTROLLER: &str = "controller-";

/// Whether the service of this name is a controller.
#[must_use]
pub fn is_controller(instance: &str) -> bool {
    instance.starts_with(CONTROLLER)
}

/// What is announced by who stops: see `announce.lua`.
const STOPPED: &str = "stopped";

#[derive(Serialize)]
struct Arguments<'a> {
    instance: &'a str,
    formats: Option<String>,
    seen_within_ms: u64,
}

#[derive(Deserialize)]
struct Reply {
    formats: Vec<String>,
    seen: BTreeMap<String, u64>,
    stopped: BTreeSet<String>,
}

/// The services that run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// What all of them read.
    pub formats: Formats,
    /// Whether all of them hear what rooms push at their own shards.
    pub sharded: bool,
    /// When each announced itself last, by Redis's clock, ms.
    pub seen: BTreeMap<String, u64>,
    /// Those that said that they stop.
    pub stopped: BTreeSet<String>,
}

/// What a service has said; what cannot be read says that it reads nothing of what is known here.
fn read(said: &str) -> Announcement {
    document::decode(said).unwrap_or_default()
}

impl Store {
    /// Announces that `instance` runs and reads these versions; returns who else does.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn announce(
        &self,
        instance: &str,
        announcement: Announcement,
    ) -> Result<Running, StoreError> {
        let reply = self.say(instance, Some(document::text(&announcement)?)).await?;
        let said: Vec<Announcement> = reply.formats.iter().map(|text| read(text)).collect();
        let announced = said.iter().map(|said| said.reads);
        let formats = announced.fold(announcement.reads, Formats::common);
        let sharded = announcement.sharded && said.iter().all(|said| said.sharded);
        Ok(Running { formats, sharded, seen: reply.seen, stopped: reply.stopped })
    }

    /// Refuses to run beside a service of a release with which a service that says this cannot.
    ///
    /// # Errors
    /// [`StoreError::Incompatible`]; otherwise see [`StoreError`].
    pub async fn check_formats(&self, announcement: Announcement) -> Result<(), StoreError> {
        let mut ask = redis::cmd("HGETALL");
        let all: BTreeMap<String, String> = self.query(ask.arg(FORMATS)).await?;
        let now_ms = self.now_ms().await?;
        for (instance, entry) in all {
            let Some((seen, said)) = entry.split_once(' ') else { continue };
            let is_over = seen.parse().is_ok_and(|seen: u64| seen + SEEN_WITHIN_MS < now_ms);
            if is_over || said == STOPPED {
                continue;
            }
            if let Some(conflict) = announcement.conflict(read(said)) {
                return Err(StoreError::Incompatible { instance: instance.into(), conflict });
            }
        }
        Ok(())
    }

    /// Announces that `instance` stops, and has seen all that it will ever see.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn announce_stop(&self, instance: &str) -> Result<(), StoreError> {
        self.say(instance, None).await.map(drop)
    }

    /// Announces itself again, if that was long ago: else nobody would ask this service what it has seen.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] while nobody has heard it; otherwise see [`StoreError`].
    pub(crate) async fn keep_standing(&self) -> Result<(), StoreError> {
        let standing = self.memory().standing();
        if let Some(last) = standing.stale() {
            self.say(&last.instance, Some(last.said)).await?;
        }
        if standing.is_alone() {
            return Err(StoreError::Unavailable("no controller has heard of this service".into()));
        }
        Ok(())
    }

    async fn say(&self, instance: &str, formats: Option<String>) -> Result<Reply, StoreError> {
        let at = Instant::now();
        let said = formats.clone();
        let arguments = Arguments { instance, formats, seen_within_ms: SEEN_WITHIN_MS };
        let reply: Reply = self.call_on(&scripts::ANNOUNCE, &[FORMATS], &arguments).await?;
        let standing = self.memory().standing();
        match said {
            Some(said) => {
                let mut seen = reply.seen.clone();
                seen.retain(|name, _| !reply.stopped.contains(name));
                standing.note(Announced { instance: instance.to_owned(), said, at }, &seen);
            }
            None => standing.end(),
        }
        Ok(reply)
    }
}
