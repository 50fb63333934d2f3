//! Those who are served, and those inside.

use vestibule_domain::{MAX_QUEUE_NUMBER, Place, SeatEnds};
use vestibule_store::{
    CallerBindings, Claim, ClaimNetwork, Departure, EndedAs, SessionKind, Touch,
};

use super::{Called, Chances, Pair};
use crate::compared::{
    pair::Memory,
    random::{epoch, issuer, key_id, maybe, number, once_in, one},
};

/// A time about now, unix seconds.
fn about(chances: &mut Chances, now_s: u64) -> u64 {
    match chances.below(4) {
        0 => now_s,
        1 => now_s + chances.below(400),
        _ => now_s - chances.below(1_200),
    }
}

fn some_claim(chances: &mut Chances, memory: &Memory, now_s: u64) -> Claim {
    let room = memory.snapshot.as_ref();
    let who = number(chances, memory);
    let position = match chances.below(12) {
        0 => None,
        1 if once_in(chances, 4) => Some(MAX_QUEUE_NUMBER),
        1 => Some(number(chances, memory)),
        _ => room.map_or(Some(who), |room| room.position(who)),
    };
    let entered_at = u32::try_from(about(chances, now_s)).unwrap();
    Claim {
        reset_epoch: epoch(chances, memory),
        place: Place { number: who, entered_at, region: 1 },
        position,
        rank: match chances.below(6) {
            0 => MAX_QUEUE_NUMBER + chances.below(9),
            1 => chances.below(20),
            _ => position.unwrap_or(MAX_QUEUE_NUMBER),
        },
        draws: room.map_or(0, |room| room.draws.len()) + usize::from(once_in(chances, 12)),
        won: once_in(chances, 5),
        kind: kind(chances),
        held_ms: one(chances, &[0, 0, 100, 2_000, 5_000]),
        hold: one(chances, &[false, false, true]),
        request_id: format!("id-{who}"),
        issuer: issuer(chances).to_owned(),
        validity_seconds: maybe(chances, &[0, 1, 60, 10_000]).filter(|_| once_in(chances, 3)),
        network: once_in(chances, 3).then(|| ClaimNetwork {
            digest: one(chances, &[1, 2, u64::MAX]),
            seats: one(chances, &[None, Some(1), Some(3)]),
            only_logs: once_in(chances, 4),
        }),
        max_session_seconds: maybe(chances, &[1, 60, 400]),
        caller: caller(chances),
    }
}

fn caller(chances: &mut Chances) -> CallerBindings {
    let binding = |text: &str| text.parse().unwrap();
    match chances.below(6) {
        0 => CallerBindings::unknown(),
        1 => CallerBindings::any_of(&[binding("n1")]),
        2 => CallerBindings::any_of(&[binding("n2"), binding("n1")]),
        3 => CallerBindings::any_of(&[binding("k1"), binding("u1")]),
        _ => CallerBindings::default(),
    }
}

fn kind(chances: &mut Chances) -> SessionKind {
    one(chances, &[SessionKind::Visitor, SessionKind::Visitor, SessionKind::AwsStyle])
}

pub(super) async fn claim(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, now_s) = (pair.rooms[room].clone(), pair.clock.now_ms() / 1000);
    let memory = &pair.memory[room];
    let claims: Vec<Claim> =
        (0..chances.below(7)).map(|_| some_claim(chances, memory, now_s)).collect();
    let key_id = key_id(chances);
    let name = format!("claim({id}, {key_id}, {claims:?})");
    pair.one(name, async |side| side.store.claim(&id, key_id, &claims).await).await?;
    Ok(())
}

pub(super) async fn touch(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, now_s) = (pair.rooms[room].clone(), pair.clock.now_ms() / 1000);
    let memory = &pair.memory[room];
    let touch = |_| {
        let who = number(chances, memory);
        let issued_at = about(chances, now_s);
        Touch {
            reset_epoch: epoch(chances, memory),
            number: who,
            position: if once_in(chances, 6) { number(chances, memory) } else { who },
            generation: one(chances, &[0, 1, 1, 2]),
            issued_at,
            expires_at: issued_at + one(chances, &[0, 60, 300, 3_000]),
            max_session_seconds: maybe(chances, &[1, 60, 400]),
            caller: caller(chances),
        }
    };
    let touches: Vec<Touch> = (0..4).map(touch).collect();
    let (key_id, issuer) = (key_id(chances), issuer(chances));
    let name = format!("touch({id}, {key_id}, {issuer}, {touches:?})");
    pair.one(name, async |side| side.store.touch(&id, key_id, issuer, &touches).await).await?;
    Ok(())
}

pub(super) async fn leave(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, memory) = (pair.rooms[room].clone(), &pair.memory[room]);
    let epoch = epoch(chances, memory);
    let ends = [EndedAs::Completed, EndedAs::Abandoned, EndedAs::Revoked];
    let seats = [SeatEnds::AtOnce, SeatEnds::WithToken, SeatEnds::WithAwsStyleToken];
    let departure = |_| Departure {
        number: number(chances, memory),
        ended_as: one(chances, &ends),
        seat: one(chances, &seats),
    };
    let departures: Vec<Departure> = (0..3).map(departure).collect();
    let name = format!("leave({id}, {epoch}, {departures:?})");
    pair.one(name, async |side| side.store.leave(&id, epoch, &departures).await).await?;
    Ok(())
}

pub(super) async fn redeem(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, memory) = (pair.rooms[room].clone(), &pair.memory[room]);
    let (epoch, number) = (epoch(chances, memory), number(chances, memory));
    let calls = one(chances, &[&[][..], &[1], &[2], &[3, 1]]);
    let name = format!("redeem({id}, {epoch}, {number}, {calls:?})");
    pair.one(name, async |side| side.store.redeem(&id, epoch, number, calls).await).await?;
    Ok(())
}

pub(super) async fn extend_claim_window(
    pair: &mut Pair,
    chances: &mut Chances,
    room: usize,
) -> Called {
    let (id, memory) = (pair.rooms[room].clone(), &pair.memory[room]);
    let (epoch, position) = (epoch(chances, memory), number(chances, memory));
    let name = format!("extend_claim_window({id}, {epoch}, {position})");
    pair.one(name, async |side| side.store.extend_claim_window(&id, epoch, position).await).await?;
    Ok(())
}

pub(super) async fn position_expiry(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, now_s) = (pair.rooms[room].clone(), pair.clock.now_ms() / 1000);
    let memory = &pair.memory[room];
    let (epoch, number) = (epoch(chances, memory), number(chances, memory));
    let entered_at = u32::try_from(about(chances, now_s)).unwrap();
    let place = Place { number, entered_at, region: 1 };
    let name = format!("position_expiry({id}, {epoch}, {place:?})");
    pair.one(name, async |side| side.store.position_expiry(&id, epoch, &place, number).await)
        .await?;
    Ok(())
}
