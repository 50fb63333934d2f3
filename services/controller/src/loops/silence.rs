//! Who is silent when the leader asks what was seen of a room, though it may have seen what nobody else has.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;
use vestibule_domain::{RoomSnapshot, Stamp};
use vestibule_store::Account;

/// What is known of a room.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heard<'a> {
    /// The last state that the leader has heard of, and when.
    pub(super) own: Option<&'a (Stamp, Instant)>,
    /// What Redis holds.
    pub(super) stored: Option<&'a RoomSnapshot>,
    /// Those that had stopped, and have seen nothing that it does not hold.
    pub(super) stopped: &'a BTreeSet<String>,
    /// What services have told, by their names.
    pub(super) accounts: &'a BTreeMap<String, &'a Account>,
}

// === impl Heard ===

impl Heard<'_> {
    /// Those who have told nothing, and may have been there after the last that is known of the room. `witnesses_after`:
    /// who may have been there after a moment, as far as the leader knows; `None`: ever. A leader that has just started
    /// may know nobody, once Redis is lost; others do.
    ///
    /// Of who is on the other side of a split neither side has heard anything. So what somebody has heard counts only
    /// where no state is known that does not come before its own. And who was silent the last time may have been on
    /// another side since, and have come back at any moment. Who said goodbye to the server that holds the room need not
    /// be heard on any side, but for those.
    pub(super) fn silent(
        self,
        witnesses_after: impl FnOnce(Option<Instant>) -> BTreeSet<String>,
    ) -> Vec<String> {
        let own = self.own.filter(|(stamp, _)| self.is_last(stamp));
        let is_told = |name: &String| self.accounts.contains_key(name);
        let is_gone = |name: &String| {
            self.stopped.contains(name)
                || self.well_heard().any(|account| account.gone.contains(name))
        };
        let witnesses = witnesses_after(own.map(|(_, at)| *at)).into_iter();
        let others = self.accounts.values().flat_map(|account| account.there.iter().cloned());
        let there = witnesses.chain(others).filter(|name| !is_gone(name)).chain(self.awaited());
        let silent: BTreeSet<String> = there.filter(|name| !is_told(name)).collect();
        silent.into_iter().collect()
    }

    /// Those who were silent the last time, as the latest state has it.
    fn awaited(&self) -> impl Iterator<Item = String> {
        let told = self.accounts.values().filter_map(|account| account.testimony.as_ref());
        let states = told.map(|testimony| &testimony.last).chain(self.stored);
        let latest = states.max_by_key(|state| state.stamp().age());
        latest.into_iter().flat_map(|state| state.awaits.iter().cloned())
    }

    /// Those who were silent the last time, as Redis has it, and have told nothing.
    pub(super) fn awaited_before(&self) -> impl Iterator<Item = &String> {
        let awaited = self.stored.into_iter().flat_map(|stored| &stored.awaits);
        awaited.filter(|name| !self.accounts.contains_key(*name))
    }

    /// The accounts of those who have heard of all states.
    fn well_heard(&self) -> impl Iterator<Item = &Account> {
        self.accounts.values().copied().filter(|account| {
            account.testimony.as_ref().is_some_and(|testimony| self.is_last(&testimony.stamp))
        })
    }

    /// Whether all known states are of the time of this one, or come before it.
    fn is_last(&self, stamp: &Stamp) -> bool {
        let told = self.accounts.values().filter_map(|account| account.testimony.as_ref());
        told.map(|testimony| &testimony.stamp)
            .chain(self.own.map(|(own, _)| own))
            .all(|other| stamp.continues(other))
            && self.stored.is_none_or(|stored| stamp.continues(&stored.stamp()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn snapshot(generation: u32) -> RoomSnapshot {
        serde_json::from_value(json!({
            "room": "r", "settings": {}, "reset_epoch": 7, "generation": generation, "nonce": "a", "now_ms": 0,
            "queue_counter": 0, "serving_counter": 0, "admitted": 0, "active": 0, "unconfirmed": 0, "expired": 0,
            "skipped": 0, "tokens_until": 0, "expired_position": 0, "admitted_last_minute": 0, "figures": {},
            "awaits": ["late"],
        }))
        .unwrap()
    }

    /// The account of a service that has heard of this generation, and knows who had stopped before.
    fn account(generation: u32, gone: &[&str]) -> Account {
        let last = snapshot(generation);
        let testimony = json!({
            "stamp": last.stamp(), "last": last, "queue_counter": 0, "serving_counter": 0, "served_at": (7, 1, 0),
            "admitted": 0,
        });
        Account {
            testimony: Some(serde_json::from_value(testimony).unwrap()),
            gone: gone.iter().map(|name| (*name).to_owned()).collect(),
            ..Account::default()
        }
    }

    /// Who is silent of `live`, of whom nobody has told anything, and of `dead`, who had stopped before the leader heard
    /// of `own`.
    fn silent(own: Option<u32>, accounts: &[Account]) -> Vec<String> {
        silent_but(&[], own, accounts)
    }

    /// The same, if Redis holds all that those have seen that had `stopped`.
    fn silent_but(stopped: &[&str], own: Option<u32>, accounts: &[Account]) -> Vec<String> {
        let stopped: BTreeSet<String> = stopped.iter().map(|name| (*name).to_owned()).collect();
        let own = own.map(|generation| (snapshot(generation).stamp(), Instant::now()));
        let names = ["a", "b"].map(str::to_owned);
        let accounts: BTreeMap<String, &Account> = names.into_iter().zip(accounts).collect();
        let stored = snapshot(1);
        let (own, stored) = (own.as_ref(), Some(&stored));
        let heard = Heard { own, stored, stopped: &stopped, accounts: &accounts };
        assert_eq!(heard.awaited_before().collect::<Vec<_>>(), ["late"]);
        heard.silent(|moment| {
            let all = ["a", "b", "live", "dead"].into_iter().map(str::to_owned);
            all.filter(|name| moment.is_none() || name != "dead").collect()
        })
    }

    #[test]
    fn who_had_stopped_before_the_leader_heard_of_the_room_need_not_be_heard() {
        assert_eq!(silent(Some(1), &[account(1, &[]), account(1, &[])]), ["late", "live"]);
        let unheard = silent(None, &[account(1, &[]), account(1, &[])]);
        assert_eq!(unheard, ["dead", "late", "live"]);
    }

    #[test]
    fn who_had_stopped_before_another_heard_of_the_room_need_not_be_heard_either() {
        let one_knows = [account(1, &[]), account(1, &["dead"])];
        assert_eq!(silent(None, &one_knows), ["late", "live"]);
    }

    #[test]
    fn of_whose_goodbye_redis_knows_it_holds_all_unless_that_one_is_awaited() {
        let other = Account { there: ["unknown".to_owned()].into(), ..account(1, &[]) };
        let stopped = ["live", "unknown", "late"];
        assert_eq!(silent_but(&stopped, None, &[account(1, &[]), other]), ["dead", "late"]);
    }

    #[test]
    fn whom_others_know_need_not_be_known_to_the_leader() {
        let other = Account { there: ["unknown".to_owned()].into(), ..account(1, &["live"]) };
        assert_eq!(silent(None, &[account(1, &["dead"]), other.clone()]), ["late", "unknown"]);
        let gone = account(1, &["live", "dead", "unknown"]);
        assert_eq!(silent(None, &[gone, other]), ["late"], "it had stopped before");
    }

    #[test]
    fn who_was_silent_the_last_time_may_have_come_back_unheard() {
        let gone = || [account(1, &["late"]), account(1, &[])];
        assert_eq!(silent(Some(1), &gone()), ["late", "live"]);
        let mut told = account(2, &[]);
        told.testimony.as_mut().unwrap().last.awaits.clear();
        assert_eq!(silent(Some(2), &[told, account(1, &[])]), ["live"], "it has spoken since");
    }

    #[test]
    fn what_one_side_of_a_split_has_heard_says_nothing_of_the_other() {
        let both = || [account(1, &["live", "dead"]), account(2, &[])];
        assert_eq!(silent(Some(1), &both()), ["dead", "late", "live"], "the leader was apart");
        assert_eq!(silent(Some(2), &both()), ["late", "live"], "those of before were apart");
    }
}
