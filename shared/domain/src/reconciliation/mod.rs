//! What a room is brought to when Redis has gone back to an older state of it, or has lost it: decided from what Redis
//! holds and from what the running services have seen. Each counter comes to the highest that anybody has seen.
//!
//! A service that was there and says nothing may have seen more than all others. While it is silent the worst is
//! assumed: every seat may be taken, and numbers may have been handed out that nobody knows of.

mod config;
mod serving_counter;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

pub use self::config::newest_config;
use self::serving_counter::serving_counter;
use crate::{Lineage, RoomSnapshot, Stamp, check_in, schedule::RoomConfig};

/// So many numbers a service that is silent may have handed out since anybody else heard of the room: some seconds of
/// as many as one Redis can hand out.
pub const UNSEEN_NUMBERS: u64 = 100_000;

/// What one service has seen of a room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Testimony {
    /// The latest state that it has seen.
    pub stamp: Stamp,
    /// The last snapshot that it has seen. It may be of an earlier state.
    pub last: RoomSnapshot,
    /// The highest queue number.
    pub queue_counter: u64,
    /// The serving counter of the latest state of which it knows that,
    pub serving_counter: i64,
    /// and the age of that state. The counter may go back, by an operator's act.
    pub served_at: (u64, u32, u64),
    /// The most sessions that ever began.
    pub admitted: u64,
    /// Up to which queue number it tells which are AWS-style visitors', since the last reset.
    #[serde(default)]
    pub known_upto: u64,
}

/// What is to be decided from.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// What Redis holds; `None`: it holds no such room.
    pub stored: Option<&'a RoomSnapshot>,
    /// Whether a part of what it holds was lost: then seats and admissions of the last minute may be more than it holds.
    pub is_partial: bool,
    /// What the services have seen.
    pub testimonies: &'a [Testimony],
    /// Whether a service is silent that may have seen more than all others.
    pub is_one_silent: bool,
    /// Whether a service has gone that may have renewed sessions which live on: it has handed out no number, and let
    /// nobody in, of which the others have not heard, but of such renewals nobody hears.
    pub is_one_gone: bool,
    /// How many numbers such a service may have handed out: see [`gap`].
    pub gap: u64,
    /// What Redis holds was restored from a backup: so many numbers may have been handed out since that was made.
    pub unseen: Option<u64>,
    /// The reset epoch up to which a room of this name was deleted; 0: none was.
    pub buried: u64,
}

/// What a room is brought to, in addition to its latest snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct Reconciliation {
    /// The latest snapshot of the room that anybody has: what is not named below is as it says.
    pub latest: RoomSnapshot,
    /// Whether what Redis holds is of before a reset, or nothing: then it is dropped.
    pub begins_anew: bool,
    /// Counts such events: above all that were seen.
    pub generation: u32,
    /// Above the `seq` of every state that was seen.
    pub seq: u64,
    /// Every state that was seen.
    pub follows: Lineage,
    /// The highest queue number that was seen.
    pub queue_counter: u64,
    /// How many numbers above it nobody shall be given, because somebody may hold them.
    pub gap: u64,
    /// Numbers that were left out for the same reason before: the first and the last of each part, which may overlap.
    pub left_out: Vec<(u64, u64)>,
    /// How many more were, of which it is not known which.
    pub unlisted: u64,
    /// Where the serving counter stands.
    pub serving_counter: i64,
    /// The most sessions that ever began.
    pub admitted: u64,
    /// How many seats can be taken, at most, as far as was seen.
    pub inside: u64,
    /// The most that somebody saw taken at once: more than there are, if there were more before.
    pub seen_inside: u64,
    /// How many of those inside were held for holders from before an earlier loss, and until when, ms: these have had
    /// their time.
    pub held_before: (u64, u64),
    /// Numbers of which nobody knows which are AWS-style visitors', and that may be: the first and the last.
    pub unattended: Option<(u64, u64)>,
    /// For how long seats of holders who have not returned count as taken, in seconds.
    pub seats_held_seconds: u64,
    /// The same once everybody has been heard who is silent, in seconds.
    pub held_once_heard_seconds: u64,
    /// For how long sessions count after their end as it is known, because somebody of whom nobody has heard may have
    /// renewed them, in seconds; 0: nobody can have.
    pub sessions_kept_seconds: u64,
    /// How long it takes until everyone in line has checked in again, in seconds.
    pub presence_seconds: u64,
    /// The largest number that can have been admitted in the last minute; `None`: as many as the rate allows.
    pub admitted_last_minute: Option<u64>,
    /// How many of them are known of.
    pub seen_last_minute: u64,
}

/// What is found.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// Nobody knows anything of such a room, or it was deleted.
    Unknown,
    /// What Redis holds is the latest state of the room.
    IsLatest,
    /// Something was lost.
    IsBehind(Box<Reconciliation>),
}

/// How many numbers a leader leaves out, because somebody is silent: other ones than those who may lead on other sides of a
/// split at the same time, of whom so many come `before` it in an order that all know. By `chance`, so that what is left
/// out a second time is not what another side has left out once.
#[must_use]
pub fn gap(before: u64, chance: u64) -> u64 {
    UNSEEN_NUMBERS * (1 + 2 * before) + chance % UNSEEN_NUMBERS
}

// === impl Evidence ===

impl Evidence<'_> {
    /// What follows from it.
    #[must_use]
    pub fn find(&self) -> Finding {
        let stored = self.stored.map(Testimony::of_stored);
        let all = self.testimonies.iter().chain(&stored);
        let all: Vec<&Testimony> = all.filter(|one| one.stamp.reset_epoch > self.buried).collect();
        let Some(latest) = all.iter().max_by_key(|one| one.stamp.age()) else {
            return Finding::Unknown;
        };
        let is_latest = |stored: &Testimony| {
            let is_behind = |one: &Testimony| !stored.has_heard_of(&one.stamp);
            !self.is_partial && !self.is_worst_assumed() && !self.testimonies.iter().any(is_behind)
        };
        if stored.as_ref().is_some_and(is_latest) && latest.stamp.reset_epoch > self.buried {
            return Finding::IsLatest;
        }
        Finding::IsBehind(Box::new(self.reconcile(latest, &all)))
    }

    fn reconcile(&self, latest: &Testimony, all: &[&Testimony]) -> Reconciliation {
        let epoch = latest.stamp.reset_epoch;
        // Of before the last reset nothing counts.
        let known: Vec<&Testimony> =
            all.iter().copied().filter(|one| one.stamp.reset_epoch == epoch).collect();
        let highest = |field: fn(&Testimony) -> u64| known.iter().map(|one| field(one)).max();
        let (queue_counter, admitted) = (
            highest(|one| one.queue_counter).unwrap_or(0),
            highest(|one| one.admitted).unwrap_or(0),
        );
        let snapshots = || known.iter().map(|one| &one.last);
        // What those say of seats and of the rate may be relied on.
        let is_whole = |one: &&Testimony| !self.is_partial || self.testimonies.contains(one);
        let whole = || known.iter().copied().filter(is_whole).map(|one| &one.last);
        // A snapshot of before the reset says only what the room's settings are.
        let of_epoch = |room: &&RoomSnapshot| room.reset_epoch == epoch;
        let last = snapshots().filter(of_epoch).max_by_key(|room| room.stamp().age());
        let last = last.map_or_else(|| after_reset(&latest.last, epoch), Clone::clone);
        let serving_counter = serving_counter(&known);
        let served = all_served(&last, serving_counter, queue_counter);
        let silent = if self.is_one_silent { self.gap } else { 0 };
        let gap = silent.max(self.unseen.unwrap_or(0));
        let top = if served { signed(queue_counter + gap) } else { i64::MIN };
        let taken = |room: &RoomSnapshot| room.active + room.unconfirmed;
        let inside = whole()
            .filter(of_epoch)
            .map(|room| taken(room) + admitted.saturating_sub(room.admitted))
            .min();
        let lately = |room: &RoomSnapshot| {
            room.admitted_last_minute + admitted.saturating_sub(room.admitted)
        };
        let seen_last_minute = if self.is_partial {
            whole().filter(of_epoch).map(lately).min()
        } else {
            Some(lately(&last))
        };
        let session = last.settings.session_duration_seconds;
        let held = |is_worst| session.max(tokens_last(&last, is_worst)) + 1;
        Reconciliation {
            begins_anew: self.stored.is_none_or(|stored| stored.reset_epoch != epoch),
            generation: known.iter().map(|one| one.stamp.generation).max().unwrap_or(0) + 1,
            seq: all.iter().map(|one| one.stamp.seq).max().unwrap_or(0),
            follows: Lineage::of(known.iter().map(|one| (&one.stamp, one.follows()))),
            queue_counter,
            gap,
            serving_counter: serving_counter.max(top),
            admitted,
            inside: inside.unwrap_or(admitted),
            seen_inside: whole().filter(of_epoch).map(taken).max().unwrap_or(0),
            held_before: (last.unconfirmed, last.unconfirmed_until),
            unattended: unattended(
                &last,
                serving_counter,
                (highest(|one| one.known_upto).unwrap_or(0), queue_counter),
            ),
            left_out: snapshots().filter(of_epoch).flat_map(|room| room.left_out.clone()).collect(),
            unlisted: snapshots().filter(of_epoch).map(unlisted).max().unwrap_or(0),
            seats_held_seconds: held(self.is_worst_assumed()),
            held_once_heard_seconds: held(self.unseen.is_some()),
            sessions_kept_seconds: if self.may_be_renewed(&last) { session + 1 } else { 0 },
            presence_seconds: presence_seconds(&last),
            admitted_last_minute: seen_last_minute.filter(|_| !self.is_worst_assumed()),
            seen_last_minute: seen_last_minute.unwrap_or(0),
            latest: last,
        }
    }

    /// Whether somebody may have seen more than is known.
    fn is_worst_assumed(&self) -> bool {
        self.is_one_silent || self.unseen.is_some()
    }

    /// Whether sessions may last longer than is known.
    fn may_be_renewed(&self, last: &RoomSnapshot) -> bool {
        !last.settings.disable_session_renewal && (self.is_worst_assumed() || self.is_one_gone)
    }
}

// === impl Reconciliation ===

impl Reconciliation {
    /// Sessions last for up to `seconds`: also of settings that are in force no more.
    pub fn lasts_for(&mut self, seconds: u64) {
        self.seats_held_seconds = self.seats_held_seconds.max(seconds + 1);
        self.held_once_heard_seconds = self.held_once_heard_seconds.max(seconds + 1);
        if self.sessions_kept_seconds > 0 {
            self.sessions_kept_seconds = self.sessions_kept_seconds.max(seconds + 1);
        }
    }
}

// === impl Testimony ===

impl Testimony {
    /// What the latest state that it has seen follows from, if it knows that.
    fn follows(&self) -> Option<&Lineage> {
        self.last.follows.as_ref().filter(|_| self.last.stamp().is_of_one_time(&self.stamp))
    }

    /// Whether it knows of the state of `other`, or of a later one that follows from it.
    fn has_heard_of(&self, other: &Stamp) -> bool {
        let is_no_older =
            matches!(self.stamp.compare(other), Some(Ordering::Greater | Ordering::Equal));
        let is_of_one_line =
            self.stamp.reset_epoch != other.reset_epoch || self.stamp.is_of_one_time(other);
        is_no_older && (is_of_one_line || self.follows().is_none_or(|it| it.covers(other)))
    }

    /// What Redis holds, as if somebody had seen it.
    fn of_stored(stored: &RoomSnapshot) -> Self {
        Self {
            stamp: stored.stamp(),
            last: stored.clone(),
            queue_counter: stored.queue_counter,
            serving_counter: stored.serving_counter,
            served_at: stored.stamp().age(),
            admitted: stored.admitted,
            known_upto: 0,
        }
    }
}

// === impl Reconciliation ===

impl Reconciliation {
    /// The draw that the pool waits for, by the room's `config`: that of the event in force; or, if there is none with a
    /// draw, since it is over or was suspended, of the event whose pre-queue opened last. Empty if that was withdrawn.
    #[must_use]
    pub fn pool_id(&self, config: &RoomConfig) -> String {
        let last = &self.latest;
        let in_force = last.event.as_ref().and_then(|event| config.event(event.name.as_str()));
        let opened = || {
            let has_opened =
                |opens: Option<u64>| opens.is_some_and(|opens| opens <= last.now_seconds());
            let with_draw = config.events.iter().filter(|event| event.draw);
            with_draw
                .filter(|event| has_opened(event.prequeue_start))
                .max_by_key(|event| event.prequeue_start)
        };
        let event = in_force.filter(|event| event.draw).or_else(opened);
        event.map(|event| event.draw_id.clone()).unwrap_or_default()
    }
}

/// For how long AWS-style tokens may still be valid, in seconds. Where there are such clients, one may have got its token
/// of somebody who has not told, or after a backup was made: `is_worst`.
fn tokens_last(last: &RoomSnapshot, is_worst: bool) -> u64 {
    let has_aws_clients = last.tokens_until > 0 || last.figures.unattended > 0;
    let unseen = if is_worst && has_aws_clients { last.settings.token_validity_seconds } else { 0 };
    unseen.max(last.tokens_until.saturating_sub(last.now_seconds()))
}

/// The room of `before` after a reset of which only that it was is known.
fn after_reset(before: &RoomSnapshot, reset_epoch: u64) -> RoomSnapshot {
    RoomSnapshot {
        reset_epoch,
        generation: 1,
        follows: None,
        queue_counter: 0,
        serving_counter: 0,
        admitted: 0,
        active: 0,
        unconfirmed: 0,
        unconfirmed_until: 0,
        expired: 0,
        left: 0,
        skipped: 0,
        left_out: Vec::new(),
        expired_position: 0,
        draws: Vec::new(),
        pool_first: 0,
        pool_last: 0,
        cumulative_hazard: 0,
        ..before.clone()
    }
}

/// How many numbers were skipped of which a state does not say which, as one of an older release.
fn unlisted(room: &RoomSnapshot) -> u64 {
    let listed = room.left_out.iter().map(|(first, last)| last + 1 - first);
    room.skipped.saturating_sub(listed.sum())
}

/// Whether everyone who has a number had been served. Where limits let people in, whoever came since was, too: it
/// found nobody in line. Then nobody shall wait for numbers that perhaps nobody holds.
fn all_served(last: &RoomSnapshot, serving_counter: i64, queue_counter: u64) -> bool {
    let settings = &last.settings;
    let is_limited =
        settings.total_active_users.is_some() || settings.new_users_per_minute.is_some();
    is_limited && serving_counter.max(0) >= signed(queue_counter)
}

/// The numbers behind the serving counter, above `known` and up to `last`, that may be AWS-style visitors'. Where there is
/// no order, most of the lower ones have entered, and such visitors are no more than the last who came.
fn unattended(
    room: &RoomSnapshot,
    serving_counter: i64,
    (known, last): (u64, u64),
) -> Option<(u64, u64)> {
    let mut first = known.max(u64::try_from(serving_counter).unwrap_or(0)) + 1;
    if !room.settings.queueing_method.rules().is_ordered() {
        first = first.max(last.saturating_sub(room.figures.unattended) + 1);
    }
    (room.figures.unattended > 0 && first <= last).then_some((first, last))
}

/// How long it takes until everyone in line has checked in again: one and a half times the longest
/// interval that was given, and 5 seconds.
fn presence_seconds(room: &RoomSnapshot) -> u64 {
    let conditions = room.line_conditions(None, room.now_ms, room.progress());
    let method = room.settings.queueing_method;
    let longest_ms = u64::from(check_in::interval_ms(method, &conditions, 1.0));
    (longest_ms * 3 / 2).div_ceil(1000) + 5
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(reset_epoch: u64, seq: u64) -> RoomSnapshot {
        let json = format!(
            r#"{{"room":"r","settings":{{"total_active_users":60}},"reset_epoch":{reset_epoch},"generation":1,
            "nonce":"a","seq":{seq},"now_ms":1000000,"queue_counter":90,"serving_counter":50,
            "admitted":30,"active":20,"unconfirmed":2,"expired":0,"skipped":0,"expired_position":0,
            "admitted_last_minute":5,"tokens_until":4000,"figures":{{}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn testimony(seq: u64) -> Testimony {
        Testimony::of_stored(&snapshot(7, seq))
    }

    fn evidence<'a>(
        stored: Option<&'a RoomSnapshot>,
        testimonies: &'a [Testimony],
    ) -> Evidence<'a> {
        Evidence {
            stored,
            is_partial: false,
            testimonies,
            is_one_silent: false,
            is_one_gone: false,
            gap: UNSEEN_NUMBERS,
            unseen: None,
            buried: 0,
        }
    }

    fn reconciled(evidence: Evidence<'_>) -> Reconciliation {
        match evidence.find() {
            Finding::IsBehind(to) => *to,
            found => panic!("{found:?}"),
        }
    }

    #[test]
    fn what_is_stored_is_the_latest_if_nobody_has_seen_more() {
        let stored = snapshot(7, 40);
        let seen = [testimony(40), testimony(12)];
        assert_eq!(evidence(Some(&stored), &seen).find(), Finding::IsLatest);
        let later = [testimony(41)];
        assert!(matches!(evidence(Some(&stored), &later).find(), Finding::IsBehind(_)));
        let silent = Evidence { is_one_silent: true, ..evidence(Some(&stored), &seen) };
        assert!(matches!(silent.find(), Finding::IsBehind(_)), "it may have seen more");
        let partial = Evidence { is_partial: true, ..evidence(Some(&stored), &seen) };
        assert!(matches!(partial.find(), Finding::IsBehind(_)));
        assert_eq!(evidence(None, &[]).find(), Finding::Unknown);
    }

    #[test]
    fn what_a_state_says_of_its_seats_counts_only_if_no_part_of_it_was_lost() {
        let mut stored = snapshot(7, 40);
        (stored.active, stored.admitted_last_minute, stored.admitted) = (0, 0, 33);
        let partial = |seen| Evidence { is_partial: true, ..evidence(Some(&stored), seen) };
        let seen = [testimony(38)];
        let to = reconciled(partial(&seen));
        assert_eq!((to.begins_anew, to.gap, to.admitted), (false, 0, 33));
        assert_eq!((to.inside, to.admitted_last_minute), (25, Some(8)), "three are new");
        let to = reconciled(partial(&[]));
        assert_eq!((to.inside, to.admitted_last_minute), (33, None), "nobody remembers");
    }

    #[test]
    fn of_two_states_of_one_generation_neither_is_the_latest() {
        let stored = snapshot(7, 40);
        let mut other = testimony(3);
        other.stamp.nonce = "b".to_owned();
        let to = reconciled(evidence(Some(&stored), &[other]));
        assert_eq!((to.generation, to.begins_anew), (2, false));
    }

    #[test]
    fn a_later_generation_is_the_latest_only_if_it_has_heard_of_the_other_side() {
        let mut stored = snapshot(7, 40);
        (stored.generation, stored.nonce) = (2, "b".to_owned());
        let seen = [testimony(30)];
        assert_eq!(evidence(Some(&stored), &seen).find(), Finding::IsLatest, "nobody says");
        stored.follows = Some(Lineage::of([(&seen[0].stamp, None)]));
        assert_eq!(evidence(Some(&stored), &seen).find(), Finding::IsLatest);
        let apart = [Testimony { queue_counter: 95, serving_counter: 80, ..testimony(31) }];
        let apart = apart.map(|one| Testimony { served_at: (7, 1, 31), ..one });
        let to = reconciled(evidence(Some(&stored), &apart));
        assert_eq!((to.generation, to.queue_counter, to.serving_counter), (3, 95, 80));
        let both = [stored.stamp(), apart[0].stamp.clone(), seen[0].stamp.clone()];
        assert!(both.iter().all(|stamp| to.follows.covers(stamp)));
    }

    #[test]
    fn what_any_side_has_left_out_is_left_out() {
        let mut stored = snapshot(7, 40);
        (stored.left_out, stored.skipped) = (vec![(91, 100)], 25);
        let mut apart = testimony(60);
        (apart.last.left_out, apart.last.skipped) = (vec![(95, 300)], 206);
        let to = reconciled(evidence(Some(&stored), &[apart]));
        assert_eq!((to.left_out, to.unlisted), (vec![(95, 300), (91, 100)], 15));
    }

    #[test]
    fn each_counter_comes_to_the_highest_that_anybody_has_seen() {
        let stored = snapshot(7, 10);
        let numbers = Testimony { queue_counter: 104, ..testimony(40) };
        let seats = Testimony { admitted: 33, ..testimony(41) };
        let to = reconciled(evidence(Some(&stored), &[numbers, seats]));
        assert_eq!((to.queue_counter, to.admitted, to.gap), (104, 33, 0));
        assert_eq!(to.admitted_last_minute, Some(8), "all that are new may be of the last minute");
        assert_eq!(to.inside, 25, "so may three seats more than somebody saw");
        assert_eq!(to.seats_held_seconds, 3_001, "an AWS-style token lives on till 4000");
        let (mut longer, mut shorter) = (to.clone(), to.clone());
        longer.lasts_for(3_600);
        shorter.lasts_for(600);
        assert_eq!((longer.seats_held_seconds, shorter.seats_held_seconds), (3_601, 3_001));
        assert_eq!(to.seq, 41);
    }

    #[test]
    fn a_counter_that_an_operator_took_back_stays_there() {
        let stored = snapshot(7, 10);
        let before = Testimony { serving_counter: 80, served_at: (7, 1, 20), ..testimony(60) };
        let after = Testimony { serving_counter: 60, served_at: (7, 1, 30), ..testimony(40) };
        let to = reconciled(evidence(Some(&stored), &[before, after]));
        assert_eq!(to.serving_counter, 60);
    }

    #[test]
    fn the_sides_of_a_split_come_to_the_higher_serving_counter() {
        let stored = snapshot(7, 10);
        let mut other = Testimony { serving_counter: 70, served_at: (7, 1, 12), ..testimony(12) };
        other.stamp.nonce = "b".to_owned();
        let own = Testimony { serving_counter: 60, served_at: (7, 1, 30), ..testimony(40) };
        let to = reconciled(evidence(Some(&stored), &[other, own]));
        assert_eq!(to.serving_counter, 70);
    }

    #[test]
    fn what_is_of_before_a_reset_counts_no_more() {
        let stored = snapshot(7, 90);
        let mut reset = testimony(95);
        (reset.stamp.reset_epoch, reset.queue_counter, reset.admitted) = (8, 3, 1);
        (reset.serving_counter, reset.served_at) = (0, (8, 1, 95));
        let to = reconciled(evidence(Some(&stored), &[reset]));
        assert!(to.begins_anew);
        assert_eq!((to.latest.reset_epoch, to.queue_counter, to.admitted), (8, 3, 1));
        assert_eq!((to.serving_counter, to.inside), (0, 1));
    }

    #[test]
    fn a_deleted_room_does_not_come_back() {
        let stored = snapshot(7, 90);
        let seen = [testimony(91)];
        let gone = Evidence { buried: 7, ..evidence(Some(&stored), &seen) };
        assert_eq!(gone.find(), Finding::Unknown);
        let mut anew = testimony(1);
        anew.stamp.reset_epoch = 8;
        anew.last.reset_epoch = 8;
        let to = reconciled(Evidence { buried: 7, ..evidence(Some(&stored), &[anew]) });
        assert!(to.begins_anew && to.latest.reset_epoch == 8);
    }

    #[test]
    fn while_one_is_silent_numbers_are_left_out_and_an_empty_room_is_open_behind_them() {
        let waiting = [testimony(40)];
        let silent = Evidence { is_one_silent: true, ..evidence(None, &waiting) };
        let to = reconciled(silent);
        assert_eq!((to.gap, to.serving_counter), (UNSEEN_NUMBERS, 50));
        assert_eq!(to.admitted_last_minute, None);
        let served = [Testimony { serving_counter: 90, ..testimony(40) }];
        let to = reconciled(Evidence { is_one_silent: true, ..evidence(None, &served) });
        assert_eq!(to.serving_counter, signed(90 + UNSEEN_NUMBERS));
    }

    #[test]
    fn no_two_sides_of_a_split_leave_out_the_same_numbers() {
        let last = u64::MAX;
        for before in 0..5 {
            let free = gap(before + 1, 0) - gap(before, last);
            assert!(
                free > UNSEEN_NUMBERS,
                "what is handed out on one side is left out on the next"
            );
        }
        assert!(gap(0, 0) == UNSEEN_NUMBERS && gap(0, 7) != gap(0, 8));
        let seen = [testimony(40)];
        let silent = Evidence { is_one_silent: true, gap: 777, ..evidence(None, &seen) };
        assert_eq!(reconciled(silent).gap, 777);
        assert_eq!(reconciled(evidence(None, &seen)).gap, 0, "nobody is silent");
    }

    #[test]
    fn sessions_are_kept_beyond_their_end_where_somebody_may_have_renewed_them() {
        let (mut stored, seen) = (snapshot(7, 40), [testimony(60)]);
        let kept = |change: fn(&mut Evidence<'_>), stored: &RoomSnapshot| {
            let mut evidence = evidence(Some(stored), &seen);
            change(&mut evidence);
            reconciled(evidence).sessions_kept_seconds
        };
        assert_eq!(kept(|_| {}, &stored), 0, "all who were there have told it");
        assert_eq!(kept(|evidence| evidence.is_one_silent = true, &stored), 301);
        assert_eq!(kept(|evidence| evidence.is_one_gone = true, &stored), 301);
        stored.settings.disable_session_renewal = true;
        let last = [Testimony::of_stored(&RoomSnapshot { seq: 60, ..stored.clone() })];
        let gone = Evidence { is_one_gone: true, ..evidence(Some(&stored), &last) };
        assert_eq!(reconciled(gone).sessions_kept_seconds, 0, "nobody can");
    }

    #[test]
    fn seats_are_held_for_as_long_as_a_token_lasts_that_somebody_silent_may_have_given() {
        let held = |is_one_silent, unattended| {
            let mut last = RoomSnapshot { tokens_until: 0, ..snapshot(7, 60) };
            last.figures.unattended = unattended;
            let seen = [Testimony::of_stored(&last)];
            let to = reconciled(Evidence { is_one_silent, ..evidence(None, &seen) });
            (to.seats_held_seconds, to.held_once_heard_seconds)
        };
        assert_eq!(held(true, 8), (3_601, 301), "until it tells");
        assert_eq!(held(true, 0), (301, 301), "nobody asks for such");
        assert_eq!(held(false, 8), (301, 301), "all have told");
    }

    #[test]
    fn a_restored_state_is_never_the_latest_and_leaves_out_the_numbers_that_may_be_somebodys() {
        fn restored(stored: &RoomSnapshot) -> Evidence<'_> {
            Evidence { unseen: Some(700), ..evidence(Some(stored), &[]) }
        }
        let mut stored = snapshot(7, 40);
        let to = reconciled(restored(&stored));
        assert_eq!((to.begins_anew, to.generation, to.queue_counter, to.gap), (false, 2, 90, 700));
        assert_eq!(to.admitted_last_minute, None);
        assert_eq!(to.seats_held_seconds, 3_601, "a token of after the backup may live longest");
        stored.tokens_until = 0;
        assert_eq!(reconciled(restored(&stored)).seats_held_seconds, 301, "nobody asks for such");
        stored.serving_counter = 90;
        assert_eq!(reconciled(restored(&stored)).serving_counter, 790, "an empty room stays open");
        let seen = [Testimony { queue_counter: 95, ..testimony(60) }];
        let to = reconciled(Evidence { unseen: Some(700), ..evidence(Some(&stored), &seen) });
        assert_eq!((to.queue_counter, to.gap), (95, 700), "whoever remembers more is heard");
    }

    #[test]
    fn numbers_are_taken_for_aws_style_visitors_of_which_nobody_knows_better() {
        let mut stored = snapshot(7, 40);
        let unattended = |stored: &RoomSnapshot, known_upto| {
            let seen = [Testimony { known_upto, ..Testimony::of_stored(stored) }];
            reconciled(evidence(None, &seen)).unattended
        };
        assert_eq!(unattended(&stored, 0), None, "there was none");
        stored.figures.unattended = 8;
        assert_eq!(unattended(&stored, 0), Some((51, 90)));
        assert_eq!((unattended(&stored, 70), unattended(&stored, 90)), (Some((71, 90)), None));
        stored.settings.queueing_method = crate::QueueingMethod::Random;
        assert_eq!(
            (unattended(&stored, 0), unattended(&stored, 88)),
            (Some((83, 90)), Some((89, 90)))
        );
    }

    #[test]
    fn presence_comes_together_within_the_longest_interval_told() {
        let room = |waiting: u64| {
            let mut room = snapshot(7, 1);
            (room.queue_counter, room.serving_counter) = (9, 0);
            (room.figures.waiting, room.figures.admissions_per_second) = (waiting, 10.0);
            room
        };
        assert_eq!(presence_seconds(&room(0)), 7, "1.15 s at the front");
        let [short, long] = [6_000, 10_000_000].map(|waiting| presence_seconds(&room(waiting)));
        assert!(7 < short && short < long, "{short} {long}");
        let longest = u64::from(check_in::LONGEST_MS) * 3 / 2 / 1000;
        assert!(long <= longest + 5, "{long}");
    }
}
