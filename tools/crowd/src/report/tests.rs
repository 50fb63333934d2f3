//! The figures of small runs, each calculated by hand.

use super::*;
use crate::record::{Ending, RoomSample, VisitorRecord};

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
    Setting { ceiling: Some(2), rate_per_minute: Some(6), stay_seconds: 10.0, ..Setting::default() }
}

/// A site for two: 1 and 2 enter at once, 3 and 4 follow when they leave, 5 closes the tab.
fn run() -> RunRecord {
    let mut gone = visitor(5, 2.0, 0.0, 0.0);
    gone.admitted = None;
    gone.ended = Some((8.0, Ending::Abandoned));
    gone.waited = true;
    RunRecord {
        setting: setting(),
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
    let seen = Figures::new(&run()).visitors;
    assert_eq!((seen.arrived, seen.admitted, seen.admitted_at_once), (5, 4, 2));
    assert_eq!((seen.abandoned, seen.never_admitted, seen.unfinished), (1, 0, 0));
}

#[test]
fn shares_are_about_the_time_in_which_people_waited() {
    let figures = Figures::new(&run());
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
fn after_ten_seconds_the_time_in_which_the_site_fills_counts() {
    let setting = Setting { stay_seconds: 5.0, ..setting() };
    let inside = Figures::new(&RunRecord { setting, ..run() }).inside;
    // Both seats from 5 to 10 s, none for a second, then one until 12 s.
    let after_a_stay = inside.share_of_ceiling_while_waiting.expect("people waited");
    assert!((after_a_stay - 11.0 / 14.0).abs() < 1e-9, "{after_a_stay}");
    let after_ten = inside.share_of_ceiling_after_ten_seconds.expect("people waited");
    assert!((after_ten - 0.25).abs() < 1e-9, "{after_ten}");
}

#[test]
fn in_company_the_report_says_whose_figures_they_are() {
    let mut run = run();
    let alone = Report::new(&run, false);
    assert!(!alone.text().contains("ompany") && !alone.text().contains("first 10 s"));
    run.setting.company.idlers = 1;
    run.company.idlers.came = 1;
    let seat = run.company.idlers.takes_a_seat(3.0);
    run.company.idlers.gives_back(seat, 4.0);
    let report = Report::new(&run, false);
    assert_eq!(report.figures.visitors, alone.figures.visitors, "company is no visitor");
    assert_eq!(report.figures.inside.highest, 2);
    assert!(report.problems[0].contains("3 inside at once"), "{:?}", report.problems);
    let text = report.text();
    for part in ["In hostile company: 1 idler.", "first 10 s", "counts everybody", "took a seat"] {
        assert!(text.contains(part), "{part}: {text}");
    }
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
    let inside = Figures::new(&run).inside;
    assert_eq!(inside.highest_controller, Some(2));
    let share = inside.share_of_ceiling_while_waiting_controller.expect("there are samples");
    assert!((share - 0.75).abs() < 1e-9, "{share}");
    // Silent from 10.5 to 11 s: that half second is not counted.
    run.room = vec![sample(8.5, 1), sample(11.0, 2)];
    let inside = Figures::new(&run).inside;
    let share = inside.share_of_ceiling_while_waiting_controller.expect("there are samples");
    assert!((share - 1.25 / 1.5).abs() < 1e-9, "{share}");
}

#[test]
fn silent_leavers_fill_the_site_for_a_session_before_it_counts() {
    let setting = Setting { leave_silently: true, session_seconds: Some(11.5), ..setting() };
    let inside = Figures::new(&RunRecord { setting, ..run() }).inside;
    assert!((inside.measured_seconds - 0.5).abs() < 1e-9);
}

#[test]
fn who_closed_the_tab_cannot_be_overtaken() {
    let mut run = run();
    run.visitors[4].queue_number = Some(3);
    run.visitors[4].ended = Some((11.5, Ending::Abandoned));
    run.visitors[2].queue_number = Some(4);
    assert_eq!(Figures::new(&run).order.admitted_out_of_order, 0);
    run.visitors[4].ended = None;
    assert_eq!(Figures::new(&run).order.admitted_out_of_order, 2);
}

#[test]
fn a_number_held_twice_is_noticed() {
    let mut run = run();
    run.visitors[1].queue_number = Some(4);
    let identities = Figures::new(&run).identities;
    assert_eq!(identities.duplicate_queue_numbers, 2);
    assert_eq!(identities.duplicate_request_ids, 0);
}

#[test]
fn an_empty_run_is_valid_json_with_stable_names() {
    let report = Report::new(&RunRecord::default(), false);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["ok"], true);
    for path in [
        "/visitors/admitted",
        "/inside/share_of_ceiling_while_waiting",
        "/admissions/share_of_rate_while_waiting",
        "/order/admitted_out_of_order",
        "/latency/claim/p99_ms",
        "/setting/ceiling",
        "/estimates/known",
        "/estimates/first",
        "/estimates/all",
        "/inside/seat_taken_again",
        "/waiting/correlation_with_arrival",
    ] {
        assert!(json.pointer(path).is_some(), "{path}");
    }
    assert!(report.text().contains("nothing was wrong"));
}

#[test]
fn shows_what_is_known_and_leaves_out_the_rest() {
    let mut figures = Figures::default();
    figures.inside.share_of_ceiling_while_waiting = Some(0.9942);
    figures.calls.errors.insert("503".into(), 12);
    let text = Report { ok: false, problems: vec!["something".into()], figures }.text();
    assert!(text.contains("99.42%") && text.contains("WRONG: something"));
    assert!(!text.contains("controller's view"));
    assert!(text.lines().any(|line| line.split_whitespace().eq(["503", "12"])));
    assert!(text.lines().all(|line| line.trim_end() == line));
}
