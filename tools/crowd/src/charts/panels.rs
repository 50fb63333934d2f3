//! Panels of curves, one above the other, over a shared time axis. It knows nothing about crowds.
//! Legends are placed by hand: the charting library cannot measure text for SVG.

use plotters::prelude::*;

use super::{
    frame::{Axes, Chart},
    style::{Area, INK, WIDTH, bold, text, time_unit},
};
use crate::crowd::number::{real, whole};

/// Height of a panel, in pixels.
pub(super) const PANEL: u32 = 236;
/// How wide a letter of the legend is at most on average, in pixels: fonts differ.
const LETTER: f64 = 6.9;

/// How a curve looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// A line with the area below it tinted.
    Area,
    /// A thin line.
    Line,
    /// A dashed line: a limit.
    Dashed,
}

/// One curve of a panel.
#[derive(Debug)]
pub(super) struct Curve {
    label: String,
    colour: RGBColor,
    look: Look,
    points: Vec<(f64, f64)>,
}

/// One panel.
#[derive(Debug)]
pub(super) struct Panel {
    title: &'static str,
    unit: &'static str,
    curves: Vec<Curve>,
}

/// Draws panels from top to bottom over a time axis of so many seconds.
pub(super) fn draw(body: &Area<'_>, panels: &[Panel], span: f64) -> anyhow::Result<()> {
    let areas = body.split_evenly((panels.len(), 1));
    panels.iter().zip(&areas).try_for_each(|(panel, area)| panel.draw(area, span))
}

// === impl Curve ===

impl Curve {
    /// A curve through these points of seconds and height.
    pub(super) fn new(
        label: impl Into<String>,
        colour: RGBColor,
        look: Look,
        points: Vec<(f64, f64)>,
    ) -> Self {
        Self { label: label.into(), colour, look, points }
    }

    /// Its highest point.
    pub(super) fn highest(&self) -> f64 {
        self.points.iter().map(|p| p.1).fold(0.0, f64::max)
    }

    /// Cuts it off at twice this height if it goes far beyond, and says so.
    pub(super) fn cut_above(&mut self, height: f64) {
        let highest = self.highest();
        if height > 0.0 && highest > 3.0 * height {
            self.label = format!("{} (off the scale: up to {highest:.0})", self.label);
            self.points.iter_mut().for_each(|point| point.1 = point.1.min(2.0 * height));
        }
    }

    fn stroke(&self) -> ShapeStyle {
        self.colour.stroke_width(if self.look == Look::Line { 1 } else { 2 })
    }

    fn tint(&self) -> RGBAColor {
        self.colour.mix(0.22)
    }

    fn draw(&self, chart: &mut Chart<'_, '_>, scale: f64) -> anyhow::Result<()> {
        let points = self.points.iter().map(|&(at, height)| (at / scale, height));
        match self.look {
            Look::Area => {
                let area = AreaSeries::new(points, 0.0, self.tint()).border_style(self.stroke());
                chart.draw_series(area)?;
            }
            Look::Line => {
                chart.draw_series(LineSeries::new(points, self.stroke()))?;
            }
            Look::Dashed => {
                chart.draw_series(DashedLineSeries::new(points, 7, 5, self.stroke()))?;
            }
        }
        Ok(())
    }

    /// A sample of the curve left of `x`, for the legend.
    fn draw_swatch(&self, area: &Area<'_>, x: i32) -> anyhow::Result<()> {
        let line = |from, to, y| PathElement::new(vec![(from, y), (to, y)], self.stroke());
        match self.look {
            Look::Area => {
                let corners = [(x - 26, 11), (x - 6, 21)];
                area.draw(&Rectangle::new(corners, self.tint().filled()))?;
                area.draw(&line(x - 26, x - 6, 11))?;
            }
            Look::Line => area.draw(&line(x - 26, x - 6, 16))?,
            Look::Dashed => {
                area.draw(&line(x - 26, x - 18, 16))?;
                area.draw(&line(x - 14, x - 6, 16))?;
            }
        }
        Ok(())
    }
}

// === impl Panel ===

impl Panel {
    /// A panel whose vertical axis counts in `unit`.
    pub(super) fn new(title: &'static str, unit: &'static str, curves: Vec<Curve>) -> Self {
        Self { title, unit, curves }
    }

    /// Where the vertical axis ends: a little above the highest curve.
    fn top(&self) -> f64 {
        self.curves.iter().map(Curve::highest).fold(1.0, f64::max) * 1.08
    }

    fn draw(&self, area: &Area<'_>, span: f64) -> anyhow::Result<()> {
        area.draw(&Text::new(self.title, (18, 8), bold(16)))?;
        self.draw_legend(area)?;
        let (scale, _) = time_unit(span);
        let ends = (span / scale, self.top());
        let axes = Axes {
            label: self.unit.to_owned(),
            ends,
            margin: (34, 20),
            numbers: 5,
            columns: false,
        };
        let mut chart = axes.draw(area)?;
        self.curves.iter().try_for_each(|curve| curve.draw(&mut chart, scale))
    }

    /// From right to left along the title's line.
    fn draw_legend(&self, area: &Area<'_>) -> anyhow::Result<()> {
        let mut right = f64::from(WIDTH) - 20.0;
        for curve in self.curves.iter().rev() {
            right -= LETTER * real(curve.label.chars().count());
            let x = i32::try_from(whole(right))?;
            area.draw(&Text::new(curve.label.clone(), (x, 10), text(13, INK)))?;
            curve.draw_swatch(area, x)?;
            right -= 46.0;
        }
        Ok(())
    }
}
