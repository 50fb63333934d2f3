//! Everyone's wait against the time of arrival, a point each. Where there are more points than a
//! picture can show apart, a fair sample of them is drawn, and the picture says so.

use std::{fmt::Write, ops::Range};

use anyhow::anyhow;
use plotters::prelude::*;
use rand::{SeedableRng, rngs::SmallRng, seq::index};

use super::{
    Cloud,
    style::{
        Area, BLUE, FADED, FOOTER, GRID, HEADER, PAPER, WIDTH, draw_footer, draw_header,
        draw_remark, text, tick, time_units, upright,
    },
};
use crate::number::whole;

/// The most points drawn.
const MOST: usize = 20_000;
/// Points are drawn in so many layers, so that crowded places are darker.
const LAYERS: usize = 10;
/// Height of the chart with its axis, in pixels.
const CHART: u32 = 480;

/// Draws the points.
///
/// # Errors
/// None that is known: the picture is drawn into memory.
pub(super) fn draw(cloud: &Cloud) -> anyhow::Result<String> {
    let mut svg = String::new();
    let shown = sample(&cloud.points, MOST);
    let field = frame(cloud, shown.len(), &mut svg)
        .map_err(|error| anyhow!("drawing the scatter: {error}"))?;
    // The library would spend some hundred bytes on a point; a path spends a tenth of that.
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    svg.insert_str(end, &dots(&shown, cloud.reach(), &field));
    Ok(svg)
}

/// Where in the picture the points lie, in pixels.
type Field = (Range<i32>, Range<i32>);

fn frame(cloud: &Cloud, shown: usize, svg: &mut String) -> anyhow::Result<Field> {
    let root = SVGBackend::with_string(svg, (WIDTH, HEADER + CHART + FOOTER)).into_drawing_area();
    root.fill(&PAPER)?;
    let (header, rest) = root.split_vertically(HEADER);
    let (body, footer) = rest.split_vertically(CHART);
    draw_header(&header, &cloud.title, &cloud.subtitle)?;
    let (arrivals, waits) = axes(cloud.reach());
    let (unit, _) = time_units((arrivals, waits));
    draw_footer(&footer, format!("arrival, {} since the start", unit.1))?;
    let all = cloud.points.len();
    if all > shown {
        draw_remark(&footer, format!("{shown} of {all} points drawn"))?;
    }
    let field = chart(&body, (arrivals, waits))?;
    root.present()?;
    Ok(field)
}

fn chart(area: &Area<'_>, (arrivals, waits): (f64, f64)) -> anyhow::Result<Field> {
    let ((x, _), (y, unit)) = time_units((arrivals, waits));
    let middle = i32::try_from(CHART / 2)?;
    let label = format!("wait, {unit}");
    area.draw(&Text::new(label, (12, middle), upright(&text(13, FADED))))?;
    let mut chart = ChartBuilder::on(area)
        .margin_top(10)
        .margin_right(20)
        .x_label_area_size(24)
        .y_label_area_size(78)
        .build_cartesian_2d(0.0..arrivals / x, 0.0..waits / y)?;
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(FADED)
        .x_labels(12)
        .y_labels(8)
        .label_style(text(13, FADED))
        .x_label_formatter(&|x| tick(*x))
        .y_label_formatter(&|y| tick(*y))
        .draw()?;
    Ok(chart.plotting_area().get_pixel_range())
}

/// Where the axes end, in seconds: a little beyond the last arrival and the longest wait.
fn axes((arrivals, waits): (f64, f64)) -> (f64, f64) {
    (arrivals.max(1.0), waits.max(1.0) * 1.03)
}

/// The points as tiny strokes with round ends, in units of half a pixel.
fn dots(points: &[(f64, f64)], reach: (f64, f64), (columns, rows): &Field) -> String {
    let (arrivals, waits) = axes(reach);
    let on = |from: i32, to: i32, share: f64| {
        whole(2.0 * (f64::from(from) + share * f64::from(to - from)))
    };
    let place = |&(arrival, wait): &(f64, f64)| {
        let x = on(columns.start, columns.end, arrival / arrivals);
        (x, on(rows.end, rows.start, wait / waits))
    };
    let RGBColor(r, g, b) = BLUE;
    let mut out = format!(
        "<g transform=\"scale(0.5)\" fill=\"none\" stroke=\"#{r:02X}{g:02X}{b:02X}\" \
         stroke-width=\"4.4\" stroke-linecap=\"round\" stroke-opacity=\"0.45\">\n"
    );
    for layer in 0..LAYERS {
        let mut places: Vec<_> = points.iter().skip(layer).step_by(LAYERS).map(place).collect();
        places.sort_unstable();
        if !places.is_empty() {
            // Writing to a string does not fail.
            let _ = writeln!(out, "<path d=\"{}\"/>", path(&places));
        }
    }
    out + "</g>\n"
}

/// From each point to the next by their distance, which is short to write: some
/// ten bytes a point.
fn path(places: &[(i64, i64)]) -> String {
    let mut out = String::new();
    let mut last = (0, 0);
    for &(x, y) in places {
        // The first step is from the corner, so it may be relative too.
        let _ = write!(out, "m{} {}h0", x - last.0, y - last.1);
        last = (x, y);
    }
    out
}

/// At most `most` of the points, each with the same chance, and the same ones again next time.
fn sample(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    let mut rng = SmallRng::seed_from_u64(1);
    index::sample(&mut rng, points.len(), most).iter().map(|nth| points[nth]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(points: Vec<(f64, f64)>) -> Cloud {
        Cloud { title: "A crowd".into(), subtitle: "staying".into(), points }
    }

    #[test]
    fn a_sample_is_fair_and_keeps_small_crowds_whole() {
        let points: Vec<_> = (0..100_000_u32).map(|n| (f64::from(n), f64::from(n % 10))).collect();
        assert_eq!(sample(&points[..500], 1000), &points[..500]);
        let some = sample(&points, 1000);
        assert_eq!(some.len(), 1000);
        let first_half = some.iter().filter(|p| p.0 < 50_000.0).count();
        assert!((440..560).contains(&first_half), "{first_half}");
    }

    #[test]
    fn a_million_points_make_a_small_picture() {
        let points =
            (0..1_000_000_u32).map(|n| (f64::from(n) / 100.0, f64::from(n % 1003))).collect();
        let svg = draw(&cloud(points)).unwrap();
        assert!(svg.len() < 300_000, "{}", svg.len());
        assert!(svg.contains("20000 of 1000000 points drawn") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn points_lie_within_the_axes() {
        let field = (100..200, 10..110);
        let dots = dots(&[(0.0, 0.0), (60.0, 100.0)], (60.0, 100.0), &field);
        assert!(dots.contains("m200 220h0") && dots.contains("m400 26h0"), "{dots}");
        assert_eq!(path(&[(200, 220), (201, 215)]), "m200 220h0m1 -5h0");
        assert!(draw(&cloud(Vec::new())).unwrap().contains("</svg>"));
    }
}
