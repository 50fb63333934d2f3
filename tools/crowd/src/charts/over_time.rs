//! The run over time as an SVG of three panels: who is inside, who waits, and how fast people come
//! and are let in. This file chooses what is shown; `panels` draws it.

use std::iter;

use plotters::style::RGBColor;

use super::{
    frame::Frame,
    panels::{self, Curve, Look, PANEL, Panel},
    style::{AMBER, BLUE, GREEN, GREY, PURPLE, RED, time_unit},
};
use crate::{
    crowd::number::{index, level, real},
    record::{Levels, RunRecord, Steps},
};

/// Points per curve: a little finer than the picture's pixels allow to tell apart.
const POINTS: usize = 800;
/// Widths of a bin that people can think in, in seconds.
const BINS: [f64; 9] = [0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0];
/// The most bins over the whole run.
const MOST_BINS: f64 = 120.0;

/// Draws the run.
pub(super) fn draw(run: &RunRecord) -> anyhow::Result<String> {
    let setting = &run.setting;
    let span = run.duration.max(0.1);
    let levels = Levels::new(run);
    let heard = (!run.room.is_empty()).then_some(&levels.controller_heard);
    let mut inside = seen_and_said(
        ("inside, as visitors saw it", BLUE, &levels.inside),
        ("as the controller saw it", &levels.inside_controller),
        (heard, span),
    );
    inside.extend(of_company(run, span));
    inside.extend(limit("ceiling", setting.ceiling.map(f64::from), span));
    let alone = setting.company.is_empty();
    let controllers =
        if alone { "as the controller counts them" } else { "everybody, as the controller counts" };
    let mut waiting = seen_and_said(
        ("waiting and still there", AMBER, &levels.waiting),
        (controllers, &levels.waiting_controller),
        (heard, span),
    );
    // Ghosts wait too, as far as the controller can tell: they must not flatten the visitors' line.
    if let [seen, said] = &mut waiting[..] {
        said.cut_above(seen.highest());
    }
    let panels = [
        Panel::new("Inside", "visitors", inside),
        Panel::new("Waiting", "visitors", waiting),
        pace(run, span),
    ];
    let frame = Frame {
        title: format!("{}: {}", setting.what(), setting.arrival()),
        subtitle: setting.conditions().join(", "),
        company: setting.in_company(),
        axis: format!("{} since the start", time_unit(span).1),
        remark: None,
        height: u32::try_from(panels.len())? * PANEL,
    };
    Ok(frame.draw(|body| panels::draw(body, &panels, span))?.0)
}

/// A level as visitors saw it, and as a controller said it, if one did, while it was `heard`.
fn seen_and_said(
    (seen, colour, level): (&str, RGBColor, &Steps),
    (said, level_said): (&str, &Steps),
    (heard, span): (Option<&Steps>, f64),
) -> Vec<Curve> {
    let seen = Curve::new(seen, colour, Look::Area, sampled(level, span, |_| true));
    let said = heard.map(|heard| {
        let points = sampled(level_said, span, |at| heard.at(at) > 0);
        Curve::new(said, GREY, Look::Line, points)
    });
    iter::once(seen).chain(said).collect()
}

/// The seats that hostile company took, if any.
fn of_company(run: &RunRecord, span: f64) -> Option<Curve> {
    let seats = Steps::covering(run.company.seats(run.duration));
    let points = || sampled(&seats, span, |_| true);
    (seats.peak() > 0).then(|| Curve::new("hostile ones inside", PURPLE, Look::Line, points()))
}

fn limit(label: &str, height: Option<f64>, span: f64) -> Option<Curve> {
    let points = |height| vec![(0.0, height), (span, height)];
    height.map(|height| Curve::new(label, RED, Look::Dashed, points(height)))
}

fn pace(run: &RunRecord, span: f64) -> Panel {
    let bin = BINS.into_iter().find(|bin| span / bin <= MOST_BINS).unwrap_or(600.0);
    let admitted = per_second(run.visitors.iter().filter_map(|v| v.admitted), bin, span);
    let arrived = per_second(run.visitors.iter().filter_map(|v| v.arrived), bin, span);
    let most = run.setting.rate_per_minute.map(|rate| f64::from(rate) / 60.0);
    let let_in = Curve::new("let in", GREEN, Look::Area, admitted);
    let mut arrived = Curve::new("arrivals", GREY, Look::Line, arrived);
    // A rush at the start must not flatten everything after it.
    arrived.cut_above(let_in.highest().max(most.unwrap_or(0.0)));
    let mut curves = vec![arrived, let_in];
    curves.extend(limit("rate limit", most, span));
    Panel::new("Arrivals and admissions", "per second", curves)
}

/// At the moments of interest, evenly over the run. Its very end is left out: whoever is on the way then
/// has not gone.
fn sampled(steps: &Steps, span: f64, of_interest: impl Fn(f64) -> bool) -> Vec<(f64, f64)> {
    let moments = (0..POINTS).map(|nth| real(nth) / real(POINTS) * span);
    moments.filter(|at| of_interest(*at)).map(|at| (at, level(steps.at(at)))).collect()
}

/// How many moments a second fall into each bin, as the outline of a bar chart.
fn per_second(moments: impl Iterator<Item = f64>, bin: f64, span: f64) -> Vec<(f64, f64)> {
    let mut bins = vec![0_usize; index(span / bin) + 1];
    let last = bins.len() - 1;
    moments.for_each(|at| bins[index(at / bin).min(last)] += 1);
    let outline = bins.into_iter().enumerate().flat_map(|(nth, count)| {
        let (from, rate) = (real(nth) * bin, real(count) / bin);
        [(from, rate), ((from + bin).min(span), rate)]
    });
    outline.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        crowd::Setting,
        record::{Ending, RoomSample, VisitorRecord},
    };

    fn run() -> RunRecord {
        let visitor = |n: u16| {
            let (joined, admitted) = (f64::from(n) * 0.01, f64::from(n) * 0.2 + 1.0);
            VisitorRecord {
                arrived: Some(joined),
                joined: Some(joined),
                waited: true,
                admitted: Some(admitted),
                inside_until: Some(admitted + 10.0),
                ended: Some((admitted + 10.0, Ending::Left)),
                ..VisitorRecord::default()
            }
        };
        let sample =
            RoomSample { at: 3.0, active_users: 9, waiting: 80, admitted_last_minute: None };
        RunRecord {
            setting: Setting {
                ceiling: Some(50),
                rate_per_minute: Some(300),
                ..Setting::default()
            },
            visitors: (0..300).map(visitor).collect(),
            room: vec![sample],
            duration: 71.0,
            ..RunRecord::default()
        }
    }

    #[test]
    fn draws_every_panel_with_its_legend() {
        let svg = draw(&run()).unwrap();
        assert!(svg.starts_with("<svg width=\"900\""));
        for text in ["Inside", "ceiling", "Waiting", "rate limit", "let in", "off the scale"] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn hostile_company_is_named_and_its_seats_are_drawn() {
        let mut run = run();
        assert!(!draw(&run).unwrap().contains("hostile"));
        run.setting.company.ghosts = 27_000;
        run.room[0].waiting = 27_080;
        let svg = draw(&run).unwrap();
        assert!(svg.contains("hostile company: 27000 ghosts before the first visitor"));
        assert!(svg.contains("as the controller counts (off the scale: up to 27080)"));
        assert!(!svg.contains("hostile ones inside"));
        run.company.idlers.takes_a_seat(5.0);
        assert!(draw(&run).unwrap().contains("hostile ones inside"));
    }

    #[test]
    fn a_run_without_anybody_still_draws() {
        assert!(draw(&RunRecord::default()).unwrap().contains("</svg>"));
    }

    #[test]
    fn bins_count_per_second() {
        let points = per_second([0.1, 0.2, 1.9, 2.0].into_iter(), 2.0, 3.0);
        assert_eq!(points, [(0.0, 1.5), (2.0, 1.5), (2.0, 0.5), (3.0, 0.5)]);
    }
}
