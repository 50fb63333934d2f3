//! The rule of who is served, judged on paper: lines in which most people never come. Seats must not
//! stand empty for long, whoever the ghosts are and wherever they stand.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]
use std::collections::BTreeMap;

use rand::{Rng, SeedableRng, rngs::SmallRng};
use vestibule_domain::{
    presence::{Crowd, Presence},
    ripening::Ripening,
    serving::{Came, Line, Periods, Serving},
};

const TICK_MS: u64 = 250;
const STEP_MS: u64 = 50;
/// A place may take a seat once it has been served for so long.
const WEB_MS: u64 = 1_250;
/// What AWS-style clients wait between two looks at the public counter.
const AWS_MS: u64 = 2_000;
const LENGTH_MS: u64 = 120_000;
/// The seats are counted from here on.
const COUNTED_FROM_MS: u64 = 10_000;
const SEATS: u32 = 100;
const STAY_MS: u64 = 20_000;
/// Four seconds' worth of admissions.
const STANDBY: f64 = 20.0;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Checks in every second, and asks when its turn comes.
    Web,
    /// Looks at the public counter, and asks when its turn comes.
    Aws,
    /// Took a number, and never comes.
    Ghost,
    /// Checks in, is told its turn, and never asks.
    Idler,
}

/// A room with a line of which position `n` is `line[n - 1]`.
struct Room {
    line: Vec<Kind>,
    chance: SmallRng,
    serving: Serving,
    counter: u64,
    served_at: BTreeMap<u64, u64>,
    /// When somebody asks for the first time, and from which position.
    coming: Vec<(u64, u64)>,
    /// Position → since when it asks.
    door: BTreeMap<u64, u64>,
    /// Until when those inside stay.
    inside: Vec<u64>,
    came: Came,
    longest_overtaking_ms: u64,
}

impl Room {
    fn new(line: Vec<Kind>) -> Self {
        Self {
            line,
            chance: SmallRng::seed_from_u64(1),
            serving: Serving::default(),
            counter: 0,
            served_at: BTreeMap::new(),
            coming: Vec::new(),
            door: BTreeMap::new(),
            inside: Vec::new(),
            came: Came::default(),
            longest_overtaking_ms: 0,
        }
    }

    /// Plays the night, and returns the share of the seats in use.
    fn play(&mut self) -> f64 {
        let (mut used, mut seats) = (0_u32, 0_u32);
        let mut now = STEP_MS;
        while now < LENGTH_MS {
            self.inside.retain(|until| *until > now);
            self.come(now);
            self.enter(now);
            if now > COUNTED_FROM_MS {
                seats += SEATS;
                used += self.taken();
            }
            if now.is_multiple_of(TICK_MS) {
                self.tick(now);
            }
            now += STEP_MS;
        }
        f64::from(used) / f64::from(seats)
    }

    fn kind(&self, position: u64) -> Kind {
        self.line[usize::try_from(position - 1).unwrap()]
    }

    fn taken(&self) -> u32 {
        u32::try_from(self.inside.len()).unwrap()
    }

    fn come(&mut self, now: u64) {
        for (_, position) in self.coming.extract_if(.., |(at, _)| *at <= now).collect::<Vec<_>>() {
            self.door.insert(position, now);
            match self.kind(position) {
                Kind::Web => self.came.known += 1.0,
                _ => self.came.unknown += 1.0,
            }
        }
    }

    /// The lowest of those at the door enter, as far as seats are free.
    fn enter(&mut self, now: u64) {
        let ripe = |position: &u64| {
            let period = if self.kind(*position) == Kind::Web { WEB_MS } else { AWS_MS };
            self.served_at[position] + period <= now
        };
        let free = (SEATS - self.taken()) as usize;
        let entering: Vec<u64> = self.door.keys().copied().filter(ripe).take(free).collect();
        for position in &entering {
            self.door.remove(position);
            self.inside.push(now + STAY_MS / 2 + self.chance.random_range(0..STAY_MS));
        }
        if let Some(last) = entering.last() {
            let overtaken = self.door.range(..last).map(|(_, since)| now - since).max();
            self.longest_overtaking_ms = self.longest_overtaking_ms.max(overtaken.unwrap_or(0));
        }
    }

    fn tick(&mut self, now: u64) {
        self.serving.observe(std::mem::take(&mut self.came), now);
        let (there, unknown) = (self.people(true), self.people(false));
        let (from, end) = (self.counter, self.line.len() as u64);
        let line = Line { from, end, there: &there, unknown: &unknown, heard_at_ms: now };
        let at_door = f64::from(u32::try_from(self.door.len()).unwrap());
        let free = f64::from(SEATS - self.taken());
        let need = free + STANDBY - at_door - self.serving.expected();
        let periods = Periods { known: Ripening::evenly(0..WEB_MS), unknown_ms: AWS_MS };
        self.counter = self.serving.serve(&line, need, now, periods);
        for position in from + 1..=self.counter {
            self.served_at.insert(position, now);
            let asks_after = match self.kind(position) {
                Kind::Web => self.chance.random_range(0..1_000),
                Kind::Aws => self.chance.random_range(0..AWS_MS),
                Kind::Ghost | Kind::Idler => continue,
            };
            self.coming.push((now + asks_after, position));
        }
    }

    /// Who has not been served yet: those known to be there, or the others.
    fn people(&self, known: bool) -> Presence {
        let is = |kind: Kind| matches!(kind, Kind::Web | Kind::Idler) == known;
        let one = |position| Crowd { first: position, last: position, count: 1.0 };
        let waiting = self.counter + 1..=self.line.len() as u64;
        let mut crowds: Vec<Crowd> = Vec::new();
        for position in waiting.filter(|position| is(self.kind(*position))) {
            match crowds.last_mut() {
                Some(run) if run.last + 1 == position => {
                    (run.last, run.count) = (position, run.count + 1.0);
                }
                _ => crowds.push(one(position)),
            }
        }
        Presence::new(&crowds)
    }
}

/// A line of so many people, of whom a share is of kind `ghost`.
fn mixed(people: usize, ghosts: f64, honest: Kind, ghost: Kind) -> Vec<Kind> {
    let mut chance = SmallRng::seed_from_u64(1);
    (0..people).map(|_| if chance.random_bool(ghosts) { ghost } else { honest }).collect()
}

fn assert_used(line: Vec<Kind>, least: f64, what: &str) {
    let mut room = Room::new(line);
    let used = room.play();
    assert!(used >= least, "{what}: {used}");
    assert!(room.longest_overtaking_ms <= AWS_MS, "{what}: {}", room.longest_overtaking_ms);
}

#[test]
fn no_seat_stands_empty_for_long_however_many_never_come() {
    for (ghosts, people, least) in [(0.0, 3_000, 0.99), (0.5, 6_000, 0.99), (0.9, 30_000, 0.98)] {
        for honest in [Kind::Web, Kind::Aws] {
            for ghost in [Kind::Ghost, Kind::Idler] {
                let line = mixed(people, ghosts, honest, ghost);
                assert_used(line, least, &format!("{ghosts} {honest:?} {ghost:?}"));
            }
        }
    }
}

#[test]
fn nor_with_99_of_100_who_never_come() {
    for (honest, ghost) in [(Kind::Web, Kind::Ghost), (Kind::Aws, Kind::Idler)] {
        let line = mixed(150_000, 0.99, honest, ghost);
        assert_used(line, 0.95, &format!("{honest:?} {ghost:?}"));
    }
}

#[test]
fn nor_when_they_all_came_first_or_by_turns() {
    for first in [1_500, 10_000, 100_000] {
        let line = [vec![Kind::Ghost; first], vec![Kind::Web; 3_000]].concat();
        assert_used(line, 0.99, &format!("{first} first"));
    }
    let turn = [vec![Kind::Ghost; 2_000], vec![Kind::Web; 30], vec![Kind::Aws; 30]].concat();
    assert_used(turn.repeat(60), 0.99, "by turns");
    let sprung = [vec![Kind::Aws; 300], vec![Kind::Ghost; 50_000], vec![Kind::Aws; 3_000]];
    assert_used(sprung.concat(), 0.98, "sprung when everyone came");
}

/// Up to where a line of a thousand, who are known to be there and ask within ten seconds, is served in twenty,
/// if nobody comes.
fn searched(heard_at_ms: impl Fn(u64) -> u64) -> u64 {
    let (mut serving, mut counter) = (Serving::default(), 0);
    let periods = Periods { known: Ripening::evenly(0..10_000), unknown_ms: AWS_MS };
    for now in (TICK_MS..=20_000).step_by(250) {
        serving.observe(Came::default(), now);
        let there = Presence::new(&[Crowd { first: 1, last: 1_000, count: 1_000.0 }]);
        let (unknown, heard_at_ms) = (Presence::new(&[]), heard_at_ms(now));
        let line =
            Line { from: counter, end: 1_000, there: &there, unknown: &unknown, heard_at_ms };
        counter = serving.serve(&line, 5.0 - serving.expected(), now, periods);
    }
    counter
}

#[test]
fn a_line_that_is_out_of_reach_is_not_searched() {
    assert_eq!(searched(|now| now), 1_000, "others are heard");
    let unheard = searched(|_| 0);
    assert!(unheard < 100, "nobody is: {unheard}");
}
