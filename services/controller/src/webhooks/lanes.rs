//! What a round sends, sorted into lanes: of a room, of no room, and of each visitor's event alone. What is of one lane is
//! sent in order.

use std::collections::BTreeMap;

use vestibule_domain::webhook::{Delivery, EventStream, Follows, Place, Webhook};
use vestibule_store::{KeptEvent, Store, StoreError};

/// So many events of the stream are looked at for what is left of a lane that was parked.
const PAGE: usize = 256;

/// Events that are sent one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) name: String,
    /// Each with the place before it.
    pub(super) events: Vec<(Place, KeptEvent)>,
    /// Of one that was parked: where it stands once these are told, and whether nothing of it is left then.
    pub(super) parked: Option<(Place, bool)>,
}

/// The lane of an event.
fn name(stream: EventStream, kept: &KeptEvent) -> &str {
    match stream {
        EventStream::Main => &kept.event.room,
        EventStream::Visitors => &kept.event.id,
    }
}

/// Sorts what follows the cursor. What need not be told, or is told when its lane is, is noted as passed.
pub(super) fn sort(
    events: &[KeptEvent],
    (webhook, stream): (&Webhook, EventStream),
    delivery: &mut Delivery,
) -> Vec<Lane> {
    let mut lanes: BTreeMap<&str, Vec<(Place, KeptEvent)>> = BTreeMap::new();
    let mut before = delivery.cursor.clone();
    for kept in events {
        let lane = name(stream, kept);
        let is_wanted = webhook.wants(&kept.event.kind, &kept.event.room);
        if !is_wanted || delivery.parked.contains_key(lane) {
            delivery.passed.insert(kept.place.nth);
        } else if !delivery.passed.contains(&kept.place.nth) {
            lanes.entry(lane).or_default().push((before, kept.clone()));
        }
        before = kept.place.clone();
    }
    let lane = |(name, events): (&str, _)| Lane { name: name.to_owned(), events, parked: None };
    lanes.into_iter().map(lane).collect()
}

/// What is left of the lanes that are tried again at `now_ms`, as far as one look finds it.
///
/// # Errors
/// If that cannot be read.
pub(super) async fn due(
    store: &Store,
    (webhook, stream): (&Webhook, EventStream),
    delivery: &mut Delivery,
    now_ms: u64,
) -> Result<Vec<Lane>, StoreError> {
    let mut lanes = Vec::new();
    let due = delivery.parked.iter().filter(|(_, parked)| parked.next_at_ms <= now_ms);
    let due: Vec<_> = due.map(|(name, parked)| (name.clone(), parked.after.clone())).collect();
    for (name, after) in due {
        let (events, _) = store.read_events(stream, &after, PAGE).await?;
        let first = events.first().map(|kept| &kept.place);
        if first.is_some() && after.followed_by(first, None) != Follows::Directly {
            delivery.miss(now_ms);
        }
        lanes.push(rest((webhook, stream), name, after, events, delivery.reach()));
    }
    Ok(lanes)
}

/// What of `events`, which follow `after`, is left of a lane up to the event of number `reach`. Later ones are the cursor's.
fn rest(
    (webhook, stream): (&Webhook, EventStream),
    lane: String,
    after: Place,
    events: Vec<KeptEvent>,
    reach: u64,
) -> Lane {
    let is_page = events.len() == PAGE;
    let (mut end, mut left) = (after, Vec::new());
    for kept in events.into_iter().take_while(|kept| kept.place.nth <= reach) {
        let before = std::mem::replace(&mut end, kept.place.clone());
        let is_its = name(stream, &kept) == lane;
        if is_its && webhook.wants(&kept.event.kind, &kept.event.room) {
            left.push((before, kept));
        }
    }
    // That of a visitor has one event.
    let is_all = !is_page || end.nth >= reach || stream == EventStream::Visitors;
    Lane { name: lane, events: left, parked: Some((end, is_all)) }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use vestibule_domain::{
        access::RoomScope,
        webhook::{EventKind, Parked},
    };
    use vestibule_store::OutgoingEvent;

    use super::{
        EventStream::{Main, Visitors},
        *,
    };

    pub(in crate::webhooks) fn webhook() -> Webhook {
        Webhook {
            url: "https://a.example".to_owned(),
            allow_http: false,
            events: EventKind::ALL.iter().map(|kind| kind.name().to_owned()).collect(),
            rooms: RoomScope::default(),
            enabled: true,
            disabled: None,
            secret: String::new(),
            old_secrets: Vec::new(),
            created_at_ms: 500,
            created_by: String::new(),
            from: Place::start(),
            visitors_from: Place::start(),
            revision: 3,
        }
    }

    pub(in crate::webhooks) fn kept(nth: u64, kind: &str, room: &str) -> KeptEvent {
        let (id, body) = (format!("msg_{nth}"), String::new());
        let (kind, room) = (kind.to_owned(), room.to_owned());
        let place = Place { id: format!("{nth}-0"), nth };
        KeptEvent { place, event: OutgoingEvent { id, kind, room, body } }
    }

    fn numbers(lane: &Lane) -> Vec<u64> {
        lane.events.iter().map(|(_, kept)| kept.place.nth).collect()
    }

    #[test]
    fn events_of_a_room_are_in_one_order_and_those_of_visitors_in_none() {
        let mut delivery = Delivery::default();
        let events = [
            kept(1, "room.queueing_began", "a"),
            kept(2, "alarm.firing", ""),
            kept(3, "room.queueing_ended", "a"),
            kept(4, "a.later.release", "b"),
        ];
        let lanes = sort(&events, (&webhook(), Main), &mut delivery);
        let sorted: Vec<_> = lanes.iter().map(|lane| (&*lane.name, numbers(lane))).collect();
        assert_eq!(sorted, [("", vec![2]), ("a", vec![1, 3])]);
        assert_eq!(lanes[1].events[1].0.nth, 2, "the place before it");
        assert_eq!(delivery.passed, BTreeSet::from([4]));
        let tokens = [kept(1, "token_generated", "a"), kept(2, "token_generated", "a")];
        assert_eq!(sort(&tokens, (&webhook(), Visitors), &mut delivery).len(), 2);
    }

    #[test]
    fn what_is_of_a_parked_lane_is_told_when_that_is() {
        let mut delivery = Delivery::default();
        delivery.parked.insert("a".to_owned(), Parked::default());
        let events = [kept(1, "alarm.firing", "a"), kept(2, "alarm.firing", "b")];
        let lanes = sort(&events, (&webhook(), Main), &mut delivery);
        assert_eq!((lanes.len(), numbers(&lanes[0])), (1, vec![2]));
        assert_eq!((delivery.reach(), delivery.passed.contains(&1)), (1, true));
    }

    #[test]
    fn what_is_left_of_a_lane_goes_as_far_as_the_cursor_has_passed_it() {
        let events = |upto: u64| (3..=upto).map(|nth| kept(nth, "alarm.firing", "a")).collect();
        let left = |upto, reach| {
            let after = Place { id: "2-0".to_owned(), nth: 2 };
            rest((&webhook(), Main), "a".to_owned(), after, events(upto), reach)
        };
        let lane = left(5, 4);
        assert_eq!(numbers(&lane), [3, 4]);
        assert_eq!(lane.parked.map(|(end, is_all)| (end.nth, is_all)), Some((4, true)));
        let page = u64::try_from(PAGE).unwrap();
        let lane = left(page + 2, page * 9);
        assert_eq!(lane.parked.map(|(end, is_all)| (end.nth, is_all)), Some((page + 2, false)));
        assert!(left(2, 9).parked.unwrap().1, "what is not there is forgotten");
    }
}
