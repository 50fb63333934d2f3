//! Nights that hostile or hasty crowds once spoilt: nothing in them is wrong any more.

use serde_json::json;
use vestibule_history::Bounds;
use vestibule_simulation::{Hostility, Scenario, run};

use crate::{
    bounds,
    night::{night, seats},
};

/// Numbers taken by the AWS-style call on one connection, then silence; then people come.
fn silent_aws_numbers() -> Scenario {
    night(seats(20), 60).hostile(1, Hostility::SendsAwsGhosts, 2, 100).people(30, 6, 100, 20).end()
}

/// One waiting ticket's status, repeated.
fn a_replayed_status() -> Scenario {
    night(seats(10), 150)
        .people(10, 2, 500, 74)
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

fn holds(night: &Scenario) {
    let outcome = run(night, &bounds(), false).unwrap();
    assert!(outcome.broken.is_empty(), "{:?}", outcome.broken);
}

#[test]
fn people_who_never_come_cost_no_seat() {
    holds(&silent_aws_numbers());
}

#[test]
fn a_replayed_status_counts_nobody() {
    holds(&a_replayed_status());
}

#[test]
fn a_replayed_leave_erases_nobody() {
    holds(&a_replayed_leave());
}

#[test]
fn presence_grows_with_the_line_and_not_with_calls() {
    holds(&replays_in_a_room_without_limits());
}

#[test]
fn nobody_at_the_door_is_overtaken_by_more_than_a_second() {
    let bounds = Bounds { overtaking_ms: 1_000, ..bounds() };
    let outcome = run(&seats_that_turn_over(), &bounds, false).unwrap();
    assert!(outcome.broken.is_empty(), "{:?}", outcome.broken);
}
