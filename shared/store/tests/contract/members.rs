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
    the_holders_on_both_sides_of_a_split_have_other_epochs,
);

async fn ask(world: &World, instance: &str, settled: Option<u64>) -> Standing {
    let asking = Asking { instance, length: LONG, known_epoch: 0, settled };
    world.store.lead(&asking).await.unwrap()
}

/// Of so many epochs each holder has one: the first digits of the SHA-1 of its name say which.
pub(crate) const STEP: u64 = 0x0010_0000;
/// The first terms, if `a` is the holder.
pub(crate) const FIRST: u64 = STEP + 0x8_6f7e;
const SECOND: u64 = FIRST + STEP;
const THIRD: u64 = SECOND + STEP;

/// The term with this number, if `b` is the holder.
pub(crate) const fn of_b(number: u64) -> u64 {
    number * STEP + 0xe_9d71
}

/// The first term of a holder.
fn first(epoch: u64, members: &[&str]) -> Term {
    let members = members.iter().map(|name| (*name).to_owned()).collect();
    Term { epoch, before: None, members }
}

/// A term that directly follows another.
fn next(epoch: u64, members: &[&str]) -> Term {
    Term { before: Some(epoch - STEP), ..first(epoch, members) }
}

fn leads(term: Term) -> Standing {
    Standing::Leads { term, settled: true }
}

fn settles(term: Term) -> Standing {
    Standing::Leads { term, settled: false }
}

fn serves(term: Term) -> Standing {
    Standing::Serves(term)
}

/// `a` leads in the second term, with `b`.
async fn two(world: &World) {
    ask(world, "a", None).await;
    ask(world, "b", None).await;
    assert_eq!(ask(world, "a", Some(FIRST)).await, leads(next(SECOND, &["a", "b"])));
    assert_eq!(ask(world, "b", None).await, serves(next(SECOND, &["a", "b"])));
}

async fn nobody_hears_of_a_term_before_it_is_settled(world: World) {
    assert_eq!(ask(&world, "a", None).await, settles(first(FIRST, &["a"])));
    assert_eq!(ask(&world, "b", None).await, Standing::Follows);
    assert_eq!(
        ask(&world, "a", None).await,
        settles(first(FIRST, &["a"])),
        "whoever comes meanwhile"
    );
    let both = || next(SECOND, &["a", "b"]);
    assert_eq!(ask(&world, "a", Some(FIRST)).await, leads(both()));
    assert_eq!(
        ask(&world, "b", Some(FIRST)).await,
        serves(both()),
        "what it says of itself is nothing"
    );
    assert_eq!(ask(&world, "a", Some(SECOND)).await, leads(both()), "a renewal");
}

async fn whoever_comes_changes_the_term(world: World) {
    two(&world).await;
    assert_eq!(ask(&world, "0", None).await, Standing::Follows, "in a term without it");
    let before = serves(next(SECOND, &["a", "b"]));
    assert_eq!(ask(&world, "b", None).await, before, "until the leader renews");
    let all = || next(THIRD, &["0", "a", "b"]);
    assert_eq!(ask(&world, "a", Some(SECOND)).await, leads(all()));
    for member in ["0", "b"] {
        assert_eq!(ask(&world, member, None).await, serves(all()));
    }
}

async fn whoever_stops_leaves_at_once(world: World) {
    two(&world).await;
    world.store.release_lease("b").await.unwrap();
    assert_eq!(world.store.leader().await.unwrap().as_deref(), Some("a"), "not b's to release");
    assert_eq!(ask(&world, "a", Some(SECOND)).await, leads(next(THIRD, &["a"])));
    assert_eq!(ask(&world, "b", None).await, Standing::Follows);
    let fourth = THIRD + STEP;
    assert_eq!(ask(&world, "a", Some(THIRD)).await, leads(next(fourth, &["a", "b"])), "it is back");
    world.store.release_lease("a").await.unwrap();
    assert_eq!(ask(&world, "b", None).await, settles(first(of_b(5), &["b"])));
}

async fn whoever_asks_no_more_is_left_out_after_a_lease(world: World) {
    two(&world).await;
    world.clock.advance_ms(LONG_MS - 1);
    assert_eq!(ask(&world, "a", Some(SECOND)).await, leads(next(SECOND, &["a", "b"])));
    world.clock.advance_ms(1);
    assert_eq!(ask(&world, "a", Some(SECOND)).await, leads(next(THIRD, &["a"])));
    let noted: u64 = world.server.ask(cmd("ZCARD").arg(CONTROLLERS)).await;
    assert_eq!(noted, 1, "nothing is kept of it");
}

/// Since `b` asked, by an hour.
async fn a_clock_that_is_set_back_drops_nobody(world: World) {
    two(&world).await;
    let then_ms = world.clock.now_ms() + 3_600_000;
    world.server.ask::<()>(cmd("ZADD").arg(CONTROLLERS).arg(then_ms).arg("b")).await;
    assert_eq!(ask(&world, "a", Some(SECOND)).await, leads(next(SECOND, &["a", "b"])));
    world.clock.advance_ms(LONG_MS);
    let alone = leads(next(THIRD, &["a"]));
    assert_eq!(ask(&world, "a", Some(SECOND)).await, alone, "and not for an hour");
}

/// The answer that told the leader of its next term is lost.
async fn what_was_settled_in_a_term_holds_in_the_next(world: World) {
    two(&world).await;
    ask(&world, "c", None).await;
    ask(&world, "a", Some(SECOND)).await;
    for settled in [SECOND, FIRST] {
        let all = next(THIRD, &["a", "b", "c"]);
        assert_eq!(ask(&world, "a", Some(settled)).await, leads(all));
    }
}

async fn what_was_settled_before_a_break_does_not_hold(world: World) {
    two(&world).await;
    world.store.release_lease("a").await.unwrap();
    let anew = || first(THIRD, &["a", "b"]);
    for _ in 0..2 {
        assert_eq!(ask(&world, "a", Some(SECOND)).await, settles(anew()), "it is another term");
    }
    assert_eq!(ask(&world, "b", None).await, Standing::Follows);
    assert_eq!(ask(&world, "a", Some(THIRD)).await, leads(anew()));
    world.server.flush().await;
    let (known_epoch, settled) = (THIRD, Some(THIRD));
    let asking = Asking { instance: "a", length: LONG, known_epoch, settled };
    let lost = settles(first(THIRD + STEP, &["a"]));
    assert_eq!(world.store.lead(&asking).await.unwrap(), lost);
}

async fn a_leader_that_settles_again_is_followed_by_nobody(world: World) {
    two(&world).await;
    let both = || next(SECOND, &["a", "b"]);
    assert_eq!(ask(&world, "a", None).await, settles(both()));
    assert_eq!(ask(&world, "b", None).await, Standing::Follows);
    world.store.release_lease("b").await.unwrap();
    assert_eq!(ask(&world, "a", None).await, settles(both()), "as it was told once");
    assert_eq!(ask(&world, "a", Some(SECOND)).await, leads(next(THIRD, &["a"])));
}

async fn a_list_that_was_lost_is_not_made_anew_in_its_term(world: World) {
    two(&world).await;
    for (lost, anew) in [(TERM, THIRD), (EPOCH, THIRD + STEP)] {
        world.server.ask::<()>(cmd("DEL").arg(lost)).await;
        assert_eq!(ask(&world, "b", None).await, Standing::Follows);
        let settled = Some(anew - STEP);
        assert_eq!(ask(&world, "a", settled).await, settles(first(anew, &["a", "b"])));
    }
}

/// It knows neither members nor terms, and leaves the last list where it is.
async fn under_a_leader_of_an_older_release_everybody_follows(world: World) {
    two(&world).await;
    world.server.ask::<()>(cmd("SET").arg(LEASE).arg("old").arg("PX").arg(LONG_MS)).await;
    world.server.ask::<()>(cmd("INCR").arg(EPOCH)).await;
    for name in ["a", "b"] {
        assert_eq!(ask(&world, name, Some(SECOND)).await, Standing::Follows);
    }
    world.server.ask::<()>(cmd("DEL").arg(LEASE)).await;
    let anew = settles(first(THIRD, &["a", "b"]));
    assert_eq!(ask(&world, "a", Some(SECOND)).await, anew, "it is gone");
}

async fn a_list_of_another_term_says_nothing(world: World) {
    two(&world).await;
    world.server.ask::<()>(cmd("SET").arg(LEASE).arg("c").arg("PX").arg(LONG_MS)).await;
    assert_eq!(ask(&world, "b", None).await, Standing::Follows, "of another holder");
    world.server.ask::<()>(cmd("SET").arg(LEASE).arg("a").arg("PX").arg(LONG_MS)).await;
    assert_eq!(ask(&world, "b", None).await, serves(next(SECOND, &["a", "b"])));
    let raised = SECOND + 5;
    world.server.ask::<()>(cmd("SET").arg(EPOCH).arg(raised)).await;
    assert_eq!(ask(&world, "b", None).await, Standing::Follows, "of another epoch");
    let anew = settles(first(THIRD, &["a", "b"]));
    assert_eq!(ask(&world, "a", Some(SECOND)).await, anew, "raised for its holder");
    world.server.ask::<()>(cmd("SET").arg(EPOCH).arg(raised - 2)).await;
    let anew = settles(first(THIRD + STEP, &["a", "b"]));
    assert_eq!(ask(&world, "a", Some(THIRD)).await, anew, "Redis went back");
}

/// A member's write was refused: a room has seen a later term than this Redis.
async fn whoever_has_seen_a_later_term_ends_the_one_that_redis_knows(world: World) {
    two(&world).await;
    let known_epoch = SECOND + 7;
    let asking = Asking { instance: "b", length: LONG, known_epoch, settled: None };
    for _ in 0..2 {
        assert_eq!(world.store.lead(&asking).await.unwrap(), Standing::Follows);
    }
    let above = || first(THIRD, &["a", "b"]);
    assert_eq!(ask(&world, "a", Some(SECOND)).await, settles(above()));
    assert_eq!(ask(&world, "a", Some(THIRD)).await, leads(above()));
    assert_eq!(world.store.lead(&asking).await.unwrap(), serves(above()));
}

async fn who_only_holds_the_lease_lets_nobody_serve(world: World) {
    ask(&world, "b", None).await;
    world.store.release_lease("b").await.unwrap();
    let held = world.store.lease("restore", LONG, 0).await.unwrap();
    assert!(held > Some(of_b(1)), "{held:?}");
    assert_eq!(ask(&world, "b", Some(FIRST)).await, Standing::Follows);
    assert_eq!(world.store.lease("restore", LONG, 0).await.unwrap(), held);
    assert_eq!(ask(&world, "b", held).await, Standing::Follows);
}

/// One side has lost a member, the other its holder; both go on from the same term.
async fn the_holders_on_both_sides_of_a_split_have_other_epochs(world: World) {
    two(&world).await;
    world.store.release_lease("b").await.unwrap();
    assert_eq!(ask(&world, "a", Some(SECOND)).await, leads(next(THIRD, &["a"])));
    world.server.ask::<()>(cmd("DEL").arg(LEASE)).await;
    world.server.ask::<()>(cmd("SET").arg(EPOCH).arg(SECOND)).await;
    world.server.ask::<()>(cmd("HSET").arg(TERM).arg("epoch").arg(SECOND)).await;
    world.server.ask::<()>(cmd("ZREM").arg(CONTROLLERS).arg("a")).await;
    let standing = ask(&world, "b", None).await;
    assert_eq!(standing, settles(first(of_b(3), &["b"])), "the third term there, too");
    assert_ne!(of_b(3), THIRD);
}
