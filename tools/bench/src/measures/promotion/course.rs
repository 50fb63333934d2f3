//! The course of one promotion: who came before, meanwhile and afterwards, and what became of everybody.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use tokio::time::sleep;
use vestibule_tests::Sentinels;

use super::{
    BEYOND, ROOM,
    death::{Death, Replica},
    whole,
};
use crate::{
    driver::{Newcomer, Newcomers, Place, lost_places},
    report::{Figures, Unit},
};

/// Until the pace is steady.
const BEGINNING: Duration = Duration::from_secs(2);
const BEFORE: Duration = Duration::from_secs(3);
const AFTERWARDS: Duration = Duration::from_secs(3);
/// For how long joins are waited for after the promotion, and how often is looked.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(50);

/// What happened.
#[derive(Debug)]
pub(super) struct Course {
    /// From here on joins are counted.
    steady: Instant,
    death: Death,
    came: Vec<Newcomer>,
    /// Newcomers for whom the driver had no connection.
    pub(super) left_out: usize,
}

// === impl Course ===

impl Course {
    /// Lets newcomers come to `admissions`, and the primary of `group` die meanwhile.
    pub(super) async fn run(
        group: &mut Sentinels,
        admissions: [SocketAddr; 2],
        per_second: u32,
        replica: Replica,
    ) -> Result<Self> {
        let newcomers = Newcomers::come(admissions.to_vec(), ROOM, per_second);
        sleep(BEGINNING).await;
        let steady = Instant::now();
        sleep(BEFORE).await;
        let death = Death::of(group, ROOM, replica).await?;
        for service in 0..admissions.len() {
            let answered = |one: &Newcomer| one.service == service && is_after(one, death.at);
            while !newcomers.any(answered) {
                let waited = death.other_named.elapsed();
                ensure!(waited < PATIENCE, "{waited:?} later admission {service} answers no join");
                sleep(LOOK).await;
            }
        }
        sleep(AFTERWARDS).await;
        let (came, left_out) = newcomers.stop()?;
        Ok(Self { steady, death, came, left_out })
    }

    /// The places that were given.
    pub(super) fn places(&self) -> impl Iterator<Item = &Place> {
        self.came.iter().filter_map(|one| one.place.as_ref())
    }

    /// How many were given none.
    pub(super) fn failed(&self) -> usize {
        self.came.iter().filter(|one| one.place.is_none()).count()
    }

    /// Joins answered per second while everything was well.
    pub(super) fn rate_before(&self) -> f64 {
        let of_time = self.steady..self.death.at;
        let answered = |one: &&Newcomer| one.place.is_some() && of_time.contains(&one.answered);
        let seconds = of_time.end.duration_since(of_time.start).as_secs_f64();
        whole(self.came.iter().filter(answered).count()) / seconds
    }

    /// How many had been answered before the primary died whom the replica did not know.
    pub(super) fn unsent(&self) -> usize {
        let before = self.came.iter().filter(|one| one.answered < self.death.at);
        let places = before.filter_map(|one| one.place.as_ref());
        places.filter(|place| place.number > self.death.replica_had).count()
    }

    /// The numbers that more than one newcomer was given.
    pub(super) fn numbers_given_twice(&self) -> Vec<u64> {
        let mut numbers: Vec<_> = self.places().map(|place| place.number).collect();
        numbers.sort_unstable();
        let mut twice: Vec<_> =
            numbers.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        twice.dedup();
        twice
    }

    /// What was said of the places that are lost, by the admission that did not give them.
    pub(super) async fn lost_places(&self, admissions: [SocketAddr; 2]) -> Result<Vec<String>> {
        let mut lost = Vec::new();
        for (service, other) in [(0, 1), (1, 0)] {
            let of_service = self.came.iter().filter(|one| one.service == service);
            let places: Vec<_> = of_service.filter_map(|one| one.place.as_ref()).collect();
            lost.extend(lost_places(admissions[other], ROOM, &places).await?);
        }
        Ok(lost)
    }

    /// `figures` with how long everything took.
    pub(super) fn add_times_to(&self, figures: Figures) -> Result<Figures> {
        let Death { at, other_named, .. } = self.death;
        let sentinels = other_named.duration_since(at).as_secs_f64();
        let (first, both) = (self.answered_again(0)?, self.answered_again(1)?);
        let (first, both) = (first.min(both), first.max(both));
        let failures = self.came.iter().filter(|one| one.place.is_none());
        let last_failure = failures.map(|one| one.answered.saturating_duration_since(at)).max();
        Ok(figures
            .add("seconds until the Sentinels name another primary", Unit::Number, [sentinels])
            .add("seconds until a join is answered again", Unit::Number, [first])
            .add("seconds until both admissions answer joins", Unit::Number, [both])
            .add("seconds beyond the Sentinels' own time", Unit::Number, [both - sentinels])
            .with_target(BEYOND)
            .add(
                "seconds until the last newcomer who was told to come again",
                Unit::Number,
                last_failure.map(|after| after.as_secs_f64()),
            ))
    }

    /// How many seconds after the primary's death a service answered somebody who came after it.
    fn answered_again(&self, service: usize) -> Result<f64> {
        let at = self.death.at;
        let after = self.came.iter().filter(|one| one.service == service && is_after(one, at));
        let first = after.map(|one| one.answered).min().context("nobody was answered again")?;
        Ok(first.duration_since(at).as_secs_f64())
    }
}

/// Whether the newcomer came after this moment, and was given a place.
fn is_after(one: &Newcomer, moment: Instant) -> bool {
    one.sent > moment && one.place.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A course with the death two seconds after its beginning; newcomers by service, and when each was sent and answered,
    /// ms after the beginning, with a number.
    fn course(came: &[(usize, u64, u64, Option<u64>)]) -> Course {
        let steady = Instant::now();
        let after = |millis| steady + Duration::from_millis(millis);
        let came = came.iter().map(|&(service, sent, answered, number)| Newcomer {
            service,
            sent: after(sent),
            answered: after(answered),
            place: number.map(|number| Place { ticket: Vec::new(), number }),
        });
        let death = Death { at: after(2_000), other_named: after(3_000), replica_had: 2 };
        Course { steady, death, came: came.collect(), left_out: 0 }
    }

    #[test]
    fn a_number_that_two_were_given_is_found_once() {
        let came = [(0, 1, 2, Some(4)), (1, 1, 3, Some(3)), (0, 2, 4, Some(4)), (1, 2, 5, Some(4))];
        assert_eq!(course(&came).numbers_given_twice(), [4]);
    }

    #[test]
    fn only_who_came_after_the_death_shows_that_joins_are_answered_again() {
        let came = [
            (0, 1_000, 1_001, Some(1)),
            (0, 1_990, 1_999, Some(3)),
            (0, 1_995, 2_400, Some(4)),
            (0, 2_001, 2_002, None),
            (0, 2_900, 3_500, Some(5)),
            (0, 3_100, 3_600, Some(6)),
        ];
        let course = course(&came);
        assert!((course.answered_again(0).unwrap() - 1.5).abs() < 1e-9);
        assert!(course.answered_again(1).is_err());
        assert_eq!((course.unsent(), course.failed()), (1, 1));
        assert!((course.rate_before() - 1.0).abs() < 1e-9);
    }
}
