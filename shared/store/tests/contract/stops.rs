//! Who has said goodbye to the server that holds a room has seen nothing that this server does not hold, though it comes
//! back older: if its goodbye is there, so is all that came before.

use std::{collections::BTreeSet, sync::Arc};

use tokio::time::{Duration, advance};
use vestibule_domain::{Announcement, reconciliation::Finding};
use vestibule_redis_model::{Dialect, Engine};
use vestibule_store::{Account, Clock, Feed, JoinMode, Store};

use crate::{
    model::Model,
    world::{World, limited},
};

/// A world, and the server that it is on.
async fn world() -> (Arc<Model>, World) {
    let server = Arc::new(Model::new(Engine::new(), Dialect::Redis7));
    let world = World::by_the_clock_of(&server);
    world.open(limited(3)).await;
    world.join(2, JoinMode::Enter).await;
    (server, world)
}

/// Runs as `name`, has seen the room, and stops in order.
async fn runs_and_stops(server: &Arc<Model>, name: &str) {
    let store = Store::over(server.clone(), Clock::Server);
    store.announce(name, Announcement::OURS).await.unwrap();
    let feed = Feed::new(store, name.to_owned());
    feed.refresh().await.unwrap();
    feed.say_goodbye().await;
}

/// Who had stopped, of whom the leader knows that the room holds all that they have seen.
async fn stopped(world: &World) -> BTreeSet<String> {
    let called = world.store.call_witnesses(&world.room, 2, "r").await.unwrap();
    world.store.stopped_within(&called).await.unwrap()
}

fn names(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn whoever_said_goodbye_to_the_server_of_a_room_has_seen_no_more_than_it_holds() {
    let (server, world) = world().await;
    runs_and_stops(&server, "admission-a").await;
    runs_and_stops(&server, "controller-b").await;
    world.another_store().announce("admission-c", Announcement::OURS).await.unwrap();
    let config = world.config().await;
    server.is_run(&"1".repeat(40));
    assert_eq!(stopped(&world).await, names(&["admission-a", "controller-b"]));
    assert_eq!(world.reconcile(&[], &[], &config).await, Finding::IsLatest);
    assert_eq!(stopped(&world).await, names(&[]), "the room is of another server now");
    assert_eq!(world.reconcile(&[], &[], &config).await, Finding::IsLatest);
    runs_and_stops(&server, "admission-c").await;
    assert_eq!(stopped(&world).await, names(&["admission-c"]));
}

#[tokio::test(start_paused = true)]
async fn whoever_said_goodbye_to_another_server_may_have_seen_more_of_the_room() {
    let (server, world) = world().await;
    // A replica is promoted, of which the leader has heard nothing yet.
    server.is_run(&"1".repeat(40));
    world.another_store().announce_stop("admission-a", true).await.unwrap();
    assert_eq!(stopped(&world).await, names(&[]));
}

#[tokio::test(start_paused = true)]
async fn whoever_could_not_tell_what_it_had_seen_may_have_seen_more() {
    let (_, world) = world().await;
    world.store.announce_stop("admission-a", false).await.unwrap();
    assert_eq!(stopped(&world).await, names(&[]));
}

#[tokio::test(start_paused = true)]
async fn where_one_key_was_lost_no_goodbye_says_what_was_in_it() {
    for lost in ["line", "settings", "sessions"] {
        let (server, world) = world().await;
        runs_and_stops(&server, "admission-a").await;
        let key = format!("vestibule:room:{{sale}}:{lost}");
        server.ask(redis::cmd("DEL").arg(key)).unwrap();
        assert_eq!(stopped(&world).await, names(&[]), "{lost}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_goodbye_is_known_for_a_day() {
    let (server, world) = world().await;
    runs_and_stops(&server, "admission-a").await;
    advance(Duration::from_hours(20)).await;
    runs_and_stops(&server, "admission-b").await;
    assert_eq!(stopped(&world).await, names(&["admission-a", "admission-b"]));
    advance(Duration::from_hours(20)).await;
    runs_and_stops(&server, "admission-c").await;
    assert_eq!(stopped(&world).await, names(&["admission-b", "admission-c"]));
}

/// They are told unasked; whoever is there waits until it is asked, and answers then with all that it knows by then.
#[tokio::test(start_paused = true)]
async fn last_words_ask_nobody_for_theirs() {
    let (server, world) = world().await;
    let another = || Feed::new(Store::over(server.clone(), Clock::Server), "there".to_owned());
    let there = another();
    there.refresh().await.unwrap();
    let stops = Feed::new(Store::over(server.clone(), Clock::Server), "stops".to_owned());
    stops.refresh().await.unwrap();
    world.server.flush().await;
    stops.say_goodbye().await;
    there.testify(&world.room).await.unwrap();
    let told = async || world.store.accounts(&world.room).await.unwrap();
    assert_eq!(told().await.keys().collect::<Vec<_>>(), ["stops"]);
    world.store.call_witnesses(&world.room, 2, "round").await.unwrap();
    there.testify(&world.room).await.unwrap();
    let told = told().await;
    assert_eq!(told.keys().collect::<Vec<_>>(), ["stops", "there"]);
    assert!(told["stops"].is_last && !told["there"].is_last);
}

/// A room that was opened meanwhile is in no question.
#[tokio::test(start_paused = true)]
async fn last_words_of_an_open_room_begin_no_round() {
    let (_, world) = world().await;
    let words = Account { round: "last words".to_owned(), is_last: true, ..Account::default() };
    world.store.testify(&world.room, "stops", &words).await.unwrap();
    assert_eq!(world.store.accounts(&world.room).await.unwrap().len(), 1, "they are told late");
    world.store.call_witnesses(&world.room, 2, "round").await.unwrap();
    assert!(world.store.accounts(&world.room).await.unwrap().is_empty(), "of before what is asked");
}

/// The services that another one finds that begins now: those that fell silent with the server process to which they spoke.
async fn unheard(server: &Arc<Model>, name: &str) -> BTreeSet<String> {
    let newborn = Store::over(server.clone(), Clock::Server);
    let running = newborn.announce(name, Announcement::OURS).await.unwrap();
    running.unheard.into_keys().collect()
}

#[tokio::test(start_paused = true)]
async fn who_fell_silent_with_its_server_is_known_for_a_day() {
    let (server, _) = world().await;
    let says = async |name: &str| {
        let store = Store::over(server.clone(), Clock::Server);
        store.announce(name, Announcement::OURS).await.unwrap();
    };
    says("admission-a").await;
    advance(Duration::from_millis(3_001)).await;
    says("admission-b").await;
    runs_and_stops(&server, "admission-c").await;
    advance(Duration::from_secs(3)).await;
    says("controller-d").await;
    server.is_run(&"1".repeat(40));
    let all = names(&["admission-b", "controller-d"]);
    for (nth, hours) in [1, 6, 12, 4].into_iter().enumerate() {
        advance(Duration::from_hours(hours)).await;
        assert_eq!(unheard(&server, &format!("admission-{nth}")).await, all, "others outlived a");
        // Whoever comes later on the server that runs has not died with it.
        advance(Duration::from_secs(61)).await;
    }
    advance(Duration::from_hours(1)).await;
    assert_eq!(unheard(&server, "admission-e").await, names(&[]), "a day is over");
}

#[tokio::test(start_paused = true)]
async fn of_who_fell_silent_while_its_server_went_on_all_is_there() {
    let (server, _) = world().await;
    assert_eq!(unheard(&server, "admission-a").await, names(&[]));
    advance(Duration::from_mins(2)).await;
    assert_eq!(unheard(&server, "admission-b").await, names(&[]));
    let record = server.ask(redis::cmd("HKEYS").arg("vestibule:{deployment}:formats")).unwrap();
    assert_eq!(record, redis::Value::Array(vec![redis::Value::BulkString(b"admission-b".into())]));
}
