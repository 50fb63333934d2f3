//! How many visitors of each time of arrival waited how long: cells of a map, darker for more. The
//! shades only ever get darker, so that the map can also be read when it is printed in grey.

use plotters::prelude::*;

use super::{
    cloud::{self, CHART, Cloud},
    frame::Chart,
    style::{Area, FADED, INK, WIDTH, text},
};
use crate::crowd::{
    duration::human,
    number::{index, real},
};

/// The most cells along each axis.
const MOST: f64 = 30.0;
/// Sides of a cell that people can think in, in seconds.
const SIDES: [f64; 17] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 180.0, 240.0, 300.0, 600.0, 900.0, 1200.0,
    1800.0, 3600.0,
];
/// From few visitors to many, by falling lightness.
const SHADES: [RGBColor; 5] = [
    RGBColor(228, 238, 248),
    RGBColor(158, 196, 230),
    RGBColor(74, 140, 200),
    RGBColor(24, 88, 158),
    RGBColor(8, 32, 78),
];
/// Width of the scale at the right, in pixels.
const SCALE: u32 = 96;

/// How many points lie in each cell.
#[derive(Debug)]
struct Grid {
    /// Sides of a cell: seconds of arrival and of waiting.
    side: (f64, f64),
    /// Columns from the first arrival on, each from the shortest wait on.
    columns: Vec<Vec<usize>>,
}

/// Draws the map.
pub(super) fn draw(cloud: &Cloud) -> anyhow::Result<String> {
    let grid = Grid::new(&cloud.points, cloud.reach());
    let remark = format!("cells of {} × {}", human(grid.side.0), human(grid.side.1));
    let (svg, ()) = cloud.frame(grid.reach(), Some(remark)).draw(|body| {
        let (map, scale) = body.split_horizontally(WIDTH - SCALE);
        grid.draw(&map)?;
        grid.draw_scale(&scale)
    })?;
    Ok(svg)
}

// === impl Grid ===

impl Grid {
    fn new(points: &[(f64, f64)], reach: (f64, f64)) -> Self {
        let side = (side(reach.0), side(reach.1));
        let (width, height) = (cells(reach.0, side.0), cells(reach.1, side.1));
        let mut columns = vec![vec![0; height]; width];
        for (arrival, wait) in points {
            let (x, y) = (index(arrival / side.0), index(wait / side.1));
            columns[x.min(width - 1)][y.min(height - 1)] += 1;
        }
        Self { side, columns }
    }

    fn most(&self) -> usize {
        self.columns.iter().flatten().copied().max().unwrap_or(0)
    }

    /// Where the axes end, in seconds.
    fn reach(&self) -> (f64, f64) {
        let height = self.columns.first().map_or(0, Vec::len);
        (real(self.columns.len()) * self.side.0, real(height) * self.side.1)
    }

    fn draw(&self, area: &Area<'_>) -> anyhow::Result<()> {
        let (axes, (x, y)) = cloud::axes(self.reach(), 8);
        self.draw_cells(&mut axes.draw(area)?, (self.side.0 / x, self.side.1 / y))
    }

    fn draw_cells(&self, chart: &mut Chart<'_, '_>, cell: (f64, f64)) -> anyhow::Result<()> {
        let most = real(self.most());
        let cells = self.columns.iter().enumerate().flat_map(|(x, column)| {
            column.iter().enumerate().filter(|(_, count)| **count > 0).map(move |(y, count)| {
                let corner = |x: usize, y: usize| (real(x) * cell.0, real(y) * cell.1);
                let colour = shade(real(*count) / most);
                Rectangle::new([corner(x, y), corner(x + 1, y + 1)], colour.filled())
            })
        });
        chart.draw_series(cells)?;
        Ok(())
    }

    /// The shades, from none at the bottom to the most at the top.
    fn draw_scale(&self, area: &Area<'_>) -> anyhow::Result<()> {
        let (top, bottom) = (30, i32::try_from(CHART)? - 24);
        let steps = bottom - top;
        for step in 0..steps {
            let colour = shade(f64::from(step) / f64::from(steps));
            let y = bottom - step;
            area.draw(&Rectangle::new([(8, y - 1), (24, y)], colour.filled()))?;
        }
        let most = self.most();
        for (share, count) in [(0, 0), (1, most / 4), (2, most / 2), (3, most * 3 / 4), (4, most)] {
            let at = (30, bottom - steps * share / 4 - 6);
            area.draw(&Text::new(count.to_string(), at, text(13, FADED)))?;
        }
        area.draw(&Text::new("visitors", (8, 6), text(13, INK)))?;
        Ok(())
    }
}

/// The smallest side of which [`MOST`] reach so far.
fn side(reach: f64) -> f64 {
    SIDES.into_iter().find(|side| reach / side <= MOST).unwrap_or(reach / MOST)
}

fn cells(reach: f64, side: f64) -> usize {
    index((reach / side).ceil()).max(1)
}

/// The colour of a share of the most, 0 to 1.
fn shade(share: f64) -> RGBColor {
    DerivedColorMap::new(&SHADES).get_color(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_round_and_at_most_thirty_by_thirty() {
        let grid = Grid::new(&[(1799.0, 595.0)], (1799.0, 595.0));
        assert_eq!((grid.side, grid.columns.len(), grid.columns[0].len()), ((60.0, 20.0), 30, 30));
        let grid = Grid::new(&[(1801.0, 0.0)], (1801.0, 0.0));
        assert_eq!((grid.side, grid.columns.len(), grid.columns[0].len()), ((120.0, 1.0), 16, 1));
    }

    #[test]
    fn everyone_is_in_one_cell() {
        let points: Vec<_> =
            (0..1000_u32).map(|n| (f64::from(n), f64::from(n * 7 % 300))).collect();
        let grid = Grid::new(&points, (999.0, 299.0));
        assert_eq!(grid.columns.iter().flatten().sum::<usize>(), 1000);
        // The last arrival, on the very edge, is in the last column.
        assert_eq!(grid.columns.last().unwrap().iter().sum::<usize>(), 40);
    }

    #[test]
    fn more_is_always_darker() {
        let light = |share: f64| {
            let RGBColor(r, g, b) = shade(share);
            299 * u32::from(r) + 587 * u32::from(g) + 114 * u32::from(b)
        };
        let shades: Vec<_> = (0..=20_u32).map(|step| light(f64::from(step) / 20.0)).collect();
        assert!(shades.is_sorted_by(|a, b| a > b), "{shades:?}");
    }
}
