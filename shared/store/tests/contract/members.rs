//! Who serves in the leader's term: whoever asked lately, and everybody is told the same.

use std::time::Duration;

use redis::cmd;
use vestibule_store::{Asking, Standing, Term};

use crate::world::World;

const LONG: Duration = Duration::from_mins(1);
const LONG_MS: u64 = 60_000;
const LEASE: &str = "vestibule:{deployment}:lease";
const EPOCH: &str = "vestibule:{deployment}:epoch";
const TERM: &str = "vestibule:{deployment}:term";
const CONTROLLERS: &str = "vestibule:{deployment}:controllers";

crate::on_every_server!(
    nobody_hears_of_a_term_before_it_is_settled,
    whoever_comes_changes_the_term,
    whoever_stops_leaves_at_once,
    whoever_asks_no_more_is_left_out_after_a_lease,
    a_clock_that_is_set_back_drops_nobody,
    what_was_settled_in_a_term_holds_in_the_next,
    what_was_settled_before_a_break_does_not_hold,
    a_leader_that_settles_again_is_followed_by_nobody,
    a_list_that_was_lost_is_not_made_anew_in_its_term,
    under_a_leader_of_an_older_release_everybody_follows,
    a_list_of_another_term_says_nothing,
    whoever_has_seen_a_later_term_ends_the_one_that_redis_knows,
    who_only_holds_the_lease_lets_nobody_serve,
);

async fn ask(world: &World, instance: &str, settled: Option<u64>) -> Standing {
    let asking = Asking { instance, length: LONG, known_epoch: 0, settled };
    world.store.lead(&asking).await.unwrap()
}

fn term(epoch: u64, members: &[&str]) -> Term {
    Term { epoch, members: members.iter().map(|name| (*name).to_owned()).collect() }
}

fn leads(epoch: u64, members: &[&str], settled: bool) -> Standing {
    Standing::Leads { term: term(epoch, members), settled }
}

fn serves(epoch: u64, members: &[&str]) -> Standing {
    Standing::Serves(term(epoch, members))
}

/// `a` leads in the second term, with `b`.
async fn two(world: &World) {
    ask(world, "a", None).await;
    ask(world, "b", None).await;
    assert_eq!(ask(world, "a", Some(1)).await, leads(2, &["a", "b"], true));
    assert_eq!(ask(world, "b", None).await, serves(2, &["a", "b"]));
}

async fn nobody_hears_of_a_term_before_it_is_settled(world: World) {
    assert_eq!(ask(&world, "a", None).await, leads(1, &["a"], false));
    assert_eq!(ask(&world, "b", None).await, Standing::Follows);
    assert_eq!(ask(&world, "a", None).await, leads(1, &["a"], false), "whoever comes meanwhile");
    assert_eq!(ask(&world, "a", Some(1)).await, leads(2, &["a", "b"], true));
    assert_eq!(
        ask(&world, "b", Some(1)).await,
        serves(2, &["a", "b"]),
        "what it says of itself is nothing"
    );
    assert_eq!(ask(&world, "a", Some(2)).await, leads(2, &["a", "b"], true), "a renewal");
}

async fn whoever_comes_changes_the_term(world: World) {
    two(&world).await;
    assert_eq!(
        ask(&world, "0", None).await,
        Standing::Follows,
        "it is not told of a term without it"
    );
    assert_eq!(ask(&world, "b", None).await, serves(2, &["a", "b"]), "until the leader renews");
    assert_eq!(ask(&world, "a", Some(2)).await, leads(3, &["0", "a", "b"], true));
    for member in ["0", "b"] {
        assert_eq!(ask(&world, member, None).await, serves(3, &["0", "a", "b"]));
    }
}

async fn whoever_stops_leaves_at_once(world: World) {
    two(&world).await;
    world.store.release_lease("b").await.unwrap();
    assert_eq!(world.store.leader().await.unwrap().as_deref(), Some("a"), "not b's to release");
    assert_eq!(ask(&world, "a", Some(2)).await, leads(3, &["a"], true));
    assert_eq!(ask(&world, "b", None).await, Standing::Follows);
    assert_eq!(ask(&world, "a", Some(3)).await, leads(4, &["a", "b"], true), "it is back");
    world.store.release_lease("a").await.unwrap();
    assert_eq!(ask(&world, "b", None).await, leads(5, &["b"], false));
}

async fn whoever_asks_no_more_is_left_out_after_a_lease(world: World) {
    two(&world).await;
    world.clock.advance_ms(LONG_MS - 1);
    assert_eq!(ask(&world, "a", Some(2)).await, leads(2, &["a", "b"], true));
    world.clock.advance_ms(1);
    assert_eq!(ask(&world, "a", Some(2)).await, leads(3, &["a"], true));
    let noted: u64 = world.server.ask(cmd("ZCARD").arg(CONTROLLERS)).await;
    assert_eq!(noted, 1, "nothing is kept of it");
}

/// Since `b` asked, by an hour.
async fn a_clock_that_is_set_back_drops_nobody(world: World) {
    two(&world).await;
    let then_ms = world.clock.now_ms() + 3_600_000;
    world.server.ask::<()>(cmd("ZADD").arg(CONTROLLERS).arg(then_ms).arg("b")).await;
    assert_eq!(ask(&world, "a", Some(2)).await, leads(2, &["a", "b"], true));
    world.clock.advance_ms(LONG_MS);
    assert_eq!(ask(&world, "a", Some(2)).await, leads(3, &["a"], true), "and not for an hour");
}

/// The answer that told the leader of its next term is lost.
async fn what_was_settled_in_a_term_holds_in_the_next(world: World) {
    two(&world).await;
    ask(&world, "c", None).await;
    ask(&world, "a", Some(2)).await;
    assert_eq!(ask(&world, "a", Some(2)).await, leads(3, &["a", "b", "c"], true));
    assert_eq!(ask(&world, "a", Some(1)).await, leads(3, &["a", "b", "c"], true));
}

async fn what_was_settled_before_a_break_does_not_hold(world: World) {
    two(&world).await;
    world.store.release_lease("a").await.unwrap();
    assert_eq!(ask(&world, "a", Some(2)).await, leads(3, &["a", "b"], false), "another term");
    assert_eq!(ask(&world, "a", Some(2)).await, leads(3, &["a", "b"], false));
    assert_eq!(ask(&world, "b", None).await, Standing::Follows);
    assert_eq!(ask(&world, "a", Some(3)).await, leads(3, &["a", "b"], true));
    world.server.flush().await;
    let asking = Asking { instance: "a", length: LONG, known_epoch: 3, settled: Some(3) };
    assert_eq!(world.store.lead(&asking).await.unwrap(), leads(4, &["a"], false), "all is lost");
}

async fn a_leader_that_settles_again_is_followed_by_nobody(world: World) {
    two(&world).await;
    assert_eq!(ask(&world, "a", None).await, leads(2, &["a", "b"], false));
    assert_eq!(ask(&world, "b", None).await, Standing::Follows);
    world.store.release_lease("b").await.unwrap();
    assert_eq!(ask(&world, "a", None).await, leads(2, &["a", "b"], false), "as it was told once");
    assert_eq!(ask(&world, "a", Some(2)).await, leads(3, &["a"], true));
}

async fn a_list_that_was_lost_is_not_made_anew_in_its_term(world: World) {
    two(&world).await;
    world.server.ask::<()>(cmd("DEL").arg(TERM)).await;
    assert_eq!(ask(&world, "b", None).await, Standing::Follows);
    assert_eq!(ask(&world, "a", Some(2)).await, leads(3, &["a", "b"], false));
    world.server.ask::<()>(cmd("DEL").arg(EPOCH)).await;
    assert_eq!(ask(&world, "b", None).await, Standing::Follows);
    assert_eq!(ask(&world, "a", Some(3)).await, leads(4, &["a", "b"], false));
}

/// It knows neither members nor terms, and leaves the last list where it is.
async fn under_a_leader_of_an_older_release_everybody_follows(world: World) {
    two(&world).await;
    world.server.ask::<()>(cmd("SET").arg(LEASE).arg("old").arg("PX").arg(LONG_MS)).await;
    world.server.ask::<()>(cmd("INCR").arg(EPOCH)).await;
    for name in ["a", "b"] {
        assert_eq!(ask(&world, name, Some(2)).await, Standing::Follows);
    }
    world.server.ask::<()>(cmd("DEL").arg(LEASE)).await;
    assert_eq!(ask(&world, "a", Some(2)).await, leads(4, &["a", "b"], false), "it is gone");
}

async fn a_list_of_another_term_says_nothing(world: World) {
    two(&world).await;
    world.server.ask::<()>(cmd("SET").arg(LEASE).arg("c").arg("PX").arg(LONG_MS)).await;
    assert_eq!(ask(&world, "b", None).await, Standing::Follows, "of another holder");
    world.server.ask::<()>(cmd("SET").arg(LEASE).arg("a").arg("PX").arg(LONG_MS)).await;
    assert_eq!(ask(&world, "b", None).await, serves(2, &["a", "b"]));
    world.server.ask::<()>(cmd("SET").arg(EPOCH).arg(7)).await;
    assert_eq!(ask(&world, "b", None).await, Standing::Follows, "of another epoch");
    assert_eq!(
        ask(&world, "a", Some(2)).await,
        leads(7, &["a", "b"], false),
        "raised for its holder"
    );
    world.server.ask::<()>(cmd("SET").arg(EPOCH).arg(5)).await;
    assert_eq!(ask(&world, "a", Some(7)).await, leads(8, &["a", "b"], false), "Redis went back");
}

/// A member's write was refused: a room has seen a later term than this Redis.
async fn whoever_has_seen_a_later_term_ends_the_one_that_redis_knows(world: World) {
    two(&world).await;
    let asking = Asking { instance: "b", length: LONG, known_epoch: 9, settled: None };
    assert_eq!(world.store.lead(&asking).await.unwrap(), Standing::Follows);
    assert_eq!(world.store.lead(&asking).await.unwrap(), Standing::Follows);
    assert_eq!(ask(&world, "a", Some(2)).await, leads(10, &["a", "b"], false), "above it");
    assert_eq!(ask(&world, "a", Some(10)).await, leads(10, &["a", "b"], true));
    assert_eq!(world.store.lead(&asking).await.unwrap(), serves(10, &["a", "b"]));
}

async fn who_only_holds_the_lease_lets_nobody_serve(world: World) {
    ask(&world, "b", None).await;
    world.store.release_lease("b").await.unwrap();
    let held = world.store.lease("restore", LONG, 0).await.unwrap();
    assert_eq!(held, Some(2));
    assert_eq!(ask(&world, "b", Some(1)).await, Standing::Follows);
    assert_eq!(world.store.lease("restore", LONG, 0).await.unwrap(), held);
    assert_eq!(ask(&world, "b", Some(2)).await, Standing::Follows);
}
