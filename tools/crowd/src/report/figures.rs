//! The figures of the report, calculated from what was recorded. Pure: the same record gives the
//! same figures. How they are shown is for `table`, `plot` and the JSON encoder.

use super::{
    correlation, estimates,
    order::{self, Waiter},
    sections::{Admissions, Figures, Identities, Inside, Setting, Visitors, Waiting},
    spread,
    steps::Steps,
    turnover,
};
use crate::{
    answer::Call,
    number::real,
    record::{Ending, RunRecord, VisitorRecord},
};

/// Length of the window that a rate limit is about, in seconds.
const RATE_WINDOW: f64 = 60.0;
/// How long what the controller said may be taken to hold, in seconds.
const SAMPLE_HOLDS: f64 = 2.0;

/// The levels over time that both the figures and the plot need.
#[derive(Debug)]
pub(crate) struct Levels {
    /// Inside, from the visitors' view.
    pub(crate) inside: Steps,
    /// Waiting and still there, from the visitors' view.
    pub(crate) waiting: Steps,
    /// Inside, as the controller said.
    pub(crate) inside_controller: Steps,
    /// Waiting, as the controller said.
    pub(crate) waiting_controller: Steps,
    /// Above zero while what the controller said last is recent enough to go by.
    pub(crate) controller_heard: Steps,
}

// === impl Levels ===

impl Levels {
    /// The levels of a run.
    pub(crate) fn of(run: &RunRecord) -> Self {
        let end = run.duration;
        Self {
            inside: Steps::covering(run.visitors.iter().filter_map(|v| v.inside(end))),
            waiting: Steps::covering(run.visitors.iter().filter_map(|v| v.waiting(end))),
            inside_controller: Steps::of(run.room.iter().map(|s| (s.at, s.active_users))),
            waiting_controller: Steps::of(run.room.iter().map(|s| (s.at, s.waiting))),
            controller_heard: Steps::covering(heard(run)),
        }
    }
}

// === impl Figures ===

impl Figures {
    /// Calculates everything from what was recorded.
    pub(crate) fn of(setting: Setting, run: &RunRecord) -> Self {
        let levels = Levels::of(run);
        let span = levels.waiting.span();
        // Whoever came before the room opened could not have entered any sooner.
        let open = span.map(|(from, until)| (from.max(run.opened), until));
        let latency = |call: Call| spread::latency(&run.calls.latencies[call as usize]);
        Self {
            duration_seconds: run.duration,
            visitors: visitors(&run.visitors),
            joins_per_second: joins_per_second(&run.visitors),
            waiting: Waiting {
                highest: levels.waiting.peak(),
                first_at_seconds: span.map(|s| s.0),
                last_at_seconds: span.map(|s| s.1),
                waits: spread::waits(run),
                correlation_with_arrival: correlation::pearson(&correlation::arrivals_and_waits(
                    run,
                )),
            },
            admissions: admissions(&setting, run, open),
            inside: inside(&setting, run, &levels),
            order: order::measure(&waiters(run)),
            identities: identities(&run.visitors),
            latency: Call::ALL.map(|call| (call.name(), latency(call))).into(),
            longest_wait_for_connection_ms: f64::from(run.calls.longest_queued) / 1000.0,
            errors: run.calls.errors.clone(),
            peak_polls_per_second: run.calls.polls.iter().copied().max().unwrap_or(0),
            mean_polls_per_second: span.and_then(|span| polls_per_second(run, span)),
            peak_calls_per_second: run.calls.all.iter().copied().max().unwrap_or(0),
            estimates: estimates::judge(run),
            simulation: None,
            setting,
        }
    }
}

/// From each sample to the next, if that came soon.
fn heard(run: &RunRecord) -> impl Iterator<Item = (f64, f64)> {
    let ends = run.room.iter().skip(1).map(|next| next.at).chain([run.duration]);
    run.room.iter().zip(ends).map(|(sample, end)| (sample.at, end.min(sample.at + SAMPLE_HOLDS)))
}

fn visitors(all: &[VisitorRecord]) -> Visitors {
    let count = |is: &dyn Fn(&VisitorRecord) -> bool| all.iter().filter(|v| is(v)).count();
    let ended = |how: Ending| count(&|v| v.ending() == Some(how));
    let arrived = count(&|v| v.arrived.is_some());
    let admitted = count(&|v| v.admitted.is_some());
    Visitors {
        arrived,
        joined: count(&|v| v.joined.is_some()),
        admitted_at_once: count(&|v| v.admitted.is_some() && !v.waited),
        admitted,
        left: ended(Ending::Left),
        ran_out: ended(Ending::RanOut),
        abandoned: ended(Ending::Abandoned),
        never_admitted: arrived - admitted - ended(Ending::Abandoned),
        expired: ended(Ending::Expired),
        closed: ended(Ending::Closed),
        failed: ended(Ending::Failed),
        unfinished: count(&|v| v.ended.is_none()),
    }
}

/// Over the time from the first arrival to the last answer of a join that was asked for in it.
fn joins_per_second(visitors: &[VisitorRecord]) -> f64 {
    let joins = visitors.iter().filter_map(|v| Some((v.arrived?, v.joined?)));
    let (mut count, mut first, mut last) = (0, f64::INFINITY, 0.0_f64);
    for (arrived, joined) in joins {
        count += 1;
        first = first.min(arrived);
        last = last.max(joined);
    }
    if last > first { real(count) / (last - first) } else { 0.0 }
}

fn polls_per_second(run: &RunRecord, (from, until): (f64, f64)) -> Option<f64> {
    let polls: f64 = run.calls.polls.iter().copied().map(f64::from).sum();
    (until > from).then(|| polls / (until - from))
}

fn admissions(setting: &Setting, run: &RunRecord, span: Option<(f64, f64)>) -> Admissions {
    let mut moments: Vec<f64> = run.visitors.iter().filter_map(|v| v.admitted).collect();
    moments.sort_by(f64::total_cmp);
    let per_minute = span.filter(|(from, until)| from < until).map(|(from, until)| {
        let within = moments.iter().filter(|at| (from..=until).contains(*at)).count();
        real(within) * 60.0 / (until - from)
    });
    Admissions {
        per_minute_while_waiting: per_minute,
        highest_in_a_minute: most_within(&moments, RATE_WINDOW),
        highest_in_a_minute_controller: run
            .room
            .iter()
            .filter_map(|s| s.admitted_last_minute)
            .max(),
        share_of_rate_while_waiting: setting
            .rate_per_minute
            .and_then(|rate| Some(share_of_rate(f64::from(rate), &moments, span?))),
    }
}

/// How much of a rate was used while people waited. Whoever waits may do so because a burst has
/// just used a minute's allowance, so the time begins with the admissions of the minute before.
fn share_of_rate(rate: f64, moments: &[f64], (from, until): (f64, f64)) -> f64 {
    let before = moments.iter().copied().find(|at| *at > from - RATE_WINDOW);
    let from = before.map_or(from, |at| at.min(from));
    let made = moments.iter().filter(|at| (from..=until).contains(*at)).count();
    real(made) / (rate * (until - from).max(RATE_WINDOW) / RATE_WINDOW)
}

/// The most of these sorted moments within any half-open window of that length.
fn most_within(moments: &[f64], window: f64) -> usize {
    let mut first = 0;
    let counts = moments.iter().enumerate().map(|(last, at)| {
        while at - moments[first] >= window {
            first += 1;
        }
        last + 1 - first
    });
    counts.max().unwrap_or(0)
}

fn inside(setting: &Setting, run: &RunRecord, levels: &Levels) -> Inside {
    let from = warm_up(setting, run);
    let share = |inside: &Steps, busy: &Steps| {
        let (mean, seconds) = inside.mean_while(busy, from, run.duration)?;
        Some((mean / f64::from(setting.ceiling?), seconds))
    };
    let seen = share(&levels.inside, &levels.waiting);
    let busy_and_heard = levels.waiting.lower_of(&levels.controller_heard);
    let controller = Some(&levels.inside_controller).filter(|_| !run.room.is_empty());
    Inside {
        highest: levels.inside.peak(),
        highest_controller: controller.map(Steps::peak),
        share_of_ceiling_while_waiting: seen.map(|s| s.0),
        share_of_ceiling_while_waiting_controller: controller
            .and_then(|inside| share(inside, &busy_and_heard))
            .map(|s| s.0),
        measured_seconds: seen.map_or(0.0, |s| s.1),
        seat_taken_again: turnover::measure(setting, run, &levels.waiting),
    }
}

/// The site is still filling until the first who entered could have left again.
fn warm_up(setting: &Setting, run: &RunRecord) -> f64 {
    let first = run.visitors.iter().filter_map(|v| v.admitted).fold(f64::INFINITY, f64::min);
    let session = setting.session_seconds.unwrap_or(f64::INFINITY);
    let held = match (setting.leave_silently, session.is_finite()) {
        (true, true) => session,
        _ => setting.stay_seconds.min(session),
    };
    first + held
}

/// Those who closed the tab are left out: nobody can overtake someone who is not there.
fn waiters(run: &RunRecord) -> Vec<Waiter> {
    let stayed = run.visitors.iter().filter(|v| v.ending() != Some(Ending::Abandoned));
    let waiter = |v: &VisitorRecord| {
        let from = v.joined?;
        let until = v.admitted.or(v.ended.map(|(at, _)| at)).unwrap_or(run.duration);
        let place = v.position.or(v.queue_number)?;
        Some(Waiter { place, from, until, admitted: v.admitted.is_some() })
    };
    stayed.filter_map(waiter).collect()
}

fn identities(visitors: &[VisitorRecord]) -> Identities {
    let numbers = visitors.iter().filter_map(|v| v.queue_number.map(u128::from)).collect();
    let ids = visitors.iter().filter_map(|v| v.request_id).collect();
    Identities {
        duplicate_queue_numbers: duplicates(numbers),
        duplicate_request_ids: duplicates(ids),
    }
}

fn duplicates(mut values: Vec<u128>) -> usize {
    values.sort_unstable();
    values.chunk_by(|a, b| a == b).map(<[_]>::len).filter(|&n| n > 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RoomSample;

    /// Joins, waits, enters, leaves: in the order of the arguments.
    fn visitor(number: u64, joined: f64, admitted: f64, left: f64) -> VisitorRecord {
        VisitorRecord {
            arrived: Some(joined),
            joined: Some(joined),
            queue_number: Some(number),
            waited: admitted > joined,
            admitted: Some(admitted),
            inside_until: Some(left),
            ended: Some((left, Ending::Left)),
            ..VisitorRecord::default()
        }
    }

    fn setting() -> Setting {
        Setting {
            ceiling: Some(2),
            rate_per_minute: Some(6),
            stay_seconds: 10.0,
            ..Setting::default()
        }
    }

    /// A site for two: 1 and 2 enter at once, 3 and 4 follow when they leave, 5 closes the tab.
    fn run() -> RunRecord {
        let mut gone = visitor(5, 2.0, 0.0, 0.0);
        gone.admitted = None;
        gone.ended = Some((8.0, Ending::Abandoned));
        gone.waited = true;
        RunRecord {
            visitors: vec![
                visitor(1, 0.0, 0.0, 10.0),
                visitor(2, 0.0, 0.0, 10.0),
                visitor(3, 0.0, 11.0, 21.0),
                visitor(4, 1.0, 12.0, 22.0),
                gone,
            ],
            duration: 22.0,
            ..RunRecord::default()
        }
    }

    #[test]
    fn counts_what_became_of_everyone() {
        let seen = Figures::of(setting(), &run()).visitors;
        assert_eq!((seen.arrived, seen.admitted, seen.admitted_at_once), (5, 4, 2));
        assert_eq!((seen.abandoned, seen.never_admitted, seen.unfinished), (1, 0, 0));
    }

    #[test]
    fn shares_are_about_the_time_in_which_people_waited() {
        let figures = Figures::of(setting(), &run());
        assert_eq!(figures.waiting.highest, 3);
        assert_eq!(figures.waiting.last_at_seconds, Some(12.0));
        // After the first stay (10 s) somebody waits until 12 s: empty for 1 s, then one of two.
        let share = figures.inside.share_of_ceiling_while_waiting.expect("people waited");
        assert!((share - 0.25).abs() < 1e-9, "{share}");
        assert!((figures.inside.measured_seconds - 2.0).abs() < 1e-9);
        // Four admissions in the twelve seconds from the first who waited: 20 a minute.
        let per_minute = figures.admissions.per_minute_while_waiting.expect("people waited");
        assert!((per_minute - 20.0).abs() < 1e-9, "{per_minute}");
        assert_eq!(figures.inside.highest, 2);
        assert_eq!(figures.inside.share_of_ceiling_while_waiting_controller, None);
    }

    #[test]
    fn the_controller_has_a_view_of_its_own() {
        let sample = |at, active_users| RoomSample {
            at,
            active_users,
            waiting: 0,
            admitted_last_minute: Some(active_users),
        };
        let mut run = run();
        run.room = vec![sample(0.0, 1), sample(10.0, 2), sample(11.0, 1)];
        let inside = Figures::of(setting(), &run).inside;
        assert_eq!(inside.highest_controller, Some(2));
        let share = inside.share_of_ceiling_while_waiting_controller.expect("there are samples");
        assert!((share - 0.75).abs() < 1e-9, "{share}");
        // Silent from 10.5 to 11 s: that half second is not counted.
        run.room = vec![sample(8.5, 1), sample(11.0, 2)];
        let inside = Figures::of(setting(), &run).inside;
        let share = inside.share_of_ceiling_while_waiting_controller.expect("there are samples");
        assert!((share - 1.25 / 1.5).abs() < 1e-9, "{share}");
    }

    #[test]
    fn silent_leavers_fill_the_site_for_a_session_before_it_counts() {
        let setting = Setting { leave_silently: true, session_seconds: Some(11.5), ..setting() };
        let inside = Figures::of(setting, &run()).inside;
        assert!((inside.measured_seconds - 0.5).abs() < 1e-9);
    }

    #[test]
    fn the_busiest_minute_is_any_sixty_seconds() {
        assert_eq!(most_within(&[0.0, 59.9, 60.0, 119.0], RATE_WINDOW), 3);
        assert_eq!(most_within(&[], RATE_WINDOW), 0);
    }

    #[test]
    fn who_closed_the_tab_cannot_be_overtaken() {
        let mut run = run();
        run.visitors[4].queue_number = Some(3);
        run.visitors[4].ended = Some((11.5, Ending::Abandoned));
        run.visitors[2].queue_number = Some(4);
        assert_eq!(Figures::of(setting(), &run).order.admitted_out_of_order, 0);
        run.visitors[4].ended = None;
        assert_eq!(Figures::of(setting(), &run).order.admitted_out_of_order, 2);
    }

    #[test]
    fn a_number_held_twice_is_noticed() {
        let mut run = run();
        run.visitors[1].queue_number = Some(4);
        let identities = Figures::of(setting(), &run).identities;
        assert_eq!(identities.duplicate_queue_numbers, 2);
        assert_eq!(identities.duplicate_request_ids, 0);
    }
}
