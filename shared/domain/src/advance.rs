//! The leader's tick: where the serving counter should stand. A pure function of what a survey of
//! the room saw; the scripts apply it.
//!
//! The counter runs ahead of the free seats by a small standby group, so that a seat that frees
//! up is taken within a second by someone already at the door. It may, because the claim script
//! counts seats itself and lets nobody in over the limits.

use crate::{presence::Presence, slots::Use};

/// How long, in ms, the word of the join script on how many it let through outweighs presence,
/// whose counts travel a little later.
const PROMISE_SETTLES_MS: u64 = 1_000;

/// A room as a survey saw it.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// Redis's time of the survey, ms.
    pub now_ms: u64,
    /// The highest queue number handed out.
    pub queue_counter: u64,
    /// The serving counter.
    pub serving_counter: u64,
    /// Positions up to here have expired.
    pub expired_position: u64,
    /// Limits and their use.
    pub usage: Use,
    /// Whether admissions are paused (`queue_all` or `suspended`).
    pub held: bool,
    /// Let through by the join script and not yet seated.
    pub promised: u64,
    /// When the join script last let someone through, ms.
    pub promised_at_ms: u64,
    /// Until when presence is incomplete because the store was just restored, ms; till then
    /// everyone in line counts as there.
    pub presence_incomplete_until_ms: u64,
    /// Who is still there.
    pub presence: Presence,
}

/// What the tick decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Where the serving counter should stand: never below where it was.
    pub serving_counter: u64,
    /// How many at or below it are still there and without a seat.
    pub promised: u64,
    /// How many are waiting in all: at the door and behind.
    pub waiting: u64,
}

/// Decides one tick. `standby` people are wanted at the door besides those whom a seat awaits:
/// see [`crate::wait::Pace::standby`].
#[must_use]
pub fn plan(survey: &Survey, standby: u64) -> Plan {
    let door = people_at_door(survey);
    let target = seats_to_offer(survey, standby);
    let serving = match target {
        Some(target) if target > door && !survey.held => move_counter(survey, target - door),
        _ => survey.serving_counter,
    };
    Plan {
        serving_counter: serving,
        promised: door_after(survey, door, serving),
        waiting: waiting(survey, door),
    }
}

/// How many should stand at the door: as many as there are slots, and the standby group.
/// `None` for a room without limits, which only its operator advances.
fn seats_to_offer(survey: &Survey, standby: u64) -> Option<u64> {
    let slots = survey.usage.paced_slots()?;
    let nobody = survey.usage.ceiling == Some(0) || survey.usage.rate == Some(0);
    Some(if nobody { 0 } else { slots + standby })
}

fn people_at_door(survey: &Survey) -> u64 {
    let seen = whole(survey.presence.between(survey.expired_position, survey.serving_counter));
    let fresh = survey.now_ms.saturating_sub(survey.promised_at_ms) < PROMISE_SETTLES_MS;
    if fresh { seen.max(survey.promised) } else { seen }
}

fn move_counter(survey: &Survey, people: u64) -> u64 {
    let from = survey.serving_counter;
    let end = survey.queue_counter.max(from);
    if survey.now_ms < survey.presence_incomplete_until_ms {
        return (from + people).min(end);
    }
    survey.presence.reach(from, people, end)
}

fn door_after(survey: &Survey, door: u64, serving: u64) -> u64 {
    door + whole(survey.presence.between(survey.serving_counter, serving))
}

fn waiting(survey: &Survey, door: u64) -> u64 {
    if survey.now_ms < survey.presence_incomplete_until_ms {
        return survey.queue_counter.saturating_sub(survey.serving_counter) + door;
    }
    door + whole(survey.presence.between(survey.serving_counter, survey.queue_counter))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of people")]
fn whole(people: f64) -> u64 {
    people.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presence::Crowd;

    fn everyone(numbers: impl IntoIterator<Item = u64>) -> Presence {
        let present = |number| Crowd { first: number, last: number, count: 1 };
        Presence::new(numbers.into_iter().map(present).collect(), u64::MAX)
    }

    fn room(ceiling: u64, active: u64, queue: u64, serving: u64) -> Survey {
        Survey {
            now_ms: 1_000_000,
            queue_counter: queue,
            serving_counter: serving,
            usage: Use { ceiling: Some(ceiling), active, ..Use::default() },
            presence: everyone(serving + 1..=queue),
            ..Survey::default()
        }
    }

    #[test]
    fn fills_free_seats_and_the_standby_group() {
        let survey = room(100, 90, 1000, 90);
        assert_eq!(plan(&survey, 1).serving_counter, 101, "10 seats and at least one standby");
        assert_eq!(plan(&survey, 20).serving_counter, 120, "10 seats and 4 s of 5 a second");
    }

    #[test]
    fn people_already_at_the_door_count() {
        let survey = Survey { presence: everyone(85..=1000), ..room(100, 100, 1000, 90) };
        let plan = plan(&survey, 8);
        assert_eq!((plan.serving_counter, plan.promised), (92, 8), "6 stand there, 8 are wanted");
    }

    #[test]
    fn skips_those_who_closed_the_tab() {
        let there = (91..=1000).filter(|number| number % 2 == 0);
        let survey = Survey { presence: everyone(there), ..room(100, 91, 1000, 90) };
        let plan = plan(&survey, 1);
        assert_eq!(plan.serving_counter, 110, "10 of every 20 are there");
        assert_eq!((plan.promised, plan.waiting), (10, 455));
    }

    #[test]
    fn never_goes_back_and_never_passes_the_line() {
        assert_eq!(plan(&room(100, 100, 1000, 500), 1).serving_counter, 501);
        let ahead = room(100, 0, 10, 50);
        assert_eq!(plan(&ahead, 36).serving_counter, 50, "an operator ran ahead of the line");
        assert_eq!(plan(&room(1000, 0, 20, 3), 36).serving_counter, 20);
    }

    #[test]
    fn holds_when_told_to_and_without_limits() {
        assert_eq!(plan(&Survey { held: true, ..room(100, 0, 50, 0) }, 36).serving_counter, 0);
        let unlimited = Survey { usage: Use::default(), ..room(0, 0, 50, 7) };
        assert_eq!(plan(&unlimited, 36).serving_counter, 7);
        assert_eq!(plan(&room(0, 0, 50, 7), 36).serving_counter, 7, "a ceiling of nobody");
    }

    #[test]
    fn fresh_promises_outweigh_presence_that_is_still_on_its_way() {
        let survey = Survey {
            promised: 10,
            promised_at_ms: 999_500,
            presence: Presence::default(),
            ..room(10, 0, 30, 10)
        };
        assert_eq!(plan(&survey, 1).promised, 10);
        let later = Survey { promised_at_ms: 990_000, ..survey };
        assert_eq!(plan(&later, 1).promised, 0);
    }

    #[test]
    fn a_restored_room_takes_everyone_as_there() {
        let survey = Survey {
            presence: Presence::default(),
            presence_incomplete_until_ms: 2_000_000,
            ..room(100, 90, 1000, 90)
        };
        assert_eq!(plan(&survey, 1).serving_counter, 101);
    }
}
