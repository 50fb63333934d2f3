//! Which operators' calls this service knows to have been answered, and how: so that a Redis that went back can be told, and
//! whoever sends one of them again under its name moves nothing twice.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// The latest of a room are enough: a call is sent again soon, and Redis goes back by little. An inlet with a period of a
/// second needs six hundred.
const MOST: usize = 1_024;

/// A call that was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweredCall {
    /// Its kind and name, as in `scripts/lib/once.lua`.
    pub name: String,
    /// What it was answered, JSON.
    pub answer: Arc<str>,
    /// For how long that is kept from now on, s.
    pub kept_seconds: u64,
}

/// The answered calls of a room, the latest last.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnsweredCalls(VecDeque<(AnsweredCall, Instant)>);

// === impl AnsweredCalls ===

impl AnsweredCalls {
    /// Takes in a call that was answered just now.
    pub(super) fn take(&mut self, call: AnsweredCall) {
        self.0.retain(|one| one.0.name != call.name && !left(one).is_zero());
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((call, Instant::now()));
    }

    /// Those that are still to be kept, each for what is left of its time.
    pub(crate) fn told(&self) -> Vec<AnsweredCall> {
        let told = |one: &(AnsweredCall, Instant)| AnsweredCall {
            kept_seconds: left(one).as_secs(),
            ..one.0.clone()
        };
        self.0.iter().map(told).filter(|call| call.kept_seconds > 0).collect()
    }
}

/// For how long it is still to be kept.
fn left((call, at): &(AnsweredCall, Instant)) -> Duration {
    Duration::from_secs(call.kept_seconds).saturating_sub(at.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(nth: usize) -> AnsweredCall {
        AnsweredCall { name: format!("reset:{nth}"), answer: "{}".into(), kept_seconds: 60 }
    }

    fn names(calls: &AnsweredCalls) -> Vec<String> {
        calls.told().into_iter().map(|call| call.name).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn each_is_told_once_and_for_as_long_as_it_is_kept() {
        let mut calls = AnsweredCalls::default();
        calls.take(call(1));
        tokio::time::advance(Duration::from_secs(50)).await;
        calls.take(call(2));
        assert_eq!(calls.told().iter().map(|call| call.kept_seconds).collect::<Vec<_>>(), [10, 60]);
        calls.take(call(1));
        assert_eq!(names(&calls), ["reset:2", "reset:1"]);
        tokio::time::advance(Duration::from_mins(1)).await;
        assert!(names(&calls).is_empty());
        calls.take(call(3));
        assert_eq!(calls.0.len(), 1, "who is over takes no place");
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_of_too_many_is_forgotten() {
        let mut calls = AnsweredCalls::default();
        (0..=MOST).for_each(|nth| calls.take(call(nth)));
        assert_eq!((names(&calls).len(), &*names(&calls)[0]), (MOST, "reset:1"));
    }
}
