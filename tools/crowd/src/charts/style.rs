//! How all pictures look: paper, ink, letters, and how axes are labelled. What is drawn is
//! elsewhere. Text is placed by hand: the charting library cannot measure it for SVG.

use plotters::{
    coord::Shift,
    prelude::*,
    style::{
        FontTransform,
        text_anchor::{HPos, Pos, VPos},
    },
};

pub(super) const BLUE: RGBColor = RGBColor(37, 99, 175);
pub(super) const AMBER: RGBColor = RGBColor(201, 125, 16);
pub(super) const GREEN: RGBColor = RGBColor(31, 135, 88);
pub(super) const RED: RGBColor = RGBColor(196, 48, 43);
pub(super) const PURPLE: RGBColor = RGBColor(126, 58, 160);
pub(super) const GREY: RGBColor = RGBColor(120, 128, 140);
pub(super) const INK: RGBColor = RGBColor(32, 38, 46);
pub(super) const FADED: RGBColor = RGBColor(98, 106, 117);
pub(super) const GRID: RGBColor = RGBColor(226, 230, 235);
pub(super) const PAPER: RGBColor = RGBColor(252, 252, 253);

/// Width of every picture, in pixels.
pub(super) const WIDTH: u32 = 900;

const FONT: &str = "Helvetica, Arial, sans-serif";
/// Spans longer than this are shown in minutes, in seconds.
const MINUTES_FROM: f64 = 600.0;
/// Spans longer than this are shown in hours, in seconds.
const HOURS_FROM: f64 = 4.0 * 3600.0;

/// A part of the picture.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Headings.
pub(super) fn bold(size: u32) -> TextStyle<'static> {
    (FONT, f64::from(size) * 1.24, FontStyle::Bold).into_font().color(&INK)
}

/// Everything else that is written.
pub(super) fn text(size: u32, colour: RGBColor) -> TextStyle<'static> {
    // The library draws text at 1/1.24 of the size it is asked for.
    (FONT, f64::from(size) * 1.24).into_font().color(&colour)
}

/// The same, around its point.
pub(super) fn centred(style: &TextStyle<'static>) -> TextStyle<'static> {
    style.pos(Pos::new(HPos::Center, VPos::Center))
}

/// The same, from bottom to top around its point.
pub(super) fn upright(style: &TextStyle<'static>) -> TextStyle<'static> {
    centred(&style.transform(FontTransform::Rotate270))
}

/// Seconds per unit of an axis of that many seconds, and the unit's name.
pub(super) fn time_unit(span: f64) -> (f64, &'static str) {
    match span {
        span if span > HOURS_FROM => (3600.0, "hours"),
        span if span > MINUTES_FROM => (60.0, "minutes"),
        _ => (1.0, "seconds"),
    }
}

/// The units of two axes that are looked at together: the same one, unless one is far shorter.
pub(super) fn time_units(spans: (f64, f64)) -> ((f64, &'static str), (f64, &'static str)) {
    let longer = time_unit(spans.0.max(spans.1));
    let unit = |span: f64| if span / longer.0 >= 3.0 { longer } else { time_unit(span) };
    (unit(spans.0), unit(spans.1))
}

/// A number at an axis, as short as it can be.
pub(super) fn tick(value: f64) -> String {
    let rounded = format!("{value:.2}");
    rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short() {
        assert_eq!([0.0, 2.5, 1000.0, 0.25].map(tick), ["0", "2.5", "1000", "0.25"]);
    }

    #[test]
    fn axes_count_in_units_that_people_think_in() {
        assert_eq!(
            [90.0, 1800.0, 20_000.0].map(|s| time_unit(s).1),
            ["seconds", "minutes", "hours"]
        );
        let together = |x, y| time_units((x, y)).1.1;
        assert_eq!((together(1800.0, 500.0), together(1800.0, 100.0)), ("minutes", "seconds"));
    }
}
