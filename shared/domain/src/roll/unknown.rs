//! Of whom nobody knows whether they are there.

use super::RoomCounters;
use crate::{
    presence::{Crowd, Presence, tally::Crowds},
    schedule::InForce,
};

/// AWS-style visitors; and while presence is incomplete, everyone in line, at these places, who has not been heard.
pub(super) fn unknown(
    (first, last): (u64, u64),
    crowds: &Crowds,
    in_pool: Option<&Crowds>,
    counters: &RoomCounters,
    in_force: &InForce,
) -> Vec<Crowd> {
    let fewer = |crowd: &Crowd| Crowd { count: -crowd.count, ..*crowd };
    if counters.now_ms < counters.presence_from_ms && first <= last {
        #[expect(clippy::cast_precision_loss, reason = "positions have 36 bits")]
        let everyone = Crowd { first, last, count: (last + 1 - first) as f64 };
        // Who waits for a draw has its bit by number, and no position.
        let pooled = in_pool.iter().flat_map(|pool| pool.there.iter().chain(&pool.over));
        let known = crowds.there.iter().chain(&crowds.over).chain(pooled);
        let known: Vec<_> = known.map(fewer).collect();
        let nobody = nobody(counters, &Presence::new(&known));
        let unknown: Vec<_> = std::iter::once(everyone).chain(known).chain(nobody).collect();
        let there = crowds.there.iter().chain(in_pool.iter().flat_map(|pool| &pool.there));
        let is_ordered = in_force.settings.queueing_method.rules().is_ordered();
        let there = there.map(|crowd| crowd.count).sum();
        return no_more_than_wait(unknown, there, counters, is_ordered);
    }
    // Whoever asks by its number, and waits for a draw, is counted in the pool.
    let heard = in_pool.iter().flat_map(|pool| &pool.polling).map(fewer);
    crowds.unattended.iter().copied().chain(heard).collect()
}

/// Those who would be in line if somebody had each number that was left out, as less than nobody. Whoever was heard
/// is among `known`, which is less than nobody, too.
fn nobody(counters: &RoomCounters, known: &Presence) -> Vec<Crowd> {
    let behind = |(first, last): &(u64, u64)| (*first.max(&(counters.expired_position + 1)), *last);
    let left_out = counters.left_out.iter().map(behind).filter(|(first, last)| first <= last);
    left_out
        .map(|(first, last)| {
            #[expect(clippy::cast_precision_loss, reason = "positions have 36 bits")]
            let places = (last + 1 - first) as f64;
            let heard = -known.between(first - 1, last);
            Crowd { first, last, count: -(places - heard).max(0.0) }
        })
        .collect()
}

/// Of whom nobody knows at most as many as wait by the counters, beside those who are `there`: of the others the store
/// has lost that they have entered. Where there is an order, these stand before the serving counter.
#[expect(clippy::cast_precision_loss, reason = "positions have 36 bits")]
fn no_more_than_wait(
    mut unknown: Vec<Crowd>,
    there: f64,
    counters: &RoomCounters,
    is_ordered: bool,
) -> Vec<Crowd> {
    let people = Presence::new(&unknown);
    let wait = counters.queue_counter.saturating_sub(counters.over) as f64;
    let all = people.between(counters.expired_position, counters.queue_counter);
    let (left, too_many) = ((wait - there).max(0.0), all - (wait - there).max(0.0));
    if too_many <= 0.0 {
        return unknown;
    }
    if is_ordered {
        let (first, last) = (counters.expired_position + 1, counters.serving());
        let served = people.between(first - 1, last);
        unknown.push(Crowd { first, last, count: -too_many.min(served) });
        unknown.retain(|crowd| crowd.first <= crowd.last);
        return unknown;
    }
    unknown.iter().map(|crowd| Crowd { count: crowd.count * left / all, ..*crowd }).collect()
}
