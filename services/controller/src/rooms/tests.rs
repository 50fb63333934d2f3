//! Placing events in a config: seeds, commitments and refusals, without Redis. Changing it under
//! concurrency is a scenario's.

use clap::Parser;
use vestibule_domain::{
    RoomId, draw,
    schedule::{Beacon, Event, RoomConfig},
};
use vestibule_issuance::{Machine, problem_of};
use vestibule_runtime::{Problem, metrics::Registry};
use vestibule_store::ManualClock;

use super::{
    future_rounds::{FutureRounds, new_round},
    routes::put_routes,
};
use crate::{
    access::Caller,
    beacon::BeaconClient,
    cli::Cli,
    config::Config,
    parted::{Parted, START_MS},
    state::Controller,
};

/// A controller whose Redis cannot be reached.
fn cut_off() -> std::sync::Arc<Controller> {
    let cli = Cli::parse_from([
        "test",
        "--secret=0123456789abcdef0123456789abcdef",
        "--api-token=0123456789abcdef",
        "--redis-url=redis://127.0.0.1:1",
    ]);
    let address = ([127, 0, 0, 1], 8081).into();
    std::sync::Arc::new(Controller::new(
        Config::read(&cli).unwrap(),
        Machine::real(),
        address,
        &mut Registry::default(),
    ))
}

fn secret() -> vestibule_token::DeploymentSecret {
    vestibule_token::DeploymentSecret::new(b"0123456789abcdef0123456789abcdef").unwrap()
}

fn drawn() -> Event {
    let json = r#"{"name":"a","prequeue_start_time":1000,"event_start_time":2000,"event_end_time":3000,"draw_at_event_start":true}"#;
    serde_json::from_str(json).unwrap()
}

fn room() -> RoomId {
    "sale".parse().unwrap()
}

#[tokio::test]
async fn a_draw_has_a_seed_of_its_own_which_it_keeps() {
    let controller = cut_off();
    let mut config = RoomConfig::default();
    let mut place = |event| controller.configs.place_event(&room(), &mut config, event, 0).unwrap();
    let (first, is_new) = place(drawn());
    assert!(is_new && first.draw_id.len() == 32, "{first:?}");
    let seed = controller.secret.new_draw_seed(&room(), &first.draw_id);
    assert_eq!(first.commitment, Some(draw::commitment(&seed)));
    let (changed, is_new) = place(Event { end: 4000, ..drawn() });
    assert!(!is_new);
    assert_eq!(changed, Event { end: 4000, ..first.clone() });
    let other = vestibule_token::DeploymentSecret::new(&[7; 32]).unwrap();
    let now = other.with_others([secret()]);
    config.events[0].sealed_seed = now.keep_seed(&room(), &first);
    let mut place = |event| controller.configs.place_event(&room(), &mut config, event, 0).unwrap();
    let (kept, _) = place(Event { end: 5000, ..drawn() });
    assert_eq!(now.keep_seed(&room(), &kept), None, "a change keeps what was sealed: {kept:?}");
    let shown = serde_json::to_string(&crate::api_types::Event::from(kept)).unwrap();
    assert!(!shown.contains("sealed_seed"), "{shown}");
    let (without, _) = place(Event { draw: false, ..drawn() });
    assert_eq!((without.draw_id.as_str(), without.commitment), ("", None));
    assert_eq!(without.sealed_seed, None);
    let (again, _) = place(drawn());
    assert_ne!(again.draw_id, first.draw_id);
    let other = Event { name: "b".parse().unwrap(), prequeue_start: None, draw: false, ..drawn() };
    place(Event { start: 5000, end: 6000, ..other });
    assert_eq!(config.events.len(), 2);
}

/// What was announced for one round must not serve for another one.
#[tokio::test]
async fn another_beacon_has_another_seed() {
    let controller = cut_off();
    let mut config = RoomConfig::default();
    let mut place =
        |event| controller.configs.place_event(&room(), &mut config, event, 0).unwrap().0;
    let beacon = |round| Beacon { url: "https://x".into(), round, public_key: "ab".repeat(96) };
    let with = |round| Event { beacon: Some(beacon(round)), ..drawn() };
    let [without, one, same, two, none] =
        [drawn(), with(1), Event { end: 4000, ..with(1) }, with(2), drawn()].map(&mut place);
    assert_eq!((&same.commitment, &same.draw_id), (&one.commitment, &one.draw_id));
    let all = [without, one, two, none];
    for (index, event) in all.iter().enumerate() {
        let seed = controller.secret.promised_seed(&room(), event).unwrap();
        assert_eq!(event.commitment, Some(draw::commitment(&seed)));
        let others = all[..index].iter();
        assert!(others.into_iter().all(|other| other.commitment != event.commitment), "{index}");
    }
}

#[tokio::test]
async fn what_cannot_be_changes_nothing() {
    let controller = cut_off();
    let mut config = RoomConfig::default();
    let late = controller.configs.place_event(&room(), &mut config, drawn(), 1001).unwrap_err();
    assert_eq!(late.errors()[0].field, "prequeue_start_time");
    assert_eq!(config, RoomConfig::default());
}

#[tokio::test]
async fn a_round_that_is_known_already_is_refused() {
    let told = serde_json::json!({
        "round": 657_413,
        "randomness": "fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587",
        "signature": "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
    });
    let known = axum::routing::get(async move || axum::Json(told.clone()));
    let routes = axum::Router::new().route("/public/657413", known);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move { axum::serve(listener, routes).await });
    let quicknet = "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a";
    let beacon = |round| Beacon { url: url.clone(), round, public_key: quicknet.into() };
    let rounds = FutureRounds::new(BeaconClient::new(true));
    let refused = rounds.require(&beacon(657_413), 0).await.unwrap_err();
    assert_eq!(refused.errors()[0].field, "beacon.round");
    rounds.require(&beacon(657_414), 0).await.unwrap();
    server.abort();
    let _ = server.await;
    rounds.require(&beacon(657_413), 0).await.unwrap();
}

/// The secret's holder would look at a round that is known, and choose another one.
#[tokio::test]
async fn a_round_that_is_known_before_the_start_is_refused() {
    let key = "ab".repeat(96);
    let info = serde_json::json!({ "public_key": key, "period": 30, "genesis_time": 1_000 });
    let info = axum::routing::get(async move || axum::Json(info.clone()));
    let routes = axum::Router::new().route("/chain/info", info);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    let rounds = FutureRounds::new(BeaconClient::new(true));
    let require = async |path: &str, round, public_key: &str| {
        let url = format!("{url}/{path}");
        let beacon = Beacon { url, round, public_key: public_key.to_owned() };
        let refused = rounds.require(&beacon, 2_000).await.err()?;
        Some(refused.errors()[0].reason.to_string())
    };
    let reason = require("chain", 34, &key).await.unwrap();
    assert!(reason.starts_with("is published at 1970-01-01T00:33:10Z"), "{reason}");
    assert!(reason.ends_with("the first round after that is 35"), "{reason}");
    assert_eq!(require("chain", 35, &key).await, None);
    for (path, public_key) in [("other", &*key), ("chain", &"cd".repeat(96))] {
        assert_eq!(require(path, 1, public_key).await, None, "nobody knows when it is");
    }
}

#[test]
fn a_round_is_new_with_another_start_too() {
    let beacon = |round| Beacon { url: "https://x".into(), round, public_key: "ab".repeat(96) };
    let with = |round, start| Event { beacon: Some(beacon(round)), start, ..drawn() };
    let before = with(5, 2_000);
    let is_new = |event: &Event| new_round(event, Some(&before)).is_some();
    assert!(!is_new(&Event { end: 9_000, ..with(5, 2_000) }));
    assert!(is_new(&with(6, 2_000)) && is_new(&with(5, 2_001)));
    assert!(!is_new(&drawn()));
}

/// A controller over several shards that knows `a-1` and `b-1`, each with a route, since half a minute.
async fn with_rooms() -> (std::sync::Arc<Parted>, std::sync::Arc<Controller>, ManualClock) {
    let clock = ManualClock::at(START_MS);
    let (parted, controller) = Parted::with_controller(&clock);
    controller.store.migrate().await.unwrap();
    for name in ["a-1", "b-1"] {
        put_route(&controller, name, &format!("{name}.example")).await.unwrap();
    }
    clock.advance_ms(30_000);
    controller.feed.refresh().await.unwrap();
    tokio::time::advance(std::time::Duration::from_secs(6)).await;
    controller.feed.refresh().await.unwrap();
    (parted, controller, clock)
}

async fn put_route(controller: &Controller, name: &str, host: &str) -> Result<(), Problem> {
    let room: RoomId = name.parse().unwrap();
    let before = controller.store.read_config(&room).await.map_err(|error| problem_of(&error))?;
    let before = before.unwrap_or_default();
    let routes = serde_json::json!({ "routes": [{ "host": host }] });
    let binding = serde_json::from_value(routes).unwrap();
    let config = RoomConfig { binding, ..before.clone() };
    let caller = Caller::admin("root");
    put_routes(&controller.rooms, (&caller, name), &room, &before, &config).await.map(drop)
}

fn names(configs: &[(RoomId, RoomConfig)]) -> Vec<&str> {
    configs.iter().map(|(room, _)| room.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn rooms_whose_shard_is_away_are_remembered() {
    let (parted, controller, _) = with_rooms().await;
    parted.take_away(&["b-"]);
    assert_eq!(names(&controller.rooms.read_configs().await.unwrap()), ["a-1", "b-1"]);
    put_route(&controller, "a-2", "other.example").await.unwrap();
    let taken = put_route(&controller, "a-3", "b-1.example").await.unwrap_err();
    assert_eq!(taken.errors()[0].field, "routes[0]");
    put_route(&controller, "b-1", "third.example").await.unwrap_err();
}

/// Another controller may have changed it, and this one has not heard what came of it.
#[tokio::test(start_paused = true)]
async fn routes_are_not_compared_with_what_may_have_changed() {
    let (parted, controller, clock) = with_rooms().await;
    controller.store.note_routes_change(&"b-1".parse().unwrap()).await.unwrap();
    parted.take_away(&["b-"]);
    clock.advance_ms(60_000);
    assert_eq!(names(&controller.rooms.read_configs().await.unwrap()), ["a-1", "b-1"]);
    assert!(controller.rooms.latest_configs().await.is_err());
    put_route(&controller, "a-2", "other.example").await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn what_nobody_remembers_is_refused() {
    let (parted, controller, _) = with_rooms().await;
    let unknown = "b-2".parse().unwrap();
    controller.store.create_room(&unknown, &RoomConfig::default()).await.unwrap();
    parted.take_away(&["b-"]);
    assert!(controller.rooms.read_configs().await.is_err());
    assert!(controller.rooms.latest_configs().await.is_err());
}
