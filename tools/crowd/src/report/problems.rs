//! The verdict: what in the figures must not be, in sentences. A low share of the ceiling or a bad
//! estimate is for people to judge; here is only what decides over the exit code.

use super::Figures;
use crate::{
    crowd::{
        duration,
        method::keeps_limits,
        number::{level, whole},
    },
    record::{Over, SHED},
};

/// Failures of connections, as opposed to statuses.
const BROKEN: [&str; 3] = ["connect", "disconnected", "timeout"];

/// Everything that was wrong.
pub(crate) fn find(figures: &Figures, over: Over, expect_outages: bool) -> Vec<String> {
    let mut problems = Vec::new();
    problems.extend(unfinished(figures, over));
    problems.extend(turned_away(figures));
    problems.extend(errors(figures, expect_outages));
    problems.extend(limits(figures));
    problems.extend(identities(figures));
    problems.extend(company(figures));
    problems.extend(figures.simulation.iter().flat_map(|seen| seen.broken.iter().cloned()));
    problems
}

fn unfinished(figures: &Figures, over: Over) -> Option<String> {
    let took = duration::human(figures.duration_seconds);
    let left = figures.visitors.unfinished;
    let why = match over {
        Over::Finished => return None,
        Over::TimedOut => "time was up",
        Over::Interrupted => "interrupted",
    };
    Some(format!("{why} after {took} with {left} visits unfinished"))
}

fn turned_away(figures: &Figures) -> impl Iterator<Item = String> {
    let seen = figures.visitors;
    let rejects = figures.setting.method.is_some_and(|method| method.rules().rejects());
    let counts = [
        (seen.failed, "gave up after errors"),
        (seen.expired, "were told `expired`"),
        // That is what such a room is for.
        (if rejects { 0 } else { seen.closed }, "were told `closed`"),
    ];
    counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} visitors {what}"))
}

fn errors(figures: &Figures, expect_outages: bool) -> impl Iterator<Item = String> {
    let expected =
        move |kind: &str| SHED.contains(&kind) || expect_outages && BROKEN.contains(&kind);
    let unexpected = figures.calls.errors.iter().filter(move |(kind, _)| !expected(kind));
    unexpected.map(|(kind, count)| format!("{count} calls failed: {kind}"))
}

fn limits(figures: &Figures) -> impl Iterator<Item = String> {
    let kept = keeps_limits(figures.setting.method);
    let ceiling = figures.setting.ceiling.filter(|_| kept).map(i64::from);
    let rate = figures.setting.rate_per_minute.filter(|_| kept).map(i64::from);
    let (inside, admissions) = (&figures.inside, &figures.admissions);
    let everybody = figures.company.as_ref().map(|company| company.highest_inside_with_visitors);
    let checks = [
        (everybody, ceiling, "inside at once, as visitors and hostile company saw it"),
        (Some(inside.highest), ceiling, "inside at once, as the visitors saw it"),
        (inside.highest_controller, ceiling, "inside at once, as the controller saw it"),
        (admissions.highest_in_a_minute_controller, rate, "admitted in a minute (controller)"),
    ];
    checks.into_iter().filter_map(|(seen, limit, what)| {
        let (seen, limit) = (seen?, limit?);
        let over = || whole(level(seen - limit) / level(limit) * 100.0);
        (seen > limit).then(|| format!("{seen} {what}: {}% over the limit of {limit}", over()))
    })
}

/// Hostile ones are refused as often as it takes, but the rehearsal is another one if ghosts are missing,
/// and nothing that they send may break a service.
fn company(figures: &Figures) -> impl Iterator<Item = String> {
    let missing = figures.company.iter().filter_map(|company| {
        let ghosts = &company.ghosts;
        (ghosts.taken < ghosts.wanted.into()).then(|| {
            let (taken, wanted) = (ghosts.taken, ghosts.wanted);
            let errors: Vec<_> = ghosts.errors.keys().map(String::as_str).collect();
            let errors = errors.join(", ");
            format!("only {taken} of {wanted} ghosts got a number: assign_queue_num failed with {errors}")
        })
    });
    let broken = figures.company.iter().flat_map(|company| company.errors());
    let broken = broken.filter(|(kind, _)| kind.starts_with('5') && !SHED.contains(kind));
    missing.chain(
        broken.map(|(kind, count)| format!("{count} calls of hostile company failed: {kind}")),
    )
}

fn identities(figures: &Figures) -> impl Iterator<Item = String> {
    let seen = figures.identities;
    let counts = [
        (seen.duplicate_queue_numbers, "queue number"),
        (seen.duplicate_request_ids, "request id"),
    ];
    let shared = counts.into_iter().filter(|(n, _)| *n > 0);
    shared.map(|(n, what)| format!("{n} visitors share a {what} with another one"))
}

#[cfg(test)]
mod tests {
    use vestibule_domain::QueueingMethod;

    use super::*;
    use crate::report::company::{Ghosts, HostileCompany};

    fn figures() -> Figures {
        let mut figures = Figures::default();
        figures.setting.ceiling = Some(100);
        figures.inside.highest = 100;
        figures.calls.errors.insert("503".into(), 9);
        figures
    }

    #[test]
    fn a_full_site_and_retried_503s_are_fine() {
        assert_eq!(find(&figures(), Over::Finished, false), Vec::<String>::new());
    }

    #[test]
    fn one_too_many_inside_is_not() {
        let mut figures = figures();
        figures.inside.highest_controller = Some(101);
        let problems = find(&figures, Over::Finished, false);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("101 inside at once, as the controller saw it"));
        figures.setting.method = Some(QueueingMethod::Passthrough);
        assert!(find(&figures, Over::Finished, false).is_empty(), "there is no limit to keep");
    }

    #[test]
    fn outages_count_unless_expected() {
        let mut figures = figures();
        figures.calls.errors.insert("connect".into(), 3);
        assert_eq!(find(&figures, Over::Finished, false), ["3 calls failed: connect"]);
        assert!(find(&figures, Over::Finished, true).is_empty());
        figures.calls.errors.insert("500".into(), 1);
        assert_eq!(find(&figures, Over::Finished, true), ["1 calls failed: 500"]);
    }

    #[test]
    fn company_may_be_refused_but_must_be_complete_and_break_nothing() {
        let mut figures = figures();
        let ghosts = Ghosts { wanted: 9, taken: 9, ..Ghosts::default() };
        let mut company = HostileCompany { ghosts, ..HostileCompany::default() };
        company.idlers.errors = [("400".into(), 5), ("503".into(), 5)].into();
        figures.company = Some(company);
        assert_eq!(find(&figures, Over::Finished, false), Vec::<String>::new());
        let company = figures.company.as_mut().unwrap();
        company.ghosts.taken = 8;
        company.ghosts.errors.insert("404".into(), 6);
        company.idlers.errors.insert("500".into(), 2);
        company.highest_inside_with_visitors = 101;
        let problems = find(&figures, Over::Finished, false);
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(problems[0].contains("101 inside"), "{problems:?}");
        assert!(problems[1].contains("8 of 9") && problems[1].contains("404"), "{problems:?}");
        assert_eq!(problems[2], "2 calls of hostile company failed: 500");
    }

    #[test]
    fn a_run_cut_short_is_a_problem() {
        assert_eq!(find(&figures(), Over::TimedOut, false).len(), 1);
    }
}
