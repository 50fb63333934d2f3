//! What webhooks are told: events in the order in which they were written, never more than was said, and what the leader
//! notes of them, which an earlier leader cannot.

use std::time::Duration;

use vestibule_domain::SeatEnds;
use vestibule_store::{
    Departure, EndedAs, EndedSessions, JoinMode, ManualClock, Observed, OutgoingEvent, StoreError,
};

use crate::world::{World, limited};

crate::on_every_server!(
    events_are_read_in_order_after_a_cursor,
    ids_rise_though_the_clock_goes_back,
    there_are_no_more_events_than_were_said,
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

async fn post(world: &World, ids: &[&str], most: u64) -> Option<String> {
    let events: Vec<_> = ids.iter().map(|id| event(id)).collect();
    world.store.post_events(&events, most).await.unwrap()
}

/// The ids after the cursor, and whether the event at it is there still.
async fn ids(world: &World, cursor: &str, limit: usize) -> (Vec<String>, bool) {
    let (events, is_there) = world.store.read_events(cursor, limit).await.unwrap();
    (events.into_iter().map(|(_, event)| event.id).collect(), is_there)
}

async fn events_are_read_in_order_after_a_cursor(world: World) {
    assert_eq!(post(&world, &[], MOST).await, None);
    let now = world.clock.now_ms();
    assert_eq!(post(&world, &["a", "b"], MOST).await, Some(format!("{now}-1")));
    world.seconds(1);
    let last = post(&world, &["c"], MOST).await.unwrap();
    assert_eq!(last, format!("{}-0", now + 1_000));
    let (events, is_there) = world.store.read_events("0-0", 10).await.unwrap();
    assert_eq!(events[0], (format!("{now}-0"), event("a")));
    assert_eq!((events.len(), is_there), (3, false));
    assert_eq!(ids(&world, &events[0].0, 1).await, (vec!["b".to_owned()], true));
    assert_eq!(ids(&world, &last, 9).await, (vec![], true));
    assert_eq!(ids(&world, &format!("{}-0", now + 1), 9).await, (vec!["c".to_owned()], false));
}

async fn ids_rise_though_the_clock_goes_back(world: World) {
    let first = post(&world, &["a"], MOST).await.unwrap();
    let earlier = world.server.store(&ManualClock::at(world.clock.now_ms() - 60_000));
    let second = earlier.post_events(&[event("b")], MOST).await.unwrap().unwrap();
    assert_eq!(second, first.replace("-0", "-1"));
    assert_eq!(ids(&world, &first, 9).await, (vec!["b".to_owned()], true));
}

async fn there_are_no_more_events_than_were_said(world: World) {
    post(&world, &["a", "b", "c"], 2).await;
    assert_eq!(ids(&world, "0-0", 9).await.0, ["b", "c"]);
    post(&world, &["d"], 2).await;
    assert_eq!(ids(&world, "0-0", 9).await.0, ["c", "d"]);
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
    assert_eq!(ids(&world, "0-0", 9).await.0, ["x", "y"]);
    let late = observed(&[("room:a", "4")], &[], &["z"]);
    let stale = store.note_observed(epoch - 1, &late, MOST);
    assert!(matches!(stale.await, Err(StoreError::Fenced { epoch: by }) if by == epoch));
    assert_eq!(store.observed().await.unwrap()["room:a"], "3");
    assert_eq!(ids(&world, "0-0", 9).await.0, ["x", "y"]);
}

async fn how_far_a_webhook_was_told_is_the_latest_leaders_to_say(world: World) {
    let store = &world.store;
    let epoch = leads(&world).await;
    store.note_delivery(epoch, "ops", Some("1")).await.unwrap();
    let stale = store.note_delivery(epoch - 1, "ops", Some("0")).await;
    assert!(matches!(stale, Err(StoreError::Fenced { .. })));
    assert_eq!(store.deliveries().await.unwrap()["ops"], "1");
    store.note_delivery(epoch, "ops", None).await.unwrap();
    assert!(store.deliveries().await.unwrap().is_empty());
}

async fn of_two_who_change_the_webhooks_one_has_to_read_them_again(world: World) {
    let store = &world.store;
    assert_eq!(store.webhooks().await.unwrap(), None);
    assert!(!store.replace_webhooks(Some("a"), "b").await.unwrap());
    assert!(store.replace_webhooks(None, "a").await.unwrap());
    assert!(!store.replace_webhooks(None, "b").await.unwrap());
    assert!(store.replace_webhooks(Some("a"), "ü").await.unwrap());
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
