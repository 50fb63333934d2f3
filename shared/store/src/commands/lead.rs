//! The leadership of the controllers: which one holds the lease, in which term, and who serves rooms in it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::in_ms;
use crate::{
    Store, StoreError,
    keys::{CONTROLLERS, EPOCH, LEASE, LEASE_LENGTH, TERM},
    scripts,
};

const KEYS: [&str; 5] = [LEASE, EPOCH, LEASE_LENGTH, CONTROLLERS, TERM];

/// What a controller says when it asks for the leadership.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    /// Who asks.
    pub instance: &'a str,
    /// For how long, on Redis's clock.
    pub length: Duration,
    /// The highest epoch that it has seen. The next one is higher even if the store has lost its own, or went back to
    /// an earlier one.
    pub known_epoch: u64,
    /// The last term of its own in which it has made the keyspace whole, which nothing has undone since.
    pub settled: Option<u64>,
}

/// What a controller is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It holds the lease, in this term; `settled`: and the keyspace is whole, so that the members may serve.
    Leads {
        /// The term.
        term: Term,
        /// What it has said of it is taken for true.
        settled: bool,
    },
    /// Another one does, and has made it a member of this term.
    Serves(Term),
    /// Another one does, and there is nothing to do.
    Follows,
}

/// A time in which the same controllers serve the same rooms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Its fencing number.
    pub epoch: u64,
    /// That of the term of the same holder that came directly before; `None`: none did, or it is not known.
    pub before: Option<u64>,
    /// The controllers among which rooms are divided: see [`vestibule_domain::Share`].
    pub members: Vec<String>,
}

#[derive(Serialize)]
struct Arguments<'a> {
    instance: &'a str,
    length_ms: Option<u64>,
    known_epoch: u64,
    settled: Option<u64>,
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    leads: bool,
    epoch: Option<u64>,
    before: Option<u64>,
    #[serde(default)]
    settled: bool,
    #[serde(default)]
    members: Vec<String>,
}

impl Store {
    /// Asks for the leadership, or for its renewal, and notes that the caller runs.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn lead(&self, asking: &Asking<'_>) -> Result<Standing, StoreError> {
        let &Asking { instance, length, known_epoch, settled } = asking;
        let length_ms = Some(in_ms(length));
        let arguments = Arguments { instance, length_ms, known_epoch, settled };
        let reply: Reply = self.call_on(&scripts::LEAD, &KEYS, &arguments).await?;
        Ok(reply.standing())
    }

    /// Acquires or renews the leadership for `length` without making anything of it: whoever holds it like this keeps
    /// others from leading. Returns the epoch while `instance` has it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn lease(
        &self,
        instance: &str,
        length: Duration,
        known_epoch: u64,
    ) -> Result<Option<u64>, StoreError> {
        let asking = Asking { instance, length, known_epoch, settled: None };
        match self.lead(&asking).await? {
            Standing::Leads { term, .. } => Ok(Some(term.epoch)),
            Standing::Serves(_) | Standing::Follows => Ok(None),
        }
    }

    /// Gives the leadership up, if `instance` has it: another one leads. It is no member of any later term.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn release_lease(&self, instance: &str) -> Result<(), StoreError> {
        let arguments = Arguments { instance, length_ms: None, known_epoch: 0, settled: None };
        self.call_on::<Reply>(&scripts::LEAD, &KEYS, &arguments).await.map(drop)
    }

    /// Which instance leads, if any.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn leader(&self) -> Result<Option<String>, StoreError> {
        self.query(redis::cmd("GET").arg(LEASE)).await
    }
}

// === impl Reply ===

impl Reply {
    fn standing(self) -> Standing {
        let Self { leads, epoch, before, settled, members } = self;
        match epoch.map(|epoch| Term { epoch, before, members }) {
            Some(term) if leads => Standing::Leads { term, settled },
            Some(term) => Standing::Serves(term),
            None => Standing::Follows,
        }
    }
}
