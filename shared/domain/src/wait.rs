//! Estimates of the wait. An unknown wait is `None`; it is never guessed.

use crate::{check_in::LineConditions, slots::Usage};

/// How long a visitor still has to wait, in seconds, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The expected wait; `None`: unknown.
    pub seconds: Option<f64>,
    /// In a random room: the times after which a quarter, half, and three quarters of the visitors
    /// who wait now have entered.
    pub quartiles: Option<[f64; 3]>,
}

// === impl Estimate ===

impl Estimate {
    /// The wait is unknown.
    pub const UNKNOWN: Self = Self { seconds: None, quartiles: None };

    /// A wait of `seconds`.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Self {
        Self { seconds: Some(seconds), quartiles: None }
    }

    /// A wait with these quartiles, in seconds; the middle one is the expected wait.
    #[must_use]
    pub fn spread(quartiles: [f64; 3]) -> Self {
        Self { seconds: Some(quartiles[1]), quartiles: Some(quartiles) }
    }
}

// === impl LineConditions ===

impl LineConditions {
    /// The wait in a room with an order, in seconds: the time until the rate limit admits anyone,
    /// plus people ahead who are still there divided by the pace. Some of those ahead give up
    /// before their turn: with `a` people ahead, of whom a share `l` leaves per second, and `p`
    /// admissions per second, all of them are gone after `ln(1 + l a / p) / l` seconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    pub fn wait_seconds(&self) -> Option<f64> {
        let known = self.admissions_per_second > 0.0;
        let if_all_stay = self.people_ahead as f64 / self.admissions_per_second;
        let leaving = self.leaving_per_second;
        let wait = if leaving * if_all_stay > 1e-3 {
            (leaving * if_all_stay).ln_1p() / leaving
        } else {
            if_all_stay
        };
        known.then_some(self.blocked_seconds + wait)
    }

    /// The quartiles of the wait where everyone has the same chance, in seconds: a share `p` has
    /// entered after `n = ln(1 - p) / ln(1 - P)` minutes, where `P` is the share that enters per
    /// minute. Where all enter within a minute, they do so evenly.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    pub fn quartiles(&self) -> Option<[f64; 3]> {
        let per_minute = self.admissions_per_second * 60.0;
        if per_minute <= 0.0 {
            return None;
        }
        let chance = per_minute / (self.waiting as f64).max(1.0);
        let minutes = |part: f64| {
            if chance < 1.0 { (-part).ln_1p() / (-chance).ln_1p() } else { part / chance }
        };
        Some([0.25, 0.5, 0.75].map(|part| self.blocked_seconds + minutes(part) * 60.0))
    }
}

/// The pace at which a room admits people, from the counts of the leader.
///
/// In a full room, seats become free at the rate at which sessions end per taken seat, times the
/// number of seats. This is known as soon as some sessions have ended, however fast the room filled
/// up. A rate limit bounds the pace.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pace {
    /// Admissions per second, smoothed.
    per_second: f64,
    /// Sessions that ended; fades.
    ended: f64,
    /// Seconds that seats were taken; fades with `ended`.
    seat_seconds: f64,
    /// The most sessions that lately ended within [`STANDBY_SECONDS`]; fades.
    burst: f64,
    /// The most that began; fades.
    rush: f64,
    last: Option<Counts>,
    /// The counts of the last seconds, the oldest first.
    seconds: [Option<Counts>; 4],
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Counts {
    now_ms: u64,
    admitted: u64,
    ended: u64,
}

/// The mean of admissions looks back over about so many seconds.
const SMOOTHING_SECONDS: f64 = 15.0;
/// The mean of ended sessions looks back over about so many of them,
const ENDINGS: f64 = 400.0;
/// within these bounds, in seconds.
const LOOK_BACK_SECONDS: std::ops::RangeInclusive<f64> = 240.0..=1_800.0;
/// Fewer ended sessions than this give no estimate.
const FEWEST_ENDINGS: f64 = 5.0;
/// How fast seats come free at most is known once so many of all seats did.
const KNOWN_SHARE: f64 = 0.25;
/// The largest burst fades over about so many seconds: people who entered together leave together, a stay
/// later.
const BURST_SECONDS: f64 = 300.0;
/// At most so many stand by only because they may be needed: each asks every two seconds.
const MOST_IN_CASE: f64 = 1_000.0;
/// The shortest time, in seconds, in which all seats of a room are assumed to become free.
const SHORTEST_STAY_SECONDS: f64 = 20.0;
/// Counts of a room that another instance leads are taken in so often, ms.
const FOLLOWS_EVERY_MS: u64 = 1_000;
/// How many seconds' worth of admissions, at the mean pace, stand by,
const STANDBY_SECONDS: f64 = 4.0;
/// and in ms.
pub const STANDBY_MS: u64 = 4_000;

/// The people who should stand by at the door beyond the free seats, so that a seat that comes free is
/// taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Standby {
    /// Some seconds' worth of admissions.
    pub steady: f64,
    /// As many as seats lately came free within that time at most: people who entered together often
    /// leave together.
    pub burst: f64,
}

// === impl Standby ===

impl Standby {
    /// How many in a room with an order: always somebody.
    #[must_use]
    pub fn people(&self) -> f64 {
        self.steady.max(self.burst).ceil().max(1.0)
    }
}

// === impl Pace ===

impl Pace {
    /// Takes in the counts of a tick: sessions that ever began, and how many of them are live.
    #[expect(clippy::cast_precision_loss, reason = "short spans, counts of people")]
    pub fn observe(&mut self, now_ms: u64, admitted: u64, active: u64) {
        let ended = admitted.saturating_sub(active);
        let counts = Counts { now_ms, admitted, ended };
        self.observe_burst(counts);
        let Some(last) = self.last.replace(counts) else { return };
        let seconds = now_ms.saturating_sub(last.now_ms) as f64 / 1000.0;
        if seconds <= 0.0 || admitted < last.admitted || ended < last.ended {
            return;
        }
        let pace = (admitted - last.admitted) as f64 / seconds;
        self.per_second += (pace - self.per_second) * (1.0 - (-seconds / SMOOTHING_SECONDS).exp());
        let fade = (-seconds / self.look_back_seconds()).exp();
        let was_active = last.admitted - last.ended;
        // Nobody saw how long those stayed who came and went between two looks.
        self.ended = self.ended * fade + (ended - last.ended).min(was_active) as f64;
        let taken = f64::midpoint(was_active as f64, active as f64);
        self.seat_seconds = self.seat_seconds * fade + taken * seconds;
    }

    /// Takes in the counts of a room as all services know them, if nothing newer was taken in for a while: they
    /// are those of the last tick, whoever made it.
    pub fn follow(&mut self, now_ms: u64, admitted: u64, active: u64) {
        if self.last.is_none_or(|last| now_ms >= last.now_ms + FOLLOWS_EVERY_MS) {
            self.observe(now_ms, admitted, active);
        }
    }

    /// The pace to expect while people wait, in admissions per second; 0: unknown. In a full room
    /// the ceiling limits the pace, whatever the rate would admit.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    pub fn expected(&self, usage: &Usage) -> f64 {
        let by_rate = usage.rate.map(|rate| rate as f64 / 60.0);
        let by_seats = usage.ceiling.and_then(|ceiling| self.seats_per_second(ceiling));
        match (by_rate, by_seats) {
            (Some(rate), Some(seats)) => rate.min(seats),
            (_, None) if usage.is_full() => 0.0,
            (Some(pace), None) | (None, Some(pace)) => pace,
            (None, None) if usage.ceiling.is_some() => 0.0,
            (None, None) => self.per_second(),
        }
    }

    /// Recent admissions per second; 0 before any.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        if self.per_second < 1e-3 { 0.0 } else { self.per_second }
    }

    /// How many people should stand by at the door beyond the free seats.
    #[must_use]
    pub fn standby(&self, usage: &Usage) -> Standby {
        let by_rate = usage.rate.is_some() && !usage.is_full();
        let pace = self.expected(usage).max(if by_rate { 0.0 } else { self.per_second() });
        let burst = usage.ceiling.map_or(0.0, |ceiling| self.burst(ceiling));
        Standby { steady: STANDBY_SECONDS * pace, burst }
    }

    /// The fastest pace that is to be expected while people wait, in admissions per second; 0: none but
    /// [`Self::expected`].
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    pub fn fastest(&self, usage: &Usage) -> f64 {
        let by_rate = usage.rate.map_or(f64::INFINITY, |rate| rate as f64 / 60.0);
        match usage.ceiling {
            Some(ceiling) if by_rate.is_infinite() || usage.is_full() => {
                let seen = if self.is_burst_known(ceiling) {
                    self.burst / STANDBY_SECONDS
                } else {
                    fastest_possible(ceiling)
                };
                seen.min(by_rate)
            }
            _ => 0.0,
        }
    }

    /// The same for when a room lets people in that is held: all seats that are free then may be taken together.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    pub fn fastest_at_release(&self, usage: &Usage) -> f64 {
        let by_rate = usage.rate.map_or(f64::INFINITY, |rate| rate as f64 / 60.0);
        let by_seats = usage.ceiling.map_or(f64::INFINITY, |ceiling| {
            let freed = self.seats_per_second(ceiling).unwrap_or(0.0).max(self.fastest(usage));
            fastest_possible(ceiling.saturating_sub(usage.active)).max(freed)
        });
        let fastest = by_rate.min(by_seats);
        if fastest.is_finite() { fastest } else { 0.0 }
    }

    /// How many seats come free together: before enough did, as many as people entered together, for they
    /// may leave together.
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    fn burst(&self, ceiling: u64) -> f64 {
        if self.is_burst_known(ceiling) {
            self.burst
        } else {
            self.burst.max(self.rush.min(MOST_IN_CASE)).min(ceiling as f64)
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    fn is_burst_known(&self, ceiling: u64) -> bool {
        self.ended >= ceiling as f64 * KNOWN_SHARE
    }

    /// How many of `ceiling` taken seats become free per second.
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    fn seats_per_second(&self, ceiling: u64) -> Option<f64> {
        let known = self.ended >= FEWEST_ENDINGS && self.seat_seconds > 0.0;
        known.then(|| ceiling as f64 * self.ended / self.seat_seconds)
    }

    fn look_back_seconds(&self) -> f64 {
        let (least, most) = LOOK_BACK_SECONDS.into_inner();
        if self.per_second <= 0.0 {
            return most;
        }
        (ENDINGS / self.per_second).clamp(least, most)
    }

    #[expect(clippy::cast_precision_loss, reason = "short spans, counts of people")]
    fn observe_burst(&mut self, now: Counts) {
        let newest = self.seconds[self.seconds.len() - 1];
        let age_ms = newest.map_or(u64::MAX, |newest| now.now_ms.saturating_sub(newest.now_ms));
        if age_ms < 1_000 {
            return;
        }
        let fade = (-(age_ms.min(60_000) as f64) / 1000.0 / BURST_SECONDS).exp();
        let seen =
            self.seconds[0].filter(|then| now.ended >= then.ended && now.admitted >= then.admitted);
        if let Some(then) = seen {
            self.burst = (self.burst * fade).max((now.ended - then.ended) as f64);
            self.rush = (self.rush * fade).max((now.admitted - then.admitted) as f64);
        }
        self.seconds.rotate_left(1);
        self.seconds[self.seconds.len() - 1] = Some(now);
    }
}

/// The highest possible number of seats that become free per second, out of `ceiling`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of seats")]
pub fn fastest_possible(ceiling: u64) -> f64 {
    ceiling as f64 / SHORTEST_STAY_SECONDS
}

/// How many visitors come, and how many of the waiting give up, computed from the leader's counts
/// of who is there, who came and who entered. Only of those who check in: that AWS-style visitors are not
/// there, nobody sees.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Attrition {
    /// Visitors who left; fades.
    left: f64,
    /// Seconds that visitors waited; fades with `left`.
    waited: f64,
    newcomers_per_second: f64,
    last: Option<Line>,
}

/// A line as one tick counted it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Redis's time, ms.
    pub now_ms: u64,
    /// Everyone waiting who checks in.
    pub polling: u64,
    /// How many of those ever came,
    pub came: u64,
    /// and entered.
    pub entered: u64,
}

/// The share that gives up is a mean over about so many seconds.
const ATTRITION_SECONDS: f64 = 300.0;
/// Newcomers are a mean over about so many seconds; it is short because a crowd comes all at once.
const NEWCOMERS_SECONDS: f64 = 2.0;
/// Fewer leavers than this give no estimate.
const FEWEST_LEAVERS: f64 = 20.0;

// === impl Attrition ===

impl Attrition {
    /// Takes in the line of a tick; `None` when it could not be counted.
    #[expect(clippy::cast_precision_loss, reason = "short spans, counts of people")]
    pub fn observe(&mut self, line: Option<Line>) {
        let before = std::mem::replace(&mut self.last, line);
        let (Some(before), Some(now)) = (before, line) else { return };
        let seconds = now.now_ms.saturating_sub(before.now_ms) as f64 / 1000.0;
        let came = now.came as f64 - before.came as f64;
        let entered = now.entered as f64 - before.entered as f64;
        if seconds > 0.0 && came >= 0.0 {
            let fade = (-seconds / NEWCOMERS_SECONDS).exp();
            let pace = came / seconds;
            self.newcomers_per_second += (pace - self.newcomers_per_second) * (1.0 - fade);
        }
        let left = before.polling as f64 + came - entered - now.polling as f64;
        // Skipped numbers, or a line that was counted anew, are not visitors who left.
        if seconds <= 0.0 || came < 0.0 || left.abs() > before.polling.max(now.polling) as f64 {
            return;
        }
        let fade = (-seconds / ATTRITION_SECONDS).exp();
        self.left = self.left * fade + left;
        self.waited = self.waited * fade + now.polling as f64 * seconds;
    }

    /// Recent newcomers per second.
    #[must_use]
    pub fn newcomers_per_second(&self) -> f64 {
        if self.newcomers_per_second < 1e-3 { 0.0 } else { self.newcomers_per_second }
    }

    /// The share of the waiting who give up per second; 0 while it is unknown.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        // Before anybody was seen to wait there is no share: an infinite one could not be written to the snapshot.
        let is_known = self.left >= FEWEST_LEAVERS && self.waited > 0.0;
        if is_known { self.left / self.waited } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(people_ahead: u64, waiting: u64, per_minute: f64) -> LineConditions {
        let admissions_per_second = per_minute / 60.0;
        LineConditions { people_ahead, waiting, admissions_per_second, ..LineConditions::default() }
    }

    #[test]
    fn people_ahead_divided_by_the_pace() {
        let wait = |ahead, per_minute| conditions(ahead, 0, per_minute).wait_seconds();
        assert_eq!(wait(10_000, 1_000.0).map(f64::round), Some(600.0));
        assert_eq!(wait(0, 60.0), Some(0.0));
        assert_eq!(wait(10, 0.0), None);
        let blocked = LineConditions { blocked_seconds: 45.0, ..conditions(60, 60, 60.0) };
        assert_eq!(blocked.wait_seconds(), Some(105.0), "first the window, then those ahead");
    }

    #[test]
    fn those_ahead_who_give_up_make_the_wait_shorter() {
        let leaving = |leaving_per_second, ahead| {
            let conditions = conditions(ahead, ahead, 60.0);
            LineConditions { leaving_per_second, ..conditions }.wait_seconds().unwrap()
        };
        assert!((leaving(0.0, 600) - 600.0).abs() < 1e-9);
        assert!((leaving(0.001, 600) - 470.0).abs() < 0.1, "{}", leaving(0.001, 600));
        let mut ahead = 600.0;
        let mut seconds = 0.0;
        while ahead > 0.0 {
            ahead -= 0.1 * (1.0 + 0.001 * ahead);
            seconds += 0.1;
        }
        assert!((leaving(0.001, 600) - seconds).abs() < 0.3, "as if counted down: {seconds}");
    }

    #[test]
    fn leavers_are_those_who_came_and_neither_entered_nor_wait() {
        let mut attrition = Attrition::default();
        let mut line = Line { now_ms: 0, polling: 1_000, came: 5_000, entered: 3_000 };
        for _ in 0..2_400 {
            attrition.observe(Some(line));
            // Every tick 5 come, 3 enter and 2 give up.
            line.now_ms += 250;
            (line.came, line.entered) = (line.came + 5, line.entered + 3);
        }
        assert!((attrition.per_second() - 0.008).abs() < 1e-4, "{attrition:?}");
        let before = attrition.per_second();
        line.came += 10_000;
        attrition.observe(Some(line));
        assert!((attrition.per_second() - before).abs() < 1e-9, "a gap is nobody");
        assert!(Attrition::default().per_second() < 1e-9);
    }

    #[test]
    fn a_crowd_that_is_gone_before_it_was_seen_to_wait_tells_no_share() {
        let mut attrition = Attrition::default();
        attrition.observe(Some(Line { now_ms: 0, polling: 30, came: 30, entered: 0 }));
        attrition.observe(Some(Line { now_ms: 250, polling: 0, came: 30, entered: 0 }));
        assert!(attrition.per_second().abs() < 1e-9, "{attrition:?}");
    }

    #[test]
    fn quartiles_of_a_random_wait() {
        let minutes = |waiting, per_minute| {
            conditions(0, waiting, per_minute).quartiles().map(|all| all.map(|n| n / 60.0))
        };
        let [low, middle, high] = minutes(100, 10.0).unwrap();
        assert!((low - 2.7305).abs() < 1e-4, "{low}");
        assert!((middle - 6.5788).abs() < 1e-4, "6 minutes 35 seconds: {middle}");
        assert!((high - 13.1576).abs() < 1e-4, "{high}");
        assert_eq!(minutes(100, 200.0), Some([0.125, 0.25, 0.375]), "all within half a minute");
        assert_eq!(minutes(100, 0.0), None);
    }

    fn seats(ceiling: u64, active: u64) -> Usage {
        Usage { ceiling: Some(ceiling), active, ..Usage::default() }
    }

    #[test]
    fn as_many_stand_by_as_seats_come_free_in_four_seconds_or_in_one_burst() {
        let mut steady = Pace::default();
        let mut bursts = Pace::default();
        for tick in 0..400_u64 {
            steady.observe(tick * 250, tick * 5 + 900, 900);
            bursts.observe(tick * 250, tick / 40 * 500 + 500, 500);
        }
        let people = |pace: &Pace, usage: Usage| (pace.standby(&usage).people() * 10.0).round();
        assert!((people(&Pace::default(), Usage::default()) - 10.0).abs() < 1e-9);
        assert!((people(&steady, seats(900, 900)) - 800.0).abs() < 1e-9, "{steady:?}");
        let standby = bursts.standby(&seats(500, 500)).people();
        assert!((400.0..=510.0).contains(&standby), "{bursts:?}");
    }

    #[test]
    fn before_seats_come_free_as_many_stand_by_as_entered_together() {
        let standby = |ceiling: u64, left: u64| {
            let mut pace = Pace::default();
            for tick in 0..40_u64 {
                let admitted = (tick * ceiling / 8).min(ceiling);
                let active = if tick < 30 { admitted } else { admitted - left };
                pace.observe(tick * 250, admitted, active);
            }
            pace.standby(&seats(ceiling, ceiling)).burst
        };
        assert!((390.0..=400.0).contains(&standby(400, 0)), "{}", standby(400, 0));
        assert!(standby(400, 150) < 200.0, "now it is known: {}", standby(400, 150));
        assert!((990.0..=1_000.0).contains(&standby(100_000, 0)), "{}", standby(100_000, 0));
    }

    #[test]
    fn where_a_rate_is_what_holds_people_back_it_is_the_pace() {
        let rated = Usage { rate: Some(1_200), ..Usage::default() };
        assert!((Pace::default().expected(&rated) - 20.0).abs() < 1e-9);
        let standby = Pace::default().standby(&rated).people();
        assert!((standby - 80.0).abs() < 1e-9, "also before the first has entered");
        let mut slow = Pace::default();
        for tick in 0..4_000_u64 {
            slow.observe(tick * 250, 5 + tick / 8, 5);
        }
        let both = Usage { rate: Some(1_200), ..seats(5, 5) };
        assert!((slow.expected(&both) - 0.5).abs() < 0.02, "five seats, ten seconds each");
        let roomy = Usage { rate: Some(6), ..seats(5, 4) };
        assert!((slow.expected(&roomy) - 0.1).abs() < 1e-9, "the smaller one decides");
    }

    #[test]
    fn the_fastest_pace_is_that_of_people_who_leave_together() {
        let mut pace = Pace::default();
        assert!((pace.fastest(&seats(500, 500)) - 25.0).abs() < 1e-9, "all within 20 s, perhaps");
        for tick in 0..400_u64 {
            pace.observe(tick * 250, tick / 40 * 500 + 500, 500);
        }
        let seen = pace.fastest(&seats(500, 500));
        assert!((100.0..=126.0).contains(&seen), "500 within 4 s: {seen}");
        let rated = Usage { rate: Some(600), ..seats(500, 500) };
        assert!((pace.fastest(&rated) - 10.0).abs() < 1e-9, "no faster than the rate");
        let free = Usage { active: 10, ..rated };
        assert!(pace.fastest(&free).abs() < 1e-9, "the rate holds people back: it is the pace");
    }

    #[test]
    fn how_fast_a_room_fills_says_nothing_of_how_fast_seats_come_free() {
        let mut pace = Pace::default();
        for tick in 0..40_u64 {
            pace.observe(tick * 250, 25 * tick, 25 * tick);
        }
        assert!(pace.expected(&seats(1_000, 975)).abs() < 1e-9, "nobody has left yet: unknown");
        assert!((pace.expected(&Usage::default()) - pace.per_second()).abs() < 1e-9);
        let mut ended = 0;
        for tick in 40..640_u64 {
            // Each of a thousand stays for 100 seconds on average.
            ended += if tick % 2 == 0 { 5 } else { 0 };
            pace.observe(tick * 250, 1_000 + ended, 1_000);
        }
        assert!((pace.expected(&seats(1_000, 1_000)) - 10.0).abs() < 0.3, "{pace:?}");
    }

    #[test]
    fn stays_of_which_nobody_saw_anything_make_the_pace_no_faster() {
        // Six enter after the first look, and before the second five of them have left.
        let mut late = Pace::default();
        late.observe(0, 0, 0);
        late.observe(1_500, 6, 1);
        late.observe(1_750, 6, 0);
        assert!(late.expected(&seats(6, 6)).abs() < 1e-9, "unknown: {late:?}");
        // Six who stay for two seconds, looked at before and after.
        let mut between = Pace::default();
        between.observe(0, 6, 6);
        between.observe(1_000, 6, 6);
        between.observe(3_000, 6, 0);
        let expected = between.expected(&seats(6, 6));
        assert!((expected - 3.0).abs() < 0.1, "six in two seconds: {expected}");
    }

    #[test]
    fn whoever_follows_knows_the_pace_and_a_leader_takes_nothing_twice() {
        let (mut leader, mut follower) = (Pace::default(), Pace::default());
        for tick in 0..400_u64 {
            let (now_ms, admitted) = (tick * 250, tick * 5 + 900);
            leader.observe(now_ms, admitted, 900);
            leader.follow(now_ms + 3, admitted, 900);
            follower.follow(now_ms + 3, admitted, 900);
        }
        let pace = |pace: &Pace| pace.expected(&seats(900, 900));
        assert!((pace(&leader) - 20.0).abs() < 0.1 && (pace(&follower) - 20.0).abs() < 0.1);
        assert_eq!(leader.last.unwrap().now_ms, 399 * 250);
    }

    #[test]
    fn people_who_leave_together_are_no_faster_than_others() {
        let mut pace = Pace::default();
        for tick in 0..2_400_u64 {
            pace.observe(tick * 250, 600 * (1 + tick / 240), 600);
        }
        let expected = pace.expected(&seats(600, 600));
        assert!((expected - 10.0).abs() < 1.5, "600 every minute: {expected}");
    }
}
