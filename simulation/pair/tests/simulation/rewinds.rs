//! Nights in which Redis forgets, goes back in time, refuses, or loses its clock, each written by hand for what once
//! broke in it.

use serde_json::json;
use vestibule_simulation::{FaultKind, Hostility, OperationKind, Scenario};

use crate::night::{Night, night, seats};

/// Twenty seats, sixty people who come in six seconds and stay long.
fn sale(seconds: u64) -> Night {
    night(seats(20), seconds).people(60, 2, 100, 25)
}

fn rewound() -> Scenario {
    sale(40).fault(FaultKind::Rewind, 6_500, 100, 2_500).end()
}

fn room_made_after_the_state_that_came_back() -> Scenario {
    night(seats(20), 40).people(10, 2, 100, 25).fault(FaultKind::Rewind, 4_000, 100, 3_300).end()
}

fn rewound_over_a_reset() -> Scenario {
    sale(40)
        .operation(5_000, OperationKind::Reset)
        .fault(FaultKind::Rewind, 6_000, 100, 2_000)
        .people(10, 8, 100, 5)
        .end()
}

fn ended_tickets_after_a_wipe() -> Scenario {
    night(seats(10), 40)
        .hostile(30, Hostility::ReplaysSeats, 2, 2)
        .fault(FaultKind::Wipe, 12_000, 100, 0)
        .end()
}

/// The only admission has seated a burst and dies, and Redis loses everything before the leader has looked.
fn wiped_while_who_seated_is_away() -> Scenario {
    night(seats(20), 90)
        .services(1, 1)
        .readers(20, 3, 80)
        .fault(FaultKind::Kill, 3_060, 1_500, 0)
        .fault(FaultKind::Wipe, 3_070, 100, 0)
        .people(30, 6, 100, 20)
        .seed(10)
        .end()
}

/// The only controller is new, and Redis is empty.
fn wiped_before_a_new_controller_starts() -> Scenario {
    night(seats(20), 40)
        .services(2, 1)
        .people(30, 2, 100, 25)
        .fault(FaultKind::Kill, 6_000, 1_500, 0)
        .fault(FaultKind::Wipe, 6_100, 100, 0)
        .seed(2)
        .end()
}

/// Some go on with the old server, for longer than some sessions last, while people come and operators change things.
fn split_in_a_sale() -> Scenario {
    sale(60)
        .services(3, 2)
        .fault(FaultKind::Split, 8_000, 9_000, 1_500)
        .operation(9_500, OperationKind::Increment(-3))
        .operation(11_000, OperationKind::Patch(json!({ "total_active_users": 12 })))
        .people(20, 12, 200, 10)
        .end()
}

/// The room is reset while it is not the same on both sides.
fn split_over_a_reset() -> Scenario {
    sale(50)
        .services(3, 2)
        .fault(FaultKind::Split, 8_000, 6_000, 1_500)
        .operation(10_000, OperationKind::Reset)
        .people(20, 12, 200, 10)
        .seed(3)
        .end()
}

fn clock_back() -> Scenario {
    night(seats(5), 60).people(20, 2, 100, 6).fault(FaultKind::Clock, 6_000, 12_000, 0).end()
}

fn refused_writes() -> Scenario {
    sale(40).fault(FaultKind::Refuse, 6_000, 4_000, 0).seed(17).end()
}

fn quiet_room_after_a_wipe() -> Scenario {
    night(seats(20), 60)
        .people(3, 2, 100, 4)
        .fault(FaultKind::Wipe, 12_000, 100, 0)
        .people(5, 18, 100, 4)
        .end()
}

/// Declares a test for each night: nothing breaks in it.
macro_rules! nothing_breaks {
    ($($(#[doc = $doc:literal])* $name:ident: $night:expr;)*) => {
        $($(#[doc = $doc])*
        #[test]
        fn $name() {
            let broken = crate::broken(&$night);
            assert!(broken.is_empty(), "{broken:?}");
        })*
    };
}

nothing_breaks! {
    /// Once: numbers twice, tokens beyond the seats, the counter back.
    older_state: rewound();
    /// Once: the room is forgotten by everyone.
    newer_room: room_made_after_the_state_that_came_back();
    /// Once: everyone's next poll is refused.
    older_reset: rewound_over_a_reset();
    /// Once: sessions are rebuilt that had ended.
    ended_tickets: ended_tickets_after_a_wipe();
    /// Once: what only the admission knew is lost: that twenty were served and seated.
    unseen_seats: wiped_while_who_seated_is_away();
    /// Once: the places are lost for good.
    new_controller: wiped_before_a_new_controller_starts();
    /// Two servers take writes for nine seconds, and then one.
    split_brain: split_in_a_sale();
    split_reset: split_over_a_reset();
    /// Once: 500, to insiders too.
    refusing: refused_writes();
    /// Once: sessions end while their tokens live, or nobody enters.
    jumping_clock: clock_back();
}

/// The first in a room that was empty when everything was lost.
#[test]
fn whoever_comes_first_after_a_wipe_does_not_wait_for_numbers_that_nobody_holds() {
    let broken = crate::broken(&quiet_room_after_a_wipe());
    assert!(broken.is_empty(), "{broken:?}");
}
