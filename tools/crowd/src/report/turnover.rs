//! How soon a seat that came free was taken again, while people waited. Seats are all alike, so the
//! longest free one counts as the one that is taken: the strictest way to match them.

use std::collections::VecDeque;

use crate::{
    crowd::number::index,
    record::{RunRecord, Steps, Waits},
};

/// What happens to seats, in the order in which it counts at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Freed,
    Taken,
}

/// Seconds from a seat's coming free to its being taken, for seats that came free while somebody
/// waited. `None` without a ceiling, or when that never happened.
pub(super) fn measure(run: &RunRecord, waiting: &Steps) -> Option<Waits> {
    let mut never_used = index(f64::from(run.setting.ceiling?));
    let mut free = VecDeque::new();
    let mut taken = Vec::new();
    for (at, event) in events(run) {
        match event {
            // While nobody waits a free seat has nobody to take it.
            Event::Freed if waiting.at(at) == 0 => never_used += 1,
            Event::Freed => free.push_back(at),
            Event::Taken if never_used > 0 => never_used -= 1,
            Event::Taken => taken.extend(free.pop_front().map(|since: f64| at - since)),
        }
        if waiting.at(at) == 0 {
            never_used += free.len();
            free.clear();
        }
    }
    (!taken.is_empty()).then(|| Waits::new(taken))
}

fn events(run: &RunRecord) -> Vec<(f64, Event)> {
    let stays = run.visitors.iter().filter_map(|v| v.inside(run.duration));
    let over = |until: f64| (until < run.duration).then_some((until, Event::Freed));
    let mut events: Vec<_> = stays
        .flat_map(|(from, until)| [Some((from, Event::Taken)), over(until)])
        .flatten()
        .collect();
    events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{crowd::Setting, record::VisitorRecord};

    fn visitor(joined: f64, admitted: f64, left: f64) -> VisitorRecord {
        VisitorRecord {
            joined: Some(joined),
            waited: admitted > joined,
            admitted: Some(admitted),
            inside_until: Some(left),
            ..VisitorRecord::default()
        }
    }

    fn measured(visitors: Vec<VisitorRecord>) -> Option<Waits> {
        let setting = Setting { ceiling: Some(2), ..Setting::default() };
        let run = RunRecord { setting, visitors, duration: 100.0, ..RunRecord::default() };
        let waiting = Steps::covering(run.visitors.iter().filter_map(|v| v.waiting(100.0)));
        measure(&run, &waiting)
    }

    #[test]
    fn a_seat_is_taken_some_time_after_it_came_free() {
        let waits = measured(vec![
            visitor(0.0, 0.0, 10.0),
            visitor(0.0, 0.0, 20.0),
            visitor(1.0, 10.5, 30.0),
            visitor(2.0, 22.0, 40.0),
        ]);
        let waits = waits.expect("two seats were taken again");
        assert_eq!((waits.count, waits.p50_seconds, waits.max_seconds), (2, 0.5, 2.0));
    }

    #[test]
    fn a_seat_that_nobody_waited_for_was_not_taken_late() {
        let empty = vec![visitor(0.0, 0.0, 5.0), visitor(50.0, 50.0, 60.0)];
        assert_eq!(measured(empty), None);
    }
}
