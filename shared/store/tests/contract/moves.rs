//! Rooms that move to another Redis: what was done once stays done, what was used once stays used, and networks have what
//! they had.

use redis::cmd;
use serde_json::json;
use vestibule_domain::{
    RoomSettings,
    inlet::{AlarmState, Period},
    network_limits::{NetworkLimit, NetworkLimits},
};
use vestibule_store::{
    Admittance, Claim, ClaimNetwork, ClaimOutcome, Join, JoinMode, LetIn, Piece, Replacing,
    Spending,
};

use crate::{
    backups::{copied, restored},
    world::{World, limited, newcomers},
};

// Not on the model, which cannot go through a set in pages.
crate::on_real_servers!(
    what_was_done_once_stays_done,
    what_was_used_stays_used,
    networks_have_what_they_had,
    the_lists_hold_what_lasts_and_expire,
    what_was_put_back_after_a_loss_moves_too,
);

const HERE: u64 = u64::MAX - 1;

/// Moves a room as it is.
async fn moved(world: &World) -> World {
    let config = world.config().await;
    world.store.close_room(&world.room).await.unwrap();
    let pieces: Vec<Piece> = through_a_file(&copied(world).await);
    let other = restored(world, pieces, None).await;
    other.reconcile(&[], &[], &config).await;
    other
}

fn through_a_file(pieces: &[Piece]) -> Vec<Piece> {
    let text = serde_json::to_string(pieces).unwrap();
    serde_json::from_str(&text).unwrap()
}

async fn exits(world: &World, call: &str) -> bool {
    let reset_epoch = world.reset_epoch().await;
    let report = Replacing { reset_epoch, departures: &[], exited: 1, max_size: 10 };
    world.store.replace_gone(&world.room, call, report).await.unwrap().again
}

async fn lets_in(world: &World, epoch: u64) -> bool {
    let period = Period { name: "0-3600-1".to_owned(), increment: 10, kept_seconds: 7_800 };
    let let_in = LetIn { period: &period, leader_epoch: epoch };
    world.store.let_in(&world.room, let_in).await.unwrap().again
}

async fn what_was_done_once_stays_done(world: World) {
    world.open(RoomSettings::default()).await;
    let epoch = world.store.reset_once(&world.room, "reset").await.unwrap();
    world.store.note_alarm(&world.room, AlarmState::Alarm, None).await.unwrap();
    let alarm = world.store.inlet_alarm(&world.room).await.unwrap();
    let stands = world.store.increment_once(&world.room, "open", 5).await.unwrap();
    assert!(!exits(&world, "exits").await);
    assert!(!lets_in(&world, 1).await);
    let stood = world.snapshot().await.serving_counter;

    let other = moved(&world).await;
    assert!(lets_in(&other, 2).await, "of a period");
    assert!(exits(&other, "exits").await, "of a report");
    let again = other.store.increment_once(&other.room, "open", 5).await.unwrap();
    assert!(again.is_some_and(|moved| moved.again && Some(moved.to) == stands.map(|it| it.to)));
    let begun = other.store.reset_once(&other.room, "reset").await.unwrap();
    assert!(begun.again && begun.reset_epoch == epoch.reset_epoch, "{begun:?}");
    assert_eq!(other.reset_epoch().await, epoch.reset_epoch);
    assert_eq!(other.snapshot().await.serving_counter, stood);
    assert_eq!(other.store.inlet_alarm(&other.room).await.unwrap(), alarm);
    let key = "vestibule:room:{sale}:calls:increment:open";
    let left: u64 = other.server.ask(cmd("TTL").arg(key)).await;
    assert!((86_000..=86_400).contains(&left), "{left}");
}

async fn what_was_used_stays_used(world: World) {
    world.open(limited(1)).await;
    let expires_at = world.snapshot().await.now_ms / 1000 + 600;
    let mark = |name: &str| Spending { name: name.to_owned(), expires_at, is_taken_back: false };
    let used = [mark("a"), mark("b")];
    assert_eq!(world.store.spend(&world.room, &used).await.unwrap(), [true; 2]);
    let other = moved(&world).await;
    let marks = [mark("a"), mark("b"), mark("c")];
    assert_eq!(other.store.spend(&other.room, &marks).await.unwrap(), [false, false, true]);
}

async fn networks_have_what_they_had(world: World) {
    world.open(limited(20)).await;
    let of = |joins, places| NetworkLimits {
        joins_per_minute: joins,
        places,
        seats: Some(2),
        only_logs: false,
    };
    let join = async |world: &World, limits| {
        let join = Join { networks: &[HERE], limits, ..newcomers("here", 1, JoinMode::Enter) };
        world.store.join(&world.room, &join).await.unwrap()
    };
    for seated in [1, 1, 0] {
        assert_eq!(join(&world, of(Some(3), Some(3))).await.seated, seated);
    }
    let other = moved(&world).await;
    let joined = join(&other, of(Some(3), None)).await;
    assert_eq!(joined.admittances, [Admittance::Over(NetworkLimit::Joins)]);
    // Those inside have used their places.
    assert_eq!(join(&other, of(None, Some(2))).await.admittances, [Admittance::Place(0)]);
    let joined = join(&other, of(None, Some(2))).await;
    assert_eq!(joined.admittances, [Admittance::Over(NetworkLimit::Places)]);
    other.ripens();
    let network = ClaimNetwork { digest: HERE, seats: Some(2), only_logs: false };
    let claim = Claim { network: Some(network), ..other.claim_now(3).await };
    assert_eq!(other.claims(claim).await, ClaimOutcome::NetworkFull);
}

/// What is on the list of calls.
async fn listed(world: &World) -> Vec<String> {
    let list = "vestibule:room:{sale}:calls";
    world.server.ask(cmd("ZRANGE").arg(list).arg(0).arg(-1)).await
}

async fn the_lists_hold_what_lasts_and_expire(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(1, JoinMode::Queue).await;
    assert_eq!(listed(&world).await, [""; 0], "what a newcomer was told lives for seconds");
    world.store.increment_once(&world.room, "first", 1).await.unwrap();
    world.store.reset(&world.room).await.unwrap();
    assert_eq!(listed(&world).await.len(), 2, "a reset forgets no call");
    world.seconds(86_401);
    world.store.increment_once(&world.room, "second", 1).await.unwrap();
    assert_eq!(listed(&world).await, ["increment:second"]);
    let left: i64 = world.server.ask(cmd("TTL").arg("vestibule:room:{sale}:calls")).await;
    assert!(left > 86_400, "{left}");
    world.store.delete_room(&world.room, None).await.unwrap();
    assert_eq!(listed(&world).await, [""; 0]);
}

async fn what_was_put_back_after_a_loss_moves_too(world: World) {
    world.open(RoomSettings::default()).await;
    world.store.increment_once(&world.room, "open", 5).await.unwrap();
    let list = "vestibule:room:{sale}:calls";
    for key in [list, "vestibule:room:{sale}:calls:increment:open"] {
        world.server.ask::<()>(cmd("DEL").arg(key)).await;
    }
    let epoch = world.reset_epoch().await;
    let answer = json!({ "reset_epoch": epoch, "serving_counter": 5, "by": 5, "again": false });
    let calls = [vestibule_store::AnsweredCall {
        name: "increment:open".to_owned(),
        answer: answer.to_string().into(),
        kept_seconds: 86_400,
    }];
    world.store.restore_calls(&world.room, &calls).await.unwrap();
    assert_eq!(listed(&world).await, ["increment:open"]);
    let other = moved(&world).await;
    other.store.increment_once(&other.room, "open", 5).await.unwrap();
    assert_eq!(other.snapshot().await.serving_counter, 5);
}
