//! Those who come and wait.

use vestibule_domain::{Lease, presence::Spot};
use vestibule_store::{Join, JoinMode};

use super::{Called, Chances, Pair};
use crate::compared::random::{epoch, issuer, key_id, number, once_in, one, region};

pub(super) async fn join(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, memory) = (pair.rooms[room].clone(), &pair.memory[room]);
    let join = Join {
        region: region(chances),
        count: match chances.below(10) {
            0 => 0,
            1 => chances.below(2_000),
            2 | 3 => chances.below(60),
            _ => 1 + chances.below(4),
        },
        mode: if once_in(chances, 3) { JoinMode::Queue } else { JoinMode::Enter },
        known_reset_epoch: epoch(chances, memory),
        known_queue_counter: match &memory.snapshot {
            Some(room) if once_in(chances, 12) => room.queue_counter + chances.below(40),
            _ => chances.below(3),
        },
        key_id: key_id(chances),
        issuer: issuer(chances),
    };
    let name = format!("join({id}, {join:?})");
    pair.one(name, async |side| side.store.join(&id, &join).await).await?;
    Ok(())
}

pub(super) async fn check_in(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, memory) = (pair.rooms[room].clone(), &pair.memory[room]);
    let epoch = epoch(chances, memory);
    let serving = memory.snapshot.as_ref().map_or(0, vestibule_domain::RoomSnapshot::serving);
    let now_ms = pair.clock.now_ms();
    let leases: Vec<(Lease, i64)> = (0..=chances.below(6))
        .map(|_| {
            let spot = match chances.below(10) {
                0 => Spot::Won,
                1 | 2 => Spot::Pool(one(chances, &[0, 0, 1, 9])),
                _ => Spot::Position(number(chances, memory).min(1 << 35)),
            };
            let interval_ms = one(chances, &[1_000, 5_000, 30_000, 120_000]);
            let lease = Lease::granted(spot, serving, now_ms, interval_ms);
            (lease, one(chances, &[1, 1, 1, 2, -1, -1, 0, 40]))
        })
        .collect();
    let name = format!("check_in({id}, {epoch}, {leases:?})");
    pair.one(name, async |side| side.store.check_in(&id, epoch, leases.iter().copied()).await)
        .await?;
    Ok(())
}

pub(super) async fn increment(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    let by = match chances.below(30) {
        0 => one(chances, &[i64::MAX, i64::MIN, 9_007_199_254_740_991]),
        1..=4 => -one(chances, &[1, 3, 20, 10_000]),
        5 => 0,
        6..=8 => one(chances, &[1_000, 10_000, 10_020]),
        _ => one(chances, &[1, 2, 5, 30]),
    };
    pair.one(format!("increment({id}, {by})"), async |side| side.store.increment(&id, by).await)
        .await?;
    Ok(())
}
