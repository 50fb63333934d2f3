//! Services announce which formats they read and write: see [`Formats`].

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tokio::time::{Duration, Instant, sleep};
use vestibule_domain::{Announcement, Formats};

use crate::{
    Store, StoreError, document,
    keys::{FORMATS, SERVERS, STOPS},
    memory::Announced,
    scripts,
};

/// A service counts as stopped if it has not announced anything for so long, ms.
const SEEN_WITHIN_MS: u64 = 60_000;

/// What the names of controllers begin with, and those of other services do not.
pub const CONTROLLER: &str = "controller-";

/// Whether the service of this name is a controller.
#[must_use]
pub fn is_controller(instance: &str) -> bool {
    instance.starts_with(CONTROLLER)
}

/// A controller that runs announces itself within this time, and so has heard of whoever did so before.
const HEARD_WITHIN: Duration = Duration::from_millis(800);
/// How often it is looked whether one has.
const LOOKS_EVERY: Duration = Duration::from_millis(10);
/// A controller that did not say that it stops may run so long after it was seen: on a server that all others have left
/// an admission that comes late must still find that there was one.
const LOST_WITHIN_MS: u64 = 600_000;

/// Whoever is silent for so long has changed nothing after that: more than the time for which an answer is relied on.
const SILENT_AFTER_MS: u64 = 3_000;

/// What is announced by who stops: see `announce.lua`.
const STOPPED: &str = "stopped";

#[derive(Serialize)]
struct Arguments<'a> {
    instance: &'a str,
    formats: Option<String>,
    has_told: bool,
    seen_within_ms: u64,
    lost_within_ms: u64,
    relied_on_ms: u64,
}

#[derive(Deserialize)]
struct Reply {
    formats: Vec<String>,
    seen: BTreeMap<String, u64>,
    stopped: BTreeSet<String>,
    #[serde(default)]
    lost: BTreeMap<String, u64>,
    #[serde(default)]
    unheard: BTreeMap<String, u64>,
    server: String,
}

/// The services that run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// What all of them read.
    pub formats: Formats,
    /// What all of them write, or something newer.
    pub written: Formats,
    /// Whether all of them hear what rooms push at their own shards.
    pub sharded: bool,
    /// When each announced itself last, by Redis's clock, ms.
    pub seen: BTreeMap<String, u64>,
    /// Those that said that they stop.
    pub stopped: BTreeSet<String>,
    /// As `seen`, those that fell silent longer ago, together with the server process to which they spoke, as far as
    /// anybody knows: if it came back without the last that it was told, nobody else has seen that.
    pub unheard: BTreeMap<String, u64>,
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
        let said = Some(document::text(&announcement)?);
        let reply = self.say(instance, said, false).await?;
        let said: Vec<Announcement> = reply.formats.iter().map(|text| read(text)).collect();
        let announced = said.iter().map(|said| said.reads);
        let formats = announced.fold(announcement.reads, Formats::common);
        let written = said.iter().map(|said| said.writes);
        let written = written.fold(announcement.writes, Formats::common);
        let sharded = announcement.sharded && said.iter().all(|said| said.sharded);
        let Reply { seen, stopped, unheard, .. } = reply;
        Ok(Running { formats, written, sharded, seen, stopped, unheard })
    }

    /// Refuses to run beside a service of a release with which a service that says this cannot.
    ///
    /// # Errors
    /// [`StoreError::Incompatible`]; otherwise see [`StoreError`].
    pub async fn check_formats(&self, announcement: Announcement) -> Result<(), StoreError> {
        for (instance, said) in self.announced().await? {
            if let Some(conflict) = announcement.conflict(said) {
                return Err(StoreError::Incompatible { instance: instance.into(), conflict });
            }
        }
        Ok(())
    }

    /// A service that runs and could not read a key ring with a key that signs with ES256, since it is of an older
    /// release. `None`: all can.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn reads_no_es256(&self) -> Result<Option<String>, StoreError> {
        let all = self.announced().await?;
        Ok(all.into_iter().find(|(_, said)| !said.es256).map(|(instance, _)| instance))
    }

    /// What each service that runs has said.
    async fn announced(&self) -> Result<Vec<(String, Announcement)>, StoreError> {
        let mut ask = redis::cmd("HGETALL");
        let all: BTreeMap<String, String> = self.query(ask.arg(FORMATS)).await?;
        let now_ms = self.server_now_ms().await?;
        let running = all.into_iter().filter_map(|(instance, entry)| {
            let (seen, said) = entry.split_once(' ')?;
            let is_over = seen.parse().is_ok_and(|seen: u64| seen + SEEN_WITHIN_MS < now_ms);
            (!is_over && said != STOPPED).then(|| (instance, read(said)))
        });
        Ok(running.collect())
    }

    /// Announces that `instance` stops, and has seen all that it will ever see. `has_told`: Redis holds all of that, or
    /// was told it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn announce_stop(&self, instance: &str, has_told: bool) -> Result<(), StoreError> {
        self.say(instance, None, has_told).await.map(drop)
    }

    /// For how long this service has been able to note anything for anybody, ms: it ran, and Redis and a controller heard
    /// it, but for short breaks. `None`: it has never announced itself.
    #[must_use]
    pub fn able_ms(&self) -> Option<u64> {
        self.memory().standing().able_ms()
    }

    /// Announces itself again, if that was long ago: else nobody would ask this service what it has seen. Of those who
    /// wait for it one speaks for all.
    ///
    /// # Errors
    /// [`StoreError::Rewound`] while nobody has heard it: nothing was sent, and Redis is not away; otherwise see
    /// [`StoreError`].
    pub(crate) async fn keep_standing(&self) -> Result<(), StoreError> {
        let (standing, begun) = (self.memory().standing(), Instant::now());
        loop {
            if let Some((last, _speaks)) = standing.to_say() {
                self.say(&last.instance, Some(last.said), false).await?;
            }
            if standing.is_heard() {
                return Ok(());
            }
            if standing.alone_for() >= HEARD_WITHIN {
                return Err(StoreError::Rewound);
            }
            if begun.elapsed() >= HEARD_WITHIN {
                return Err(StoreError::Unavailable(
                    "this service could not announce itself".into(),
                ));
            }
            sleep(LOOKS_EVERY).await;
        }
    }

    /// `formats`: `None`: it stops.
    async fn say(
        &self,
        instance: &str,
        formats: Option<String>,
        has_told: bool,
    ) -> Result<Reply, StoreError> {
        let at = Instant::now();
        let said = formats.clone();
        let arguments = Arguments {
            instance,
            formats,
            has_told,
            seen_within_ms: SEEN_WITHIN_MS,
            lost_within_ms: LOST_WITHIN_MS,
            relied_on_ms: SILENT_AFTER_MS,
        };
        let keys = [FORMATS, STOPS, SERVERS];
        let reply: Reply = self.call_on(&scripts::ANNOUNCE, &keys, &arguments).await?;
        let standing = self.memory().standing();
        match said {
            Some(said) => {
                let mut seen = reply.seen.clone();
                seen.retain(|name, _| !reply.stopped.contains(name));
                seen.extend(reply.lost.iter().map(|(name, ms)| (name.clone(), *ms)));
                let announced = Announced { instance: instance.to_owned(), said, at };
                let is_contradicted = standing.note(announced, &reply.server, &seen);
                if is_contradicted && matches!(self.has_several_servers().await, Ok(true)) {
                    standing.note_several();
                }
            }
            None => standing.end(),
        }
        Ok(reply)
    }
}
