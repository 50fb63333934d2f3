//! What a leader does in a tick.

use vestibule_domain::{
    Draw, RoomSnapshot,
    draw::{DrawRecord, Pool},
    plan::{Plan, TickInput},
    schedule::EventState,
    serving::Serving,
    tick::TickDecision,
};
use vestibule_store::{Push, TickReport};

use super::{Called, Chances, Pair};
use crate::{
    compared::{
        pair::{Memory, Side},
        random::{epoch, leader, number, once_in, one},
    },
    world::decided,
};

/// Further on, nobody decides by the rules: counters that large are an operator's slip.
const FAR: u64 = 1 << 36;

/// Begins a tick, and as a rule goes on with it.
pub(super) async fn tick(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    let epoch = leader(chances, &mut pair.memory[room]);
    let mut chunks = pair.memory[room].roll.next();
    if once_in(chances, 6) {
        (chunks.line, chunks.pool) = ((0..chances.below(4)).collect(), vec![0, 1, 526_343]);
    }
    let settled = once_in(chances, 3);
    let name = format!("begin_tick({id}, {chunks:?}, {settled}, {epoch})");
    let begin = async |side: &Side| {
        let mut report = if settled {
            side.store.begin_settled_tick(&id, &chunks, epoch).await?
        } else {
            side.store.begin_tick(&id, &chunks, epoch).await?
        };
        // In the order of the server's tables.
        report.counted.line.sort_unstable_by_key(|count| count.chunk);
        Ok(report)
    };
    let [model, real] = pair.both(name, begin).await?;
    if model.is_some() {
        pair.sides[0].reports[room] = model;
        pair.sides[1].reports[room] = real;
    }
    if once_in(chances, 8) { Ok(()) } else { apply_plan(pair, chances, room).await }
}

/// Applies a plan made of the last report, which may be an old one.
async fn apply_plan(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    let Some(report) = &pair.sides[0].reports[room] else { return Ok(()) };
    let memory = &mut pair.memory[room];
    let input = called(report, memory);
    let decision = if input.queue_counter.max(input.serving_counter) > FAR {
        let plan = Plan::stay(&input, &Serving::default());
        TickDecision { plan, ..decided(&TickInput::default()) }
    } else {
        memory.ticks.decide(&input, report.settings())
    };
    let decision = changed(chances, decision, memory);
    let (leader, epoch) = (leader(chances, memory), epoch(chances, memory));
    let push = if once_in(chances, 8) { Push::Whole } else { Push::Difference };
    let name = format!("apply_plan({id}, {leader}, {epoch}, {decision:?}, {push:?})");
    let apply = async |side: &Side| {
        let report = side.reports[room].as_ref().unwrap();
        side.store.apply_plan(&id, leader, epoch, report, &decision, push).await
    };
    pair.one(name, apply).await?;
    Ok(())
}

/// The input of the tick that `report` began, by what the leader remembers.
fn called(report: &TickReport, memory: &mut Memory) -> TickInput {
    let TickReport { counters, counted, pool, in_force, .. } = report;
    let draws = draws(memory.snapshot.as_ref());
    memory.roll.call(counters, counted.clone(), pool, &draws, in_force)
}

/// Now and then another plan than the rules'.
fn changed(chances: &mut Chances, mut decision: TickDecision, memory: &Memory) -> TickDecision {
    if once_in(chances, 4) {
        let slots = || ["here", "there", "far-away"].into_iter().zip([3, 1, 7]);
        let take = usize::try_from(chances.below(4)).unwrap();
        decision.grants.regions =
            slots().take(take).map(|(region, slots)| (region.to_owned(), slots)).collect();
        decision.grants.anywhere = chances.below(5);
    }
    if once_in(chances, 6) {
        decision.plan.hazard_increase = one(chances, &[0, 1, 1 << 40]);
        decision.plan.serving_counter = number(chances, memory);
        decision.plan.promised = chances.below(5);
    }
    decision
}

pub(super) async fn switch_phase(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, now_ms) = (pair.rooms[room].clone(), pair.clock.now_ms());
    let memory = &mut pair.memory[room];
    let (leader, config) = (leader(chances, memory), memory.config.clone());
    let at_ms = if once_in(chances, 4) { now_ms + chances.below(600_000) } else { now_ms };
    let name = format!("switch_phase({id}, {leader}, version {}, {at_ms})", config.version);
    pair.one(name, async |side| side.store.switch_phase(&id, leader, &config, at_ms).await).await?;
    Ok(())
}

pub(super) async fn draw(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    let now_s = pair.clock.now_ms() / 1000;
    let leader = leader(chances, &mut pair.memory[room]);
    let last = pair.sides[0].reports[room].as_ref();
    let pool = match last.filter(|_| !once_in(chances, 5)) {
        Some(report) => report.pool.clone(),
        None => Pool { first: chances.below(3), last: chances.below(9), draw_id: "d".into() },
    };
    let memory = &pair.memory[room];
    let added = Draw::new(pool.first.max(1), pool.count().min(100_000), [7; 32]);
    let event = memory.config.events.iter().find(|event| event.draw);
    let record = event
        .and_then(|event| DrawRecord::before_draw(&id, event, EventState::Running))
        .map(|record| record.drawn(&added, &[7; 32], None, now_s))
        .filter(|_| !once_in(chances, 4));
    let all = (!pool.is_empty() && !once_in(chances, 4))
        .then(|| [draws(memory.snapshot.as_ref()), vec![added]].concat());
    let name = format!("draw({id}, {leader}, {pool:?}, {all:?}, {record:?})");
    let call = async |side: &Side| {
        side.store.draw(&id, leader, &pool, all.as_deref(), record.as_ref()).await
    };
    pair.one(name, call).await?;
    let name = format!("read_draws({id})");
    pair.one(name, async |side| side.store.read_draws(&id).await).await?;
    Ok(())
}

fn draws(room: Option<&RoomSnapshot>) -> Vec<Draw> {
    room.map_or_else(Vec::new, |room| room.draws.clone())
}
