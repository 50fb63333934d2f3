//! What is published of an event's draw before it is drawn.

use super::{BeaconRecord, DrawRecord, DrawState, METHOD, Seed, commitment};
use crate::{
    RoomId,
    schedule::{Event, EventState},
};

// === impl DrawRecord ===

impl DrawRecord {
    /// The promise of `event`'s draw, as far as the event has come; `None` if it has no draw.
    #[must_use]
    pub fn promised(room: &RoomId, event: &Event, state: EventState) -> Option<Self> {
        let commitment = event.commitment.clone().filter(|_| event.draw)?;
        Some(Self {
            room: room.clone(),
            event: event.name.as_str().to_owned(),
            method: METHOD.to_owned(),
            state: match state {
                EventState::Scheduled => DrawState::Committed,
                EventState::Prequeueing => DrawState::Collecting,
                EventState::Running => DrawState::Drawing,
                EventState::Over | EventState::Suspended => DrawState::Cancelled,
            },
            commitment,
            prequeue_start: event.opens(),
            event_start: event.start,
            first_queue_number: None,
            participants: None,
            committed_seed: None,
            seed: None,
            drawn_at: None,
            beacon: event.beacon.clone().map(|asked| BeaconRecord { asked, outcome: None }),
        })
    }
}

impl DrawRecord {
    /// What is published when an event was withdrawn in its pre-queue: what had been promised, and
    /// that nobody was drawn.
    #[must_use]
    pub fn cancelled(room: &RoomId, committed_seed: &Seed) -> Self {
        Self {
            room: room.clone(),
            event: String::new(),
            method: METHOD.to_owned(),
            state: DrawState::Cancelled,
            commitment: commitment(committed_seed),
            prequeue_start: 0,
            event_start: 0,
            first_queue_number: None,
            participants: None,
            committed_seed: None,
            seed: None,
            drawn_at: None,
            beacon: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_says_what_is_known_and_no_more() {
        let event: Event = serde_json::from_str(
            r#"{"name":"drop","event_start_time":2000,"event_end_time":3000,"prequeue_start_time":1000,"draw_at_event_start":true,
            "draw_id":"0a","commitment":"ab"}"#,
        )
        .unwrap();
        let room = RoomId::new("sale").unwrap();
        let told = DrawRecord::promised(&room, &event, EventState::Scheduled).unwrap();
        assert_eq!((told.state, told.commitment.as_str()), (DrawState::Committed, "ab"));
        assert_eq!((told.prequeue_start, told.event_start), (1000, 2000));
        assert_eq!((told.seed, told.participants, told.drawn_at), (None, None, None));
        let plain = Event { draw: false, ..event };
        assert_eq!(DrawRecord::promised(&room, &plain, EventState::Scheduled), None);
    }
}
