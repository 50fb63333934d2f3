//! What a store loses, and what it is given back.

use std::collections::BTreeMap;

use vestibule_domain::{
    Progress,
    presence::Band,
    reconciliation::{Evidence, Finding, Testimony, UNSEEN_NUMBERS},
};
use vestibule_store::{Account, Ending, Round, Seat};

use super::{Called, Chances, Pair};
use crate::{
    compared::{
        pair::Side,
        random::{epoch, instance, leader, once_in, one},
    },
    world::testimony,
};

/// The parts of a room, by the last word of their keys.
const PARTS: [&str; 22] = [
    "line",
    "line",
    "settings",
    "sessions",
    "records",
    "tokens",
    "entered:0",
    "unattended:0",
    "rate",
    "rows",
    "grants",
    "draws",
    "door",
    "asked",
    "passed",
    "seatless",
    "there",
    "traffic",
    "ended",
    "holds",
    "entered:pools:0",
    "testimony",
];

/// One key of a room is lost, or all of it, or everything.
pub(super) async fn lose(pair: &mut Pair, chances: &mut Chances, room: usize) {
    if once_in(chances, 6) {
        return pair.command("FLUSHALL".to_owned(), &redis::cmd("FLUSHALL")).await;
    }
    let part = one(chances, &PARTS);
    let key = if part == "there" {
        let generation = Band::ALL[0].generation(pair.clock.now_ms());
        format!("vestibule:room:{{{}}}:there:line:0:{generation}:0", pair.rooms[room])
    } else {
        format!("vestibule:room:{{{}}}:{part}", pair.rooms[room])
    };
    pair.command(format!("{key} is lost"), redis::cmd("DEL").arg(key)).await;
}

/// Brings a room to what somebody has seen: as a rule a part of it was lost before.
pub(super) async fn reconcile(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, memory) = (pair.rooms[room].clone(), &mut pair.memory[room]);
    let Some(last) = memory.snapshot.clone() else { return Ok(()) };
    let (leader, config) = (leader(chances, memory), memory.config.clone());
    let mut seen = testimony(&last);
    if once_in(chances, 2) {
        seen.queue_counter += chances.below(50);
        seen.serving_counter += one(chances, &[-5, 0, 20]);
        seen.admitted += chances.below(4);
        seen.stamp.seq += chances.below(9);
    }
    seen.last.figures.unattended = chances.below(3);
    let silent = if once_in(chances, 3) { vec!["a".to_owned()] } else { Vec::new() };
    if !once_in(chances, 4) {
        let keys = ["line", "settings", "rows", "rate"];
        for part in keys.iter().take(usize::try_from(chances.below(5)).unwrap()) {
            let key = format!("vestibule:room:{{{id}}}:{part}");
            pair.command(format!("{key} is lost"), redis::cmd("DEL").arg(key)).await;
        }
    }
    let round = Round { room: &id, name: "r", epoch: leader };
    let name = format!("call_witnesses({id}, {leader})");
    let called = async |side: &Side| side.store.call_witnesses(&id, leader, "r").await;
    let Some(called) = pair.one(name, called).await? else { return Ok(()) };
    let evidence = Evidence {
        stored: called.stored.as_ref(),
        is_partial: called.is_partial || once_in(chances, 2),
        testimonies: std::slice::from_ref(&seen),
        is_one_silent: !silent.is_empty(),
        is_one_gone: false,
        gap: UNSEEN_NUMBERS,
        unseen: called.unseen,
        buried: 0,
    };
    let Finding::IsBehind(to) = evidence.find() else {
        pair.one("reopen".to_owned(), async |side| side.store.reopen(round, None, &[]).await)
            .await?;
        return Ok(());
    };
    let name = format!("reconcile({id}, {leader}, {to:?})");
    pair.one(name, async |side| side.store.reconcile(round, &to, &config).await).await?;
    let (mut seats, endings) = (seats(chances, memory_numbers(&seen)), endings(chances, &seen));
    let on_record = async |side: &Side| side.store.seats_on_record(&id).await;
    if let Some(on_record) = pair.one("seats_on_record".to_owned(), on_record).await? {
        seats.extend(on_record.into_iter().filter(|_| once_in(chances, 2)));
    }
    let epoch = to.latest.reset_epoch - u64::from(once_in(chances, 8));
    let name = format!("rebuild({seats:?}, {endings:?})");
    pair.one(name, async |side| side.store.rebuild(round, epoch, &seats, &endings, Some).await)
        .await?;
    let reopened = async |side: &Side| side.store.reopen(round, Some(&to), &silent).await;
    pair.one("reopen".to_owned(), reopened).await?;
    if once_in(chances, 2) {
        let number = chances.below(60);
        let dismissed = async |side: &Side| {
            let seen = Progress { queue_counter: number, admitted: number / 2 };
            let left_out = [(number / 3, number / 2), (number, number + 9)];
            side.store.dismiss(round, epoch, seen, &left_out, &[]).await
        };
        pair.one(format!("dismiss({number})"), dismissed).await?;
    }
    Ok(())
}

fn memory_numbers(seen: &Testimony) -> u64 {
    seen.queue_counter.min(60) + 1
}

fn seats(chances: &mut Chances, numbers: u64) -> Vec<Seat> {
    let seat = |chances: &mut Chances| {
        let (issued_at, kind) = (4_000_000_000 + chances.below(9), one(chances, &["v", "a"]));
        let expires_at = issued_at + chances.below(400);
        let record = format!("{issued_at}|{expires_at}|0|{kind}|k|r|i");
        Seat { number: 1 + chances.below(numbers), record, expires_at, seen_at: (1, 1) }
    };
    (0..chances.below(5)).map(|_| seat(chances)).collect()
}

fn endings(chances: &mut Chances, seen: &Testimony) -> Vec<Ending> {
    let number = |chances: &mut Chances| 1 + chances.below(memory_numbers(seen));
    let ending = |chances: &mut Chances| Ending {
        number: number(chances),
        expires_at: 4_000_000_000 + chances.below(400),
        is_place: chances.below(4) == 0,
    };
    (0..chances.below(3)).map(|_| ending(chances)).collect()
}

/// A service tells something of a room.
pub(super) async fn testify(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, memory, who) = (pair.rooms[room].clone(), &pair.memory[room], instance(chances));
    let account = Account {
        round: "r".to_owned(),
        testimony: memory.snapshot.as_ref().map(testimony),
        config: Some(memory.config.clone()),
        draws: BTreeMap::new(),
        seats_epoch: epoch(chances, memory),
        seats: seats(chances, 20),
        endings: Vec::new(),
        places_epoch: 0,
        places: Vec::new(),
        ..Account::default()
    };
    let name = format!("testify({id}, {who}, {account:?})");
    pair.one(name, async |side| side.store.testify(&id, who, &account).await).await?;
    Ok(())
}
