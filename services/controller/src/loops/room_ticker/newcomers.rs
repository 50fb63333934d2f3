//! Who came to a room in a minute, by its history; and in which minutes somebody may have come, so that the history of
//! the others need not be read.

use std::{collections::BTreeMap, sync::Arc};

use vestibule_store::{MinuteTraffic, StoreError};

/// Up to whom the room has come, and in which minute that was seen first.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    queue_counter: u64,
    minute: u64,
}

/// What a history tells of one minute.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The newcomers, by region.
    Newcomers(BTreeMap<String, u64>),
    /// Nothing: some of it is not what services write.
    Unreadable(Arc<str>),
}

/// What is told of `minute`. Whatever a history holds, whoever is in line is served: only who has lost Redis stops here.
pub(super) fn told_of(
    minute: u64,
    read: Result<BTreeMap<u64, MinuteTraffic>, StoreError>,
) -> Result<Told, StoreError> {
    match read {
        Ok(mut history) => {
            Ok(Told::Newcomers(history.remove(&minute).unwrap_or_default().arrivals))
        }
        Err(StoreError::Unexpected(why)) => Ok(Told::Unreadable(why)),
        Err(error) => Err(error),
    }
}

// === impl Newcomers ===

impl Newcomers {
    /// Takes in a tick in `minute`, since 1970.
    pub(super) fn see(&mut self, queue_counter: u64, minute: u64) {
        if self.queue_counter != queue_counter {
            *self = Self { queue_counter, minute };
        }
    }

    /// Whether the history of that minute may tell of somebody: whoever came then was seen then or later.
    pub(super) fn may_have_come_in(&self, minute: u64) -> bool {
        minute <= self.minute
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_that_cannot_be_read_tells_of_nobody() {
        let arrivals = BTreeMap::from([("eu".to_owned(), 3)]);
        let traffic = MinuteTraffic { arrivals: arrivals.clone(), ..MinuteTraffic::default() };
        let told = told_of(7, Ok(BTreeMap::from([(7, traffic)]))).unwrap();
        assert_eq!(told, Told::Newcomers(arrivals));
        let why: Arc<str> = "WRONGTYPE Operation against a key".into();
        let told = told_of(7, Err(StoreError::Unexpected(Arc::clone(&why)))).unwrap();
        assert_eq!(told, Told::Unreadable(why));
        assert!(told_of(7, Err(StoreError::Unavailable("away".into()))).is_err());
    }

    #[test]
    fn the_history_tells_only_of_minutes_in_which_somebody_may_have_come() {
        let mut newcomers = Newcomers::default();
        newcomers.see(0, 70);
        assert!(!newcomers.may_have_come_in(68), "nobody ever came");
        newcomers.see(3, 70);
        newcomers.see(3, 72);
        assert!(newcomers.may_have_come_in(69) && newcomers.may_have_come_in(70));
        assert!(!newcomers.may_have_come_in(71));
    }
}
