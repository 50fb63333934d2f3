//! Draws panels of curves, one above the other, over a shared time axis. It knows nothing about
//! crowds. Titles and legends are placed by hand: the charting library cannot measure text for SVG.

use anyhow::anyhow;
use plotters::{coord::types::RangedCoordf64, prelude::*};

use super::style::{
    Area, FADED, FOOTER, GRID, HEADER, INK, PAPER, WIDTH, bold, draw_footer, draw_header, text,
    tick, time_unit, upright,
};
use crate::number::{real, whole};

const PANEL: u32 = 236;
const PANELS: usize = 3;

/// How wide a letter of the legend is at most on average, in pixels: fonts differ.
const LETTER: f64 = 6.9;

type Plane = Cartesian2d<RangedCoordf64, RangedCoordf64>;
type Chart<'area, 'svg> = ChartContext<'area, SVGBackend<'svg>, Plane>;

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

/// The whole picture.
#[derive(Debug)]
pub(super) struct Picture {
    /// What it is of.
    pub(super) title: String,
    /// Under which conditions.
    pub(super) subtitle: String,
    /// Length of the time axis, in seconds.
    pub(super) span: f64,
    /// The panels, from top to bottom.
    pub(super) panels: [Panel; PANELS],
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
        let heights = self.curves.iter().flat_map(|curve| &curve.points).map(|p| p.1);
        heights.fold(0.0, f64::max).max(1.0) * 1.08
    }

    fn draw(&self, area: &Area<'_>, span: f64) -> anyhow::Result<()> {
        area.draw(&Text::new(self.title, (18, 8), bold(16)))?;
        self.draw_legend(area)?;
        let middle = i32::try_from(PANEL / 2)?;
        area.draw(&Text::new(self.unit, (12, middle), upright(&text(13, FADED))))?;
        self.draw_chart(area, span)
    }

    fn draw_chart(&self, area: &Area<'_>, span: f64) -> anyhow::Result<()> {
        let (scale, _) = time_unit(span);
        let mut chart = ChartBuilder::on(area)
            .margin_top(34)
            .margin_right(20)
            .x_label_area_size(24)
            .y_label_area_size(78)
            .build_cartesian_2d(0.0..span / scale, 0.0..self.top())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(FADED)
            .x_labels(12)
            .y_labels(5)
            .label_style(text(13, FADED))
            .x_label_formatter(&|x| tick(*x))
            .y_label_formatter(&|y| tick(*y))
            .draw()?;
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

// === impl Picture ===

impl Picture {
    /// Draws the picture as SVG.
    ///
    /// # Errors
    /// None that is known: the picture is drawn into memory.
    pub(super) fn draw(&self) -> anyhow::Result<String> {
        let mut svg = String::new();
        self.draw_into(&mut svg).map_err(|error| anyhow!("drawing the plot: {error}"))?;
        Ok(svg)
    }

    fn draw_into(&self, svg: &mut String) -> anyhow::Result<()> {
        let panels = u32::try_from(PANELS)?;
        let root = SVGBackend::with_string(svg, (WIDTH, HEADER + panels * PANEL + FOOTER))
            .into_drawing_area();
        root.fill(&PAPER)?;
        let (header, rest) = root.split_vertically(HEADER);
        draw_header(&header, &self.title, &self.subtitle)?;
        let (body, footer) = rest.split_vertically(panels * PANEL);
        for (area, panel) in body.split_evenly((PANELS, 1)).iter().zip(&self.panels) {
            panel.draw(area, self.span)?;
        }
        let (_, unit) = time_unit(self.span);
        draw_footer(&footer, format!("{unit} since the start"))?;
        root.present()?;
        Ok(())
    }
}
