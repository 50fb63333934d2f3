//! The events of a history: what services and visitors learnt, and when.
//!
//! An event is what one party *knows*: an answer that it got, a call that it sent, a call whose outcome
//! it will never learn. What happened inside Redis is not in a history; it follows from what
//! the parties know. Numbers only: no request id, no token, no secret, no address of a visitor.
//!
//! Times. A call takes effect at some moment between [`Event::began_ms`] and [`Event::at_ms`].
//! Checks rest on nothing else, so whoever writes events may make that span wider than it was, never
//! narrower. Both are true time: virtual time in a simulation, Redis's clock as the service knows it in a
//! real deployment.

mod answer;
mod call;
mod network;
mod render;
mod servers;
mod visitor;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

pub use self::{
    answer::{
        Claimed, ClaimedAs, ConfigRead, Ended, EndedSession, Joined, Key, Put, PutAs, SessionApi,
        SnapshotSeen, Token, Touched,
    },
    call::Call,
    network::{JoinedAs, NetworkClaimed, NetworkLimitsSeen, NetworksJoined},
    servers::ServersAre,
    visitor::{Act, Asked, ToldStatus},
};

/// The version of the format. It changes when an older reader would misunderstand a newer writer.
pub const FORMAT: u32 = 3;

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When it became known to `by`, ms.
    pub at_ms: u64,
    /// When the call was sent that it is the outcome of, ms; the same as `at_ms` if there was no call.
    pub began_ms: u64,
    /// The name of the instance or of the visitor that knows it.
    pub by: Arc<str>,
    /// The room; `None`: the event is about the deployment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomId>,
    /// What became known.
    pub what: What,
}

/// What became known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A history begins: the first line of every file.
    Opened {
        /// The version of the format that follows.
        format: u32,
    },
    /// The writer stopped in order, so nothing is missing at the end of its file.
    Closed,
    /// The writer was killed: its history ends here without being closed. Not written, but read.
    Cut,
    /// The writer goes on, but could not write any more. Nothing can be concluded from what others
    /// know from now on.
    Lost,
    /// A call leaves. Written for calls that others can see the effect of before their answer is
    /// known: everything but joins, claims and touches.
    Sent(Call),
    /// A call's outcome will not be known: it timed out, or the connection broke.
    Unknown(Call),
    /// Newcomers were numbered.
    Joined(Joined),
    /// A claim was answered.
    Claimed(Claimed),
    /// The session of someone inside was renewed, or found to have ended.
    Touched(Touched),
    /// Sessions were ended, and that is acknowledged.
    Ended(Ended),
    /// Places were given back, and that is acknowledged.
    GivenUp {
        /// The reset epoch of their request ids.
        reset_epoch: u64,
        /// Of those that this call gave back, the number, and the digest of its visitor's network, where something is
        /// limited.
        places: Vec<(u64, Option<u64>)>,
        /// Where those stood in line that had a position: not those that waited for their draw.
        #[serde(default)]
        positions: Vec<u64>,
    },
    /// The leader's plan was applied.
    Served {
        /// The room's reset epoch.
        reset_epoch: u64,
        /// Where the serving counter stands.
        serving_counter: i64,
    },
    /// An operator moved the serving counter.
    Incremented {
        /// The room's reset epoch.
        reset_epoch: u64,
        /// By how much.
        by: i64,
        /// Where it stands.
        serving_counter: i64,
    },
    /// A room was reset, and that is acknowledged.
    Reset {
        /// Its new reset epoch.
        reset_epoch: u64,
    },
    /// The change of a room's config was answered.
    Put(Put),
    /// A room's config was read.
    ConfigRead(ConfigRead),
    /// A room was deleted, and that is acknowledged.
    Deleted {
        /// Whether there was one.
        existed: bool,
    },
    /// A room that Redis had lost was restored, or was found to be there.
    Restored {
        /// Whether this call restored it.
        restored: bool,
    },
    /// A service has told what it had seen of the room, because Redis may have gone back.
    Testified,
    /// Redis does not hold the room.
    RoomMissing,
    /// A snapshot of the room came.
    Snapshot(SnapshotSeen),
    /// The key ring was read; `None`: there is none.
    KeysRead {
        /// Its keys.
        keys: Option<Vec<Key>>,
    },
    /// The change of the key ring was answered.
    KeysChanged {
        /// The keys that were to be in it.
        keys: Vec<Key>,
        /// Whether it was changed: not if somebody else had changed it first.
        changed: bool,
    },
    /// A visitor did, or was told, something.
    Visitor(Act),
    /// What became of the servers: no history of services says it, since none of them knows it.
    Servers(ServersAre),
    /// The servers lost one key of the room and kept all others. As above, no service says it.
    KeyLost,
}

// === impl Event ===

impl Event {
    /// The order of events in a history: by time, and of one time those first that say what is sent.
    #[must_use]
    pub fn order(&self) -> (u64, bool) {
        (self.at_ms, !matches!(self.what, What::Sent(_)))
    }

    /// Whether the call began after `other` was known, so that it must have seen its effects.
    #[must_use]
    pub fn follows(&self, other: &Self) -> bool {
        self.began_ms > other.at_ms
    }

    /// The reset epoch and the generation that an answer shows the room to have.
    pub(crate) fn state(&self) -> Option<(u64, u32)> {
        match &self.what {
            What::Joined(joined) => Some((joined.reset_epoch, joined.generation)),
            What::Claimed(claimed) => Some((claimed.reset_epoch, claimed.generation)),
            What::Touched(touched) if touched.token.is_some() => {
                Some((touched.id_epoch, touched.generation))
            }
            _ => None,
        }
    }

    /// The reset epoch that an answer shows the room to have.
    #[must_use]
    pub fn reset_epoch(&self) -> Option<u64> {
        match &self.what {
            What::Joined(joined) => Some(joined.reset_epoch),
            What::Claimed(claimed) => Some(claimed.reset_epoch),
            What::Touched(touched) if touched.token.is_some() => Some(touched.id_epoch),
            What::Ended(ended) if ended.sessions.iter().any(|session| session.ended) => {
                Some(ended.reset_epoch)
            }
            What::Served { reset_epoch, .. }
            | What::Incremented { reset_epoch, .. }
            | What::Reset { reset_epoch } => Some(*reset_epoch),
            What::Snapshot(seen) if !seen.pushed => Some(seen.reset_epoch),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_that_is_read_again() {
        let token = Token { issued_at: 5, expires_at: 305, kid: "k1".into() };
        let claimed = Claimed {
            reset_epoch: 1_800_000_000_000,
            id_epoch: 1_800_000_000_000,
            generation: 1,
            number: u64::MAX,
            position: None,
            entered_at: 4,
            api: SessionApi::Visitor,
            hold: false,
            outcome: ClaimedAs::Seated(token),
            network: None,
        };
        let room = Some("sale".parse().unwrap());
        let what = What::Claimed(claimed);
        let event = Event { at_ms: 9, began_ms: 7, by: "admission-1".into(), room, what };
        let line = serde_json::to_string(&event).unwrap();
        assert!(line.contains(r#""seated":{"issued_at":5,"expires_at":305,"kid":"k1"}"#), "{line}");
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
        assert!(event.to_string().starts_with("9 (began 7) admission-1 sale: {\"claimed\""));
    }

    #[test]
    fn a_call_follows_what_was_known_before_it_began() {
        let event = |began_ms, at_ms| Event {
            at_ms,
            began_ms,
            by: "a".into(),
            room: None,
            what: What::Closed,
        };
        assert!(event(6, 9).follows(&event(1, 5)));
        assert!(!event(5, 9).follows(&event(1, 5)), "at the same millisecond, nobody knows");
    }
}
