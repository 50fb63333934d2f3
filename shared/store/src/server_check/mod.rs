//! What the servers under the store are like, as far as they tell: whether they could lose rooms by
//! themselves. A managed server lets nobody read its configuration, so `INFO` is all that is asked.
//!
//! Nothing is refused because of what is found: whoever runs the servers may know better. It is said once in
//! the log, and kept in a metric as long as it lasts.

mod findings;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use redis::RedisError;
use tokio::time::sleep;

pub use self::findings::Finding;
use self::findings::Info;
use crate::{Store, StoreError, commands::server_info::Told};

/// Between two looks.
const LOOK: Duration = Duration::from_mins(1);
/// The same, before the first one was answered.
const RETRY: Duration = Duration::from_secs(1);

/// Looks at the servers now and then. Clones share what was found.
#[derive(Debug, Clone)]
pub struct ServerCheck {
    store: Store,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    found: BTreeSet<Finding>,
    /// What was logged since the start, for each server.
    logged: BTreeSet<(String, Finding)>,
    is_denied: bool,
}

// === impl ServerCheck ===

impl ServerCheck {
    /// Nothing is asked yet.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self { store, state: Arc::default() }
    }

    /// The names of what was found when the servers were last asked.
    #[must_use]
    pub fn findings(&self) -> Vec<&'static str> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.found.iter().map(|finding| finding.name()).collect()
    }

    /// Looks every minute, until it is dropped.
    pub async fn run(self) {
        loop {
            let pause = if self.look().await.is_ok() { LOOK } else { RETRY };
            sleep(pause).await;
        }
    }

    /// Looks now.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if no server could be asked.
    pub async fn look(&self) -> Result<(), StoreError> {
        let mut found = BTreeSet::new();
        let mut last = None;
        let answers = self.store.info_of_each(None).await;
        let asked = answers.len();
        let mut missed = 0;
        for (server, told) in answers {
            match told {
                Ok(Told::Info(info)) => found.extend(self.note(&server, Info(&info))),
                Ok(Told::Refused(why)) => self.note_denied(&why),
                Err(away) => {
                    missed += 1;
                    last = Some(away);
                }
            }
        }
        match last {
            Some(error) if missed == asked => Err(error),
            _ => {
                self.state.lock().unwrap_or_else(PoisonError::into_inner).found = found;
                Ok(())
            }
        }
    }

    /// Logs what is new at this server, and gives what counts.
    fn note(&self, server: &str, info: Info<'_>) -> Vec<Finding> {
        let found = info.findings(self.store.replicas_wanted());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for finding in &found {
            if state.logged.insert((server.to_owned(), *finding)) {
                let what = finding.meaning();
                if finding.is_warning() {
                    tracing::warn!(server, finding = finding.name(), "{what}");
                } else {
                    tracing::info!(server, finding = finding.name(), "{what}");
                }
            }
        }
        found
    }

    fn note_denied(&self, why: &RedisError) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.is_denied {
            state.is_denied = true;
            tracing::info!(%why, "the servers do not tell what they are like: INFO is refused");
        }
    }
}
