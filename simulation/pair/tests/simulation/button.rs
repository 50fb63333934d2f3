//! A small room that is entered by a button: whoever is shown it takes a while to press it, and until then is there.
//! Whoever takes these for gone shows the button to the whole line.

use std::collections::BTreeMap;

use serde_json::json;
use vestibule_domain::RoomId;
use vestibule_simulation::{Seed, World, in_virtual_time};

use crate::{
    guests::{ButtonGuest, Hall, Page},
    nothing_planned,
};

/// Of so few seats none is held for anybody.
const CEILING: usize = 6;
const CROWD: u64 = 120;
/// By when all are ready, ms.
const READY_MS: u64 = 5_000;
/// How long after it was shown they press it, ms.
const PRESSES_MS: std::ops::Range<u64> = 4_000..15_000;
const STAYS_MS: std::ops::Range<u64> = 20_000..40_000;
/// For how long it is looked, ms.
const PLAY_MS: u64 = 120_000;
/// So many are shown the button for nothing, at most: those who stand by for the seats that come free while others press
/// it.
const SHOWN: usize = 3 * CEILING;

/// What became of everybody.
fn play(seed: u64) -> BTreeMap<u64, Page> {
    let pages = in_virtual_time(async {
        let world = World::start(&nothing_planned(seed, (3, 2)), None, false);
        let hall = Hall::new(&world, &RoomId::new("sale").unwrap(), Seed(seed));
        hall.until(READY_MS).await;
        let mut chance = Seed(seed).chance("crowd", 0);
        let body = json!({ "total_active_users": CEILING, "enter": "button" });
        let made = world.door().command(&mut chance, ("PUT", "/v1/rooms/sale"), &body).await;
        assert!(made.unwrap().status < 300);
        let comes_ms = hall.now_ms() + 100;
        for number in 0..CROWD {
            let (presses_after_ms, stays_ms) = (chance.within(PRESSES_MS), chance.within(STAYS_MS));
            let comes_ms = comes_ms + number * 5;
            let guest = ButtonGuest { number, comes_ms, presses_after_ms, stays_ms };
            tokio::spawn(guest.visit(hall.clone()));
        }
        hall.wait(PLAY_MS).await;
        hall.diary.read()
    });
    pages.unwrap()
}

#[test]
fn nobody_is_shown_the_button_long_before_there_is_a_seat() {
    for seed in 0..3 {
        let pages = play(seed);
        let entered = pages.values().filter(|page| page.entered_ms.is_some()).count();
        let shown = pages.values().filter(|page| page.turn_ms.is_some()).count();
        assert!(entered >= 2 * CEILING, "seed {seed}: {entered} have entered");
        assert!(shown <= entered + SHOWN, "seed {seed}: {shown} were shown it, {entered} entered");
    }
}
