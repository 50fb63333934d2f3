//! Whole rounds: which events are told, which lanes wait, and when a webhook waits or is switched off.

use std::collections::BTreeMap;

use vestibule_domain::webhook::EventStream;
use vestibule_store::KeptEvent;

use super::{
    super::lanes::{
        self,
        tests::{kept, webhook},
    },
    *,
};

/// What a receiver answers, by the event's number; else it takes them.
type Answers = BTreeMap<u64, Option<u16>>;

fn failed(status: Option<u16>) -> Sent {
    Sent::Failed { why: format!("it answered {status:?}"), asked_s: None, status }
}

/// One round without a network: all of these follow the cursor, and are answered so.
fn round(delivery: &mut Delivery, events: &[KeptEvent], answers: &Answers, now_ms: u64) -> Round {
    let lanes = lanes::sort(events, (&webhook(), EventStream::Main), delivery);
    let off = settle(delivery, lanes, answers, now_ms);
    let places: Vec<_> = events.iter().map(|kept| kept.place.clone()).collect();
    delivery.advance(&places);
    off
}

fn settle(delivery: &mut Delivery, lanes: Vec<Lane>, answers: &Answers, now_ms: u64) -> Round {
    let done = lanes.into_iter().map(|lane| {
        let answer = |(_, kept): &(Place, KeptEvent)| answers.get(&kept.place.nth).copied();
        let told = lane.events.iter().take_while(|event| answer(event).is_none()).count();
        let failed = lane.events.get(told).and_then(answer).map(failed);
        Done { lane, told, failed }
    });
    let metrics = WebhookMetrics::default();
    Voice { webhook: "ops", metrics: &metrics }.settle(done.collect(), delivery, now_ms, || 0)
}

#[test]
fn a_refused_event_holds_up_its_room_alone() {
    let mut delivery = Delivery::default();
    let events = [
        kept(1, "room.queueing_began", "a"),
        kept(2, "room.queueing_began", "b"),
        kept(3, "room.queueing_ended", "a"),
    ];
    let answers = Answers::from([(1, Some(400))]);
    assert_eq!(round(&mut delivery, &events, &answers, 1_000), Round::Went);
    assert_eq!((delivery.cursor.nth, delivery.next_at_ms, delivery.last_told_ms), (3, 0, 1_000));
    assert_eq!((delivery.parked["a"].after.nth, delivery.failed()), (0, 1));
    let more = [kept(4, "room.queueing_ended", "a"), kept(5, "room.queueing_ended", "b")];
    assert_eq!(round(&mut delivery, &more, &Answers::new(), 2_000), Round::Went);
    assert_eq!((delivery.cursor.nth, delivery.parked.len()), (5, 1), "what is left is its lane's");
}

#[test]
fn where_nobody_is_there_all_wait_and_nothing_is_passed_over() {
    let mut delivery = Delivery::default();
    let events = [kept(1, "alarm.firing", "a"), kept(2, "alarm.firing", "b")];
    let away = Answers::from([(1, Some(503)), (2, None)]);
    assert_eq!(round(&mut delivery, &events, &away, 1_000), Round::Went);
    assert_eq!((delivery.cursor.nth, delivery.failures, delivery.parked.len()), (0, 1, 0));
    assert_eq!(delivery.next_at_ms, 1_800);
    for _ in 0..11 {
        assert_eq!(round(&mut delivery, &events, &away, 1_000), Round::Went);
    }
    let off = round(&mut delivery, &events, &away, 1_000);
    assert_eq!(off, Round::Off("it answered None".to_owned()));
}

#[test]
fn an_event_on_which_the_receiver_breaks_down_is_parked_once_others_are_taken() {
    let mut delivery = Delivery::default();
    let events = [kept(1, "alarm.firing", "a"), kept(2, "alarm.firing", "b")];
    assert_eq!(round(&mut delivery, &events, &Answers::from([(1, None)]), 1_000), Round::Went);
    assert_eq!((delivery.cursor.nth, delivery.failures, delivery.parked.len()), (2, 1, 1));
}

#[test]
fn what_was_told_of_a_parked_lane_is_told_no_more() {
    let mut delivery = Delivery::default();
    let events: Vec<_> = (1..=3).map(|nth| kept(nth, "alarm.firing", "a")).collect();
    assert_eq!(round(&mut delivery, &events, &Answers::from([(1, Some(500))]), 1_000), Round::Went);
    let lane = |from: usize, is_all| {
        let before = |nth: u64| Place { id: format!("{nth}-0"), nth };
        let left = events[from..].iter();
        let left = left.map(|kept| (before(kept.place.nth - 1), kept.clone())).collect();
        Lane { name: "a".to_owned(), events: left, parked: Some((before(3), is_all)) }
    };
    let answers = Answers::from([(3, Some(500))]);
    assert_eq!(settle(&mut delivery, vec![lane(0, true)], &answers, 2_000), Round::Went);
    assert_eq!((delivery.parked["a"].after.nth, delivery.parked["a"].failures), (2, 1));
    assert_eq!(settle(&mut delivery, vec![lane(2, true)], &Answers::new(), 9_000), Round::Went);
    assert!(delivery.parked.is_empty());
    assert_eq!(delivery.cursor.nth, 3);
}

#[test]
fn what_a_round_had_no_time_for_is_not_passed_over() {
    let mut delivery = Delivery::default();
    let events = [kept(1, "alarm.firing", "a"), kept(2, "alarm.firing", "a")];
    let lanes = lanes::sort(&events, (&webhook(), EventStream::Main), &mut delivery);
    let done = lanes.into_iter().map(|lane| Done { lane, told: 1, failed: None }).collect();
    let metrics = WebhookMetrics::default();
    let voice = Voice { webhook: "ops", metrics: &metrics };
    assert_eq!(voice.settle(done, &mut delivery, 1_000, || 0), Round::Went);
    assert_eq!(delivery.passed.iter().copied().collect::<Vec<_>>(), [1]);
}

#[test]
fn who_wants_nothing_any_more_is_switched_off() {
    let mut delivery = Delivery::default();
    let events = [kept(1, "alarm.firing", "a")];
    let lanes = lanes::sort(&events, (&webhook(), EventStream::Main), &mut delivery);
    let gone = |lane| Done { lane, told: 0, failed: Some(Sent::Gone) };
    let metrics = WebhookMetrics::default();
    let voice = Voice { webhook: "ops", metrics: &metrics };
    let off = voice.settle(lanes.into_iter().map(gone).collect(), &mut delivery, 1_000, || 0);
    assert_eq!(off, Round::Gone);
}
