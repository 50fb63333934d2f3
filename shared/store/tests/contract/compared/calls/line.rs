//! Those who come and wait.

use vestibule_domain::{
    SeatEnds,
    inlet::{AlarmState, Period},
    network_limits::NetworkLimits,
    presence::{Band, Spot},
};
use vestibule_store::{
    Departure, EndedAs, GivenUp, Join, JoinMode, LetIn, Replacing, Revocation, Spending,
};

use super::{Called, Chances, Pair};
use crate::compared::{
    pair::{Memory, Side},
    random::{epoch, issuer, key_id, maybe, number, once_in, one, region},
};

pub(super) async fn join(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    let networks: Vec<u64> = match chances.below(4) {
        0 => (0..=chances.below(5)).map(|_| one(chances, &[1, 2, u64::MAX])).collect(),
        _ => Vec::new(),
    };
    let call = if once_in(chances, 4) {
        one(chances, &["a", "b", "c"]).to_owned()
    } else {
        chances.below(u64::MAX).to_string()
    };
    let join = Join {
        call: &call,
        again: once_in(chances, 6),
        region: region(chances),
        count: match chances.below(10) {
            _ if !networks.is_empty() => networks.len() as u64,
            0 if once_in(chances, 4) => 130_570,
            0 => 0,
            1 => chances.below(2_000),
            2 | 3 => chances.below(60),
            _ => 1 + chances.below(4),
        },
        mode: if once_in(chances, 3) { JoinMode::Queue } else { JoinMode::Enter },
        key_id: key_id(chances),
        max_session_seconds: maybe(chances, &[1, 60, 400]),
        issuer: issuer(chances),
        networks: &networks,
        limits: NetworkLimits {
            joins_per_minute: one(chances, &[None, Some(2), Some(9)]),
            places: one(chances, &[None, Some(3)]),
            seats: one(chances, &[None, Some(1), Some(4)]),
            only_logs: once_in(chances, 4),
        },
    };
    let name = format!("join({id}, {join:?})");
    pair.one(name, async |side| side.store.join(&id, &join).await).await?;
    Ok(())
}

pub(super) async fn check_in(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, memory) = (pair.rooms[room].clone(), &pair.memory[room]);
    let epoch = epoch(chances, memory);
    let check_ins: Vec<(Spot, Band)> =
        (0..=chances.below(6)).map(|_| (spot(chances, memory), one(chances, &Band::ALL))).collect();
    let name = format!("check_in({id}, {epoch}, {check_ins:?})");
    pair.one(name, async |side| side.store.check_in(&id, epoch, check_ins.iter().copied()).await)
        .await?;
    Ok(())
}

fn spot(chances: &mut Chances, memory: &Memory) -> Spot {
    let number = number(chances, memory);
    match chances.below(4) {
        0 => Spot::Pool { draw: one(chances, &[0, 0, 1, 9]), number },
        _ => Spot::Position(number),
    }
}

pub(super) async fn give_up(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, memory) = (pair.rooms[room].clone(), &pair.memory[room]);
    let epoch = epoch(chances, memory);
    let place = |_| {
        let number = number(chances, memory);
        let position = memory.snapshot.as_ref().and_then(|room| room.position(number));
        let network = once_in(chances, 3).then_some(1);
        GivenUp { number, position: position.filter(|_| !once_in(chances, 6)), network }
    };
    let places: Vec<GivenUp> = (0..3).map(place).collect();
    let draws = memory.snapshot.as_ref().map_or(0, |room| room.draws.len());
    let name = format!("give_up({id}, {epoch}, {places:?})");
    pair.one(name, async |side| side.store.give_up(&id, (epoch, draws), &places).await).await?;
    Ok(())
}

pub(super) async fn revoke(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, memory) = (pair.rooms[room].clone(), &pair.memory[room]);
    let number = number(chances, memory);
    let position = memory.snapshot.as_ref().and_then(|room| room.position(number));
    let revocation = Revocation {
        reset_epoch: epoch(chances, memory),
        number,
        position: position.filter(|_| !once_in(chances, 6)),
        draws: memory.snapshot.as_ref().map_or(0, |room| room.draws.len()),
        seat: SeatEnds::AtOnce,
    };
    let name = format!("revoke({id}, {revocation:?})");
    pair.one(name, async |side| side.store.revoke(&id, revocation).await).await?;
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

pub(super) async fn let_in(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    let nth: u64 = chances.below(8);
    let period = Period {
        name: format!("0-60-{nth}"),
        increment: one(chances, &[1, 20]),
        kept_seconds: 600,
    };
    let leader_epoch = one(chances, &[1, 2, 9]);
    let name = format!("let_in({id}, {period:?}, {leader_epoch})");
    let let_in = LetIn { period: &period, leader_epoch };
    pair.one(name, async |side| side.store.let_in(&id, let_in).await).await?;
    Ok(())
}

pub(super) async fn note_alarm(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    let alarm = one(chances, &[AlarmState::Ok, AlarmState::Alarm, AlarmState::InsufficientData]);
    let at_ms = once_in(chances, 2).then(|| pair.clock.now_ms() - one(chances, &[0, 9_000_u64]));
    let name = format!("note_alarm({id}, {alarm:?}, {at_ms:?})");
    pair.one(name, async |side| side.store.note_alarm(&id, alarm, at_ms).await).await?;
    pair.one(format!("inlet_alarm({id})"), async |side| side.store.inlet_alarm(&id).await).await?;
    Ok(())
}

pub(super) async fn replace_gone(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, memory) = (pair.rooms[room].clone(), &pair.memory[room]);
    let reset_epoch = epoch(chances, memory);
    let seats = [SeatEnds::AtOnce, SeatEnds::WithToken, SeatEnds::WithAwsStyleToken];
    let departure = |_| Departure {
        number: number(chances, memory),
        ended_as: one(chances, &[EndedAs::Completed, EndedAs::Abandoned]),
        seat: one(chances, &seats),
    };
    let departures: Vec<Departure> = (0..3).map(departure).collect();
    let (exited, max_size) = (one(chances, &[0, 1, 5, 40]), one(chances, &[1, 10, 100]));
    let replacing = Replacing { reset_epoch, departures: &departures, exited, max_size };
    let call = format!("call-{}", chances.below(50));
    let name = format!("replace_gone({id}, {call}, {replacing:?})");
    let replace = async |side: &Side| side.store.replace_gone(&id, &call, replacing).await;
    pair.one(name, replace).await?;
    Ok(())
}

pub(super) async fn spend(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    let now = pair.memory[room].snapshot.as_ref().map_or(0, |room| room.now_ms / 1000);
    let mark = |chances: &mut Chances| Spending {
        is_taken_back: chances.below(4) == 0,
        name: one(chances, &["a", "b", "c"]).to_owned(),
        expires_at: now + one(chances, &[0, 1, 60, 600]),
    };
    let marks: Vec<Spending> = (0..=chances.below(3)).map(|_| mark(chances)).collect();
    let name = format!("spend({id}, {marks:?})");
    pair.one(name, async |side| side.store.spend(&id, &marks).await).await?;
    Ok(())
}
