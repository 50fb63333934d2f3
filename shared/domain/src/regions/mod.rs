//! Regions: how the slots for newcomers are divided among the places where people arrive.
//!
//! # The rule
//! 1. *History.* The shares of minute *m* come from minute *m* - 2 ([`minute_of_history`]): the
//!    newest one that can no longer change while its shares are in use.
//! 2. *Share.* A region's share is its newcomers in that minute over the larger of all newcomers
//!    in it and the room's `new_users_per_minute`, if it has one. The rest up to 1 is the
//!    share of *anywhere*. Without history everything is anywhere.
//! 3. *Grant.* Of `slots`, each region gets its share, rounded down; anywhere gets the rest
//!    ([`Shares::divide`]). Nothing is lost in rounding.
//! 4. *Take.* Slots wanted in a region are taken from (a) the region's own grant, then (b)
//!    anywhere, then (c) the unused grants of other regions, the largest first and equal ones in
//!    order of their names ([`Grants::take`]). So nobody is queued while a slot is free in
//!    any region, and no more slots are taken than there are.
//!
//! # Why the limit is in the denominator
//! Where fewer people come than the limit allows, history explains only part of the slots. Dividing
//! the rest by the same history would give most of the room to a region that had 2 of 3 visitors by
//! accident. So each region is granted what it needed, and the rest is open to all. Where more
//! people come than the limit allows, or there is no limit, history explains every slot.
//!
//! This module computes numbers of slots. Which visitors within a region get them is the decision
//! of the queueing method. The join script does step 4 in Redis and must follow the rule above.

use std::collections::BTreeMap;

/// Slots or people by region, ordered by the name of the region.
pub type ByRegion = BTreeMap<String, u64>;

/// How many minutes before the current one the history for the shares is taken.
pub const HISTORY_LAG_MINUTES: u64 = 2;

/// The share of the slots that each region is granted: step 2 above.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shares {
    newcomers: ByRegion,
    /// The denominator of the shares; at least the sum of the newcomers.
    of: u64,
}

/// Slots that have not been taken: step 3 above.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grants {
    /// Each region's own slots.
    pub regions: ByRegion,
    /// Slots open to all regions.
    pub anywhere: u64,
}

/// How many slots one call took from where: step 4 above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Taken {
    /// From the region's own grant.
    pub own: u64,
    /// From the slots open to all regions.
    pub anywhere: u64,
    /// From unused grants of other regions.
    pub lent: u64,
}

/// The minute whose newcomers decide the shares of `now_minute` (minutes since 1970).
#[must_use]
pub fn minute_of_history(now_minute: u64) -> u64 {
    now_minute.saturating_sub(HISTORY_LAG_MINUTES)
}

// === impl Shares ===

impl Shares {
    /// The shares that follow from the `newcomers` of one minute, in a room that lets in `limit` a
    /// minute.
    #[must_use]
    pub fn from_newcomers(newcomers: &ByRegion, limit: Option<u64>) -> Self {
        let all: u64 = newcomers.values().sum();
        Self { newcomers: newcomers.clone(), of: all.max(limit.unwrap_or(0)) }
    }

    /// The share of `region`, from 0 to 1.
    #[must_use]
    pub fn share(&self, region: &str) -> f64 {
        ratio(self.newcomers.get(region).copied().unwrap_or(0), self.of)
    }

    /// The share that is open to every region, from 0 to 1.
    #[must_use]
    pub fn anywhere(&self) -> f64 {
        let explained: u64 = self.newcomers.values().sum();
        1.0 - ratio(explained, self.of)
    }

    /// Divides `slots`; the grants add up to exactly that.
    #[must_use]
    pub fn divide(&self, slots: u64) -> Grants {
        let regions: ByRegion = (self.newcomers.iter())
            .map(|(region, count)| (region.clone(), part(slots, *count, self.of)))
            .collect();
        let anywhere = slots - regions.values().sum::<u64>();
        Grants { regions, anywhere }
    }

    /// Divides `seats` among `waiting` people, when there are fewer seats than people. Each region
    /// gets its share, up to the number of people waiting there; the rest goes to those still
    /// waiting, in proportion to their numbers. No seat stays free while anybody waits, and no
    /// region gets more than wait there.
    #[must_use]
    pub fn seat(&self, seats: u64, waiting: &ByRegion) -> ByRegion {
        let mut grants = self.divide(seats);
        let mut seated: ByRegion = (waiting.iter())
            .map(|(region, count)| (region.clone(), grants.take_own(region, *count)))
            .collect();
        let still: ByRegion = (waiting.iter())
            .map(|(region, count)| (region.clone(), count - seated[region]))
            .collect();
        for (region, more) in in_proportion(grants.left(), &still) {
            *seated.entry(region).or_default() += more;
        }
        seated
    }
}

// === impl Grants ===

impl Grants {
    /// Takes up to `wanted` slots for newcomers in `region`, in the order of step 4; fewer only
    /// when no slot is left in any region.
    pub fn take(&mut self, region: &str, wanted: u64) -> Taken {
        let own = self.take_own(region, wanted);
        let anywhere = self.anywhere.min(wanted - own);
        self.anywhere -= anywhere;
        let lent = self.borrow(wanted - own - anywhere);
        Taken { own, anywhere, lent }
    }

    /// How many slots are left in all.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.anywhere + self.regions.values().sum::<u64>()
    }

    fn take_own(&mut self, region: &str, wanted: u64) -> u64 {
        self.regions.get_mut(region).map_or(0, |slots| take_from(slots, wanted))
    }

    /// From the largest grant first; equal ones in the order of their names.
    fn borrow(&mut self, wanted: u64) -> u64 {
        let mut unused: Vec<&mut u64> = self.regions.values_mut().collect();
        unused.sort_by_key(|slots| std::cmp::Reverse(**slots));
        unused.into_iter().fold(0, |lent, slots| lent + take_from(slots, wanted - lent))
    }
}

// === impl Taken ===

impl Taken {
    /// How many slots were taken.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.own + self.anywhere + self.lent
    }
}

fn take_from(slots: &mut u64, wanted: u64) -> u64 {
    let taken = wanted.min(*slots);
    *slots -= taken;
    taken
}

/// `whole * count / of`, rounded down, and 0 if `of` is 0; `count` is at most `of`.
fn part(whole: u64, count: u64, of: u64) -> u64 {
    divided(whole, count, of).0
}

/// `whole * count / of` and the remainder.
fn divided(whole: u64, count: u64, of: u64) -> (u64, u64) {
    let product = u128::from(whole) * u128::from(count);
    let of = u128::from(of.max(1));
    let narrow = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
    (narrow(product / of), narrow(product % of))
}

/// `seats` in proportion to `waiting`, by largest remainders; all of them are given unless fewer
/// people wait.
fn in_proportion(seats: u64, waiting: &ByRegion) -> ByRegion {
    let all: u64 = waiting.values().sum();
    let seats = seats.min(all);
    let mut parts: Vec<(&String, u64, u64)> = (waiting.iter())
        .map(|(region, count)| {
            let (part, remainder) = divided(seats, *count, all);
            (region, part, remainder)
        })
        .collect();
    parts.sort_by_key(|(_, _, remainder)| std::cmp::Reverse(*remainder));
    let mut over = seats - parts.iter().map(|(_, part, _)| part).sum::<u64>();
    let mut round_up = |part| part + take_from(&mut over, 1);
    parts.into_iter().map(|(region, part, _)| (region.clone(), round_up(part))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "only shown; slots are divided in integers")]
fn ratio(count: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { count as f64 / of as f64 }
}

#[cfg(test)]
mod tests;
