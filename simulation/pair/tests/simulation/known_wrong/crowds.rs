//! The rows of "Presence and serving".

use serde_json::json;
use vestibule_history::Bounds;
use vestibule_simulation::{Hostility, Scenario, run};

use super::{
    known_wrong,
    night::{night, seats},
};
use crate::bounds;

/// Numbers taken by the AWS-style call on one connection, then silence; then people come.
fn silent_aws_numbers() -> Scenario {
    night(seats(20), 60).hostile(1, Hostility::SendsAwsGhosts, 2, 100).people(30, 6, 100, 20).end()
}

/// One waiting ticket's status, repeated.
fn a_replayed_status() -> Scenario {
    night(seats(10), 150)
        .people(10, 2, 10, 78)
        .people(2, 3, 1, 20)
        .hostile(1, Hostility::ReplaysStatus, 4, 50)
        .people(40, 5, 100, 20)
        .end()
}

/// Tickets polling in a room that is advanced by increments.
fn replays_in_a_room_without_limits() -> Scenario {
    let none = json!({ "total_active_users": null, "new_users_per_minute": null });
    night(none, 110).people(3, 2, 10, 5).hostile(30, Hostility::ReplaysStatus, 4, 3).end()
}

/// `leave` with a few tickets, repeated.
fn a_replayed_leave() -> Scenario {
    night(seats(3), 100).people(60, 2, 50, 8).hostile(5, Hostility::ReplaysLeave, 3, 50).end()
}

/// Seats that turn over at once, and claims held by three admissions.
fn seats_that_turn_over() -> Scenario {
    night(seats(6), 60).services(3, 1).people(40, 2, 20, 6).end()
}

known_wrong! {
    /// A1: nobody gets in behind people who never come.
    silent_numbers by "A1: Presence and serving":
        silent_aws_numbers(), finds ["empty seats"];
    /// A2: each replay counts as one more person.
    replayed_status by "A2: Presence and serving":
        a_replayed_status(), finds ["presence", "empty seats", "waits"];
    /// A3: other people's presence is erased.
    replayed_leave by "A3: Presence and serving":
        a_replayed_leave(), finds ["left behind", "presence", "empty seats"];
    /// A8: presence grows with the calls, not with the line.
    presence_grows by "A8: Presence and serving":
        replays_in_a_room_without_limits(), finds ["memory"];
}

/// Whether somebody at the door is overtaken by more than a second.
fn overtakes() -> bool {
    let bounds = Bounds { overtaking_ms: 1_000, ..bounds() };
    let outcome = run(&seats_that_turn_over(), &bounds, false).unwrap();
    outcome.broken.iter().any(|broken| broken.invariant == "fifo-order")
}

/// A18: people at the door overtake each other.
#[test]
fn order_at_the_door_is_found() {
    assert!(overtakes());
}

#[test]
#[ignore = "A18: Presence and serving"]
fn order_at_the_door_is_mended() {
    assert!(!overtakes());
}
