//! The frame of every picture: what it is of, under which conditions, what its axis counts; and the
//! axes of its charts. What is drawn inside is elsewhere.

use anyhow::anyhow;
use plotters::{
    coord::types::RangedCoordf64,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::style::{
    Area, FADED, GREY, GRID, PAPER, RED, WIDTH, bold, centred, text, tick, upright,
};

/// Height of the part with the title, in pixels.
const HEADER: u32 = 64;
/// Height of one more line of it, in pixels.
const LINE: u32 = 20;
/// Height of the part below the horizontal axis, in pixels.
const FOOTER: u32 = 26;

/// What is written around a picture.
#[derive(Debug)]
pub(super) struct Frame {
    /// What it is of.
    pub(super) title: String,
    /// Under which conditions.
    pub(super) subtitle: String,
    /// In which company, if any: a line of its own.
    pub(super) company: Option<String>,
    /// What the horizontal axis counts.
    pub(super) axis: String,
    /// How the picture was made, if that must be known.
    pub(super) remark: Option<String>,
    /// Height of what is inside, in pixels.
    pub(super) height: u32,
}

/// A plane with both axes.
pub(super) type Chart<'area, 'svg> =
    ChartContext<'area, SVGBackend<'svg>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// The axes of a chart. Both begin at zero.
#[derive(Debug)]
pub(super) struct Axes {
    /// What the vertical axis counts.
    pub(super) label: String,
    /// Where the axes end.
    pub(super) ends: (f64, f64),
    /// Pixels left free above and to the right.
    pub(super) margin: (u32, u32),
    /// About how many numbers stand at the vertical axis.
    pub(super) numbers: usize,
    /// Whether lines are drawn upwards too.
    pub(super) columns: bool,
}

// === impl Frame ===

impl Frame {
    /// Draws the picture as SVG, with what `draw` puts inside; gives both.
    pub(super) fn draw<T>(
        &self,
        draw: impl FnOnce(&Area<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<(String, T)> {
        let mut svg = String::new();
        let drawn = self.draw_into(&mut svg, draw);
        let drawn = drawn.map_err(|error| anyhow!("drawing {:?}: {error}", self.title))?;
        Ok((svg, drawn))
    }

    fn draw_into<T>(
        &self,
        svg: &mut String,
        draw: impl FnOnce(&Area<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let header = if self.company.is_some() { HEADER + LINE } else { HEADER };
        let size = (WIDTH, header + self.height + FOOTER);
        let root = SVGBackend::with_string(svg, size).into_drawing_area();
        root.fill(&PAPER)?;
        let (header, rest) = root.split_vertically(header);
        let (body, footer) = rest.split_vertically(self.height);
        header.draw(&Text::new(self.title.clone(), (18, 14), bold(22)))?;
        header.draw(&Text::new(self.subtitle.clone(), (18, 40), text(14, FADED)))?;
        if let Some(company) = &self.company {
            header.draw(&Text::new(company.clone(), (18, 60), text(14, RED)))?;
        }
        self.draw_footer(&footer)?;
        let drawn = draw(&body)?;
        root.present()?;
        Ok(drawn)
    }

    fn draw_footer(&self, area: &Area<'_>) -> anyhow::Result<()> {
        let width = i32::try_from(WIDTH)?;
        let middle = (width / 2 + 25, 8);
        area.draw(&Text::new(self.axis.clone(), middle, centred(&text(13, FADED))))?;
        if let Some(remark) = &self.remark {
            let style = text(12, GREY).pos(Pos::new(HPos::Right, VPos::Center));
            area.draw(&Text::new(remark.clone(), (width - 20, 8), style))?;
        }
        Ok(())
    }
}

// === impl Axes ===

impl Axes {
    /// Draws the axes, and gives the plane between them.
    pub(super) fn draw<'area, 'svg>(
        &self,
        area: &'area Area<'svg>,
    ) -> anyhow::Result<Chart<'area, 'svg>> {
        let middle = i32::try_from(area.dim_in_pixel().1 / 2)?;
        area.draw(&Text::new(self.label.clone(), (12, middle), upright(&text(13, FADED))))?;
        let mut chart = ChartBuilder::on(area)
            .margin_top(self.margin.0)
            .margin_right(self.margin.1)
            .x_label_area_size(24)
            .y_label_area_size(78)
            .build_cartesian_2d(0.0..self.ends.0, 0.0..self.ends.1)?;
        let mut mesh = chart.configure_mesh();
        if !self.columns {
            mesh.disable_x_mesh();
        }
        mesh.bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(FADED)
            .x_labels(12)
            .y_labels(self.numbers)
            .label_style(text(13, FADED))
            .x_label_formatter(&|x| tick(*x))
            .y_label_formatter(&|y| tick(*y))
            .draw()?;
        Ok(chart)
    }
}
