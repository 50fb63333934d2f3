//! What webhooks are told: events in the order in which they were written, never more than was said, and what the leader
//! notes of them, which an earlier leader cannot.

use std::time::Duration;

use vestibule_domain::{
    SeatEnds,
    room_news::ServingWatch,
    webhook::{
        EventStream::{Main, Visitors},
        Place,
    },
};
use vestibule_store::{
    Departure, EndedAs, EndedSessions, JoinMode, KeptEvent, ManualClock, Observed, OutgoingEvent,
    StoreError,
};

use crate::world::{World, limited};

crate::on_every_server!(
    events_are_read_in_order_after_a_place,
    ids_and_numbers_rise_though_the_clock_goes_back,
    there_are_no_more_events_than_were_said,
    what_is_old_or_nobodys_is_forgotten_and_the_count_goes_on,
    what_operators_move_is_known_from_what_moves_by_itself,
    what_was_seen_and_what_follows_is_written_in_one_step_by_the_latest_leader,
    how_far_a_webhook_was_told_is_the_latest_leaders_to_say,
    of_two_who_change_the_webhooks_one_has_to_read_them_again,
    sessions_that_were_ended_are_counted_since_the_reset,
);

const MOST: u64 = 1_000;

fn event(id: &str) -> OutgoingEvent {
    let (kind, room) = ("room.queueing_began".to_owned(), "sale".to_owned());
    OutgoingEvent { id: id.to_owned(), kind, room, body: format!("{{\"é\":\"{id}\"}}") }
}

async fn post(world: &World, ids: &[&str], most: u64) {
    let events: Vec<_> = ids.iter().map(|id| event(id)).collect();
    world.store.post_events(Main, &events, most).await.unwrap();
}

/// The ids after a place.
async fn ids_after(world: &World, place: &Place, limit: usize) -> Vec<String> {
    let (events, _) = world.store.read_events(Main, place, limit).await.unwrap();
    events.into_iter().map(|kept| kept.event.id).collect()
}

async fn ids(world: &World) -> Vec<String> {
    ids_after(world, &Place::start(), 9).await
}

async fn last(world: &World) -> Option<Place> {
    world.store.last_event(Main).await.unwrap()
}

async fn events_are_read_in_order_after_a_place(world: World) {
    post(&world, &[], MOST).await;
    assert_eq!(last(&world).await, None);
    let now = world.clock.now_ms();
    post(&world, &["a", "b"], MOST).await;
    assert_eq!(last(&world).await, Some(Place { id: format!("{now}-1"), nth: 2 }));
    world.seconds(1);
    post(&world, &["c"], MOST).await;
    let end = last(&world).await.unwrap();
    assert_eq!(end, Place { id: format!("{}-0", now + 1_000), nth: 3 });
    let (events, _) = world.store.read_events(Main, &Place::start(), 10).await.unwrap();
    let first = KeptEvent { place: Place { id: format!("{now}-0"), nth: 1 }, event: event("a") };
    assert_eq!((events.len(), &events[0]), (3, &first));
    assert_eq!(ids_after(&world, &events[0].place, 1).await, ["b"]);
    assert!(ids_after(&world, &end, 9).await.is_empty());
    // What is of visitors is elsewhere.
    world.store.post_events(Visitors, &[event("v")], MOST).await.unwrap();
    assert_eq!((last(&world).await, ids(&world).await.len()), (Some(end), 3));
    assert_eq!(world.store.last_event(Visitors).await.unwrap().unwrap().nth, 1);
}

async fn ids_and_numbers_rise_though_the_clock_goes_back(world: World) {
    post(&world, &["a"], MOST).await;
    let first = last(&world).await.unwrap();
    let earlier = world.server.store(&ManualClock::at(world.clock.now_ms() - 60_000));
    earlier.post_events(Main, &[event("b")], MOST).await.unwrap();
    let second = Place { id: first.id.replace("-0", "-1"), nth: 2 };
    assert_eq!(last(&world).await, Some(second));
    assert_eq!(ids_after(&world, &first, 9).await, ["b"]);
}

async fn there_are_no_more_events_than_were_said(world: World) {
    post(&world, &["a", "b", "c"], 2).await;
    assert_eq!(ids(&world).await, ["b", "c"]);
    post(&world, &["d"], 2).await;
    assert_eq!(
        (ids(&world).await, last(&world).await.unwrap().nth),
        (vec!["c".into(), "d".into()], 4)
    );
}

async fn what_is_old_or_nobodys_is_forgotten_and_the_count_goes_on(world: World) {
    const KEPT_MS: u64 = 10_000;
    let store = &world.store;
    let epoch = leads(&world).await;
    assert!(store.replace_webhooks(None, "a").await.unwrap());
    let names = ["ops".to_owned()];
    let tidy = |names, read| store.tidy_outbox(epoch, Main, (read, names), KEPT_MS);
    post(&world, &["a", "b"], MOST).await;
    world.seconds(8);
    post(&world, &["c"], MOST).await;
    world.seconds(8);
    for name in ["ops", "gone"] {
        store.note_delivery(epoch, name, "1").await.unwrap();
    }
    tidy(&names, Some("b")).await.unwrap();
    assert_eq!(ids(&world).await, ["a", "b", "c"], "it knows other webhooks");
    tidy(&names, Some("a")).await.unwrap();
    assert_eq!(ids(&world).await, ["c"]);
    assert_eq!(store.deliveries().await.unwrap().into_keys().collect::<Vec<_>>(), ["ops"]);
    world.seconds(8);
    for _ in 0..3 {
        tidy(&names, Some("a")).await.unwrap();
        world.seconds(20);
        assert_eq!(ids(&world).await, [""], "that it was the third, and no more");
    }
    post(&world, &["d"], MOST).await;
    assert_eq!(last(&world).await.unwrap().nth, 5);
    let stale = store.tidy_outbox(epoch - 1, Main, (Some("a"), &[]), KEPT_MS).await;
    assert!(matches!(stale, Err(StoreError::Fenced { .. })));
    tidy(&[], Some("a")).await.unwrap();
    assert!(last(&world).await.is_none() && store.deliveries().await.unwrap().is_empty());
}

async fn what_operators_move_is_known_from_what_moves_by_itself(world: World) {
    world.open(limited(9)).await;
    let (store, room) = (&world.store, &world.room);
    let first = store.serving(room).await.unwrap();
    world.join(2, JoinMode::Enter).await;
    store.increment(room, 7).await.unwrap();
    store.increment(room, -3).await.unwrap();
    let later = store.serving(room).await.unwrap();
    assert_eq!(later.moved_by_hand - first.moved_by_hand, 4);
    let moved = ServingWatch::see(&mut first.clone(), later).map(|it| it.after - it.before);
    assert_eq!(moved, Some(2), "they have let themselves in");
    store.reset(room).await.unwrap();
    let anew = store.serving(room).await.unwrap();
    assert_eq!((anew.moved_by_hand, anew.serving_counter), (0, 0));
}

/// Somebody leads; returns the term.
async fn leads(world: &World) -> u64 {
    world.store.lease("one", Duration::from_mins(1), 0).await.unwrap().unwrap()
}

fn observed(seen: &[(&str, &str)], forgotten: &[&str], ids: &[&str]) -> Observed {
    Observed {
        seen: seen.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect(),
        forgotten: forgotten.iter().map(ToString::to_string).collect(),
        events: ids.iter().map(|id| event(id)).collect(),
    }
}

async fn what_was_seen_and_what_follows_is_written_in_one_step_by_the_latest_leader(world: World) {
    let store = &world.store;
    let epoch = leads(&world).await;
    let first = observed(&[("room:a", "1"), ("room:b", "2")], &[], &["x"]);
    store.note_observed(epoch, &first, MOST).await.unwrap();
    let second = observed(&[("room:a", "3")], &["room:b"], &["y"]);
    store.note_observed(epoch, &second, MOST).await.unwrap();
    let seen = store.observed().await.unwrap();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [("room:a".to_owned(), "3".to_owned())]);
    assert_eq!(ids(&world).await, ["x", "y"]);
    let late = observed(&[("room:a", "4")], &[], &["z"]);
    let stale = store.note_observed(epoch - 1, &late, MOST);
    assert!(matches!(stale.await, Err(StoreError::Fenced { epoch: by }) if by == epoch));
    assert_eq!(store.observed().await.unwrap()["room:a"], "3");
    assert_eq!(ids(&world).await, ["x", "y"]);
}

async fn how_far_a_webhook_was_told_is_the_latest_leaders_to_say(world: World) {
    let store = &world.store;
    let epoch = leads(&world).await;
    store.note_delivery(epoch, "ops", "1").await.unwrap();
    let stale = store.note_delivery(epoch - 1, "ops", "0").await;
    assert!(matches!(stale, Err(StoreError::Fenced { .. })));
    assert_eq!(store.deliveries().await.unwrap()["ops"], "1");
}

async fn of_two_who_change_the_webhooks_one_has_to_read_them_again(world: World) {
    let store = &world.store;
    assert_eq!(store.webhooks().await.unwrap(), None);
    assert!(!store.replace_webhooks(Some("a"), "b").await.unwrap());
    assert!(store.replace_webhooks(None, "a").await.unwrap());
    assert!(!store.replace_webhooks(None, "b").await.unwrap());
    assert!(store.replace_webhooks(Some("a"), "ü").await.unwrap());
    assert!(store.replace_webhooks(Some("a"), "ü").await.unwrap(), "who had no answer asks again");
    assert!(!store.replace_webhooks(Some("a"), "b").await.unwrap());
    assert_eq!(store.webhooks().await.unwrap().as_deref(), Some("ü"));
}

async fn sessions_that_were_ended_are_counted_since_the_reset(world: World) {
    let ended = async || world.store.ended_sessions(&world.room).await;
    assert!(matches!(ended().await, Err(StoreError::RoomMissing)));
    world.open(limited(9)).await;
    assert_eq!(ended().await.unwrap(), EndedSessions::default());
    world.join(4, JoinMode::Enter).await;
    let departure = |number, ended_as| Departure { number, ended_as, seat: SeatEnds::AtOnce };
    let departures = [
        departure(1, EndedAs::Completed),
        departure(2, EndedAs::Abandoned),
        departure(3, EndedAs::Completed),
        departure(4, EndedAs::Revoked),
    ];
    let epoch = world.reset_epoch().await;
    for _ in 0..2 {
        world.store.leave(&world.room, epoch, &departures).await.unwrap();
        assert_eq!(ended().await.unwrap(), EndedSessions { completed: 2, abandoned: 1 });
    }
    world.store.reset(&world.room).await.unwrap();
    assert_eq!(ended().await.unwrap(), EndedSessions::default());
}
