//! What is published of an event's draw before it is drawn.

use super::{BeaconRecord, DrawRecord, DrawState, METHOD, Seed, commitment};
use crate::{
    RoomId,
    schedule::{Event, EventState},
};

// === impl DrawRecord ===

impl DrawRecord {
    /// The record of `event`'s draw before it is drawn, in the state that the event has reached;
    /// `None` if it has no draw.
    #[must_use]
    pub fn before_draw(room: &RoomId, event: &Event, state: EventState) -> Option<Self> {
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
            left_out: Vec::new(),
            committed_seed: None,
            seed: None,
            drawn_at: None,
            reset_epoch: None,
            superseded: false,
            beacon: event.beacon.clone().map(|asked| BeaconRecord { asked, outcome: None }),
        })
    }

    /// The record of an event that was withdrawn in its pre-queue: the commitment, and that nobody
    /// was drawn.
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
            left_out: Vec::new(),
            committed_seed: None,
            seed: None,
            drawn_at: None,
            reset_epoch: None,
            superseded: false,
            beacon: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_before_the_draw_has_only_what_is_known() {
        let event: Event = serde_json::from_str(
            r#"{"name":"drop","event_start_time":2000,"event_end_time":3000,"prequeue_start_time":1000,"draw_at_event_start":true,
            "draw_id":"0a","commitment":"ab"}"#,
        )
        .unwrap();
        let room = RoomId::new("sale").unwrap();
        let record = DrawRecord::before_draw(&room, &event, EventState::Scheduled).unwrap();
        assert_eq!((record.state, record.commitment.as_str()), (DrawState::Committed, "ab"));
        assert_eq!((record.prequeue_start, record.event_start), (1000, 2000));
        assert_eq!((record.seed, record.participants, record.drawn_at), (None, None, None));
        let plain = Event { draw: false, ..event };
        assert_eq!(DrawRecord::before_draw(&room, &plain, EventState::Scheduled), None);
    }
}
