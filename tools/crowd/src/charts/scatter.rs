//! Everyone's wait against the time of arrival, a point each. Where there are more points than a
//! picture can show apart, a fair sample of them is drawn, and the picture says so.

use std::{fmt::Write, ops::Range};

use plotters::prelude::*;
use rand::{SeedableRng, rngs::SmallRng, seq::index};

use super::{
    cloud::{self, Cloud},
    style::BLUE,
};
use crate::crowd::number::whole;

/// The most points drawn.
const MOST: usize = 20_000;
/// Points are drawn in so many layers, so that crowded places are darker.
const LAYERS: usize = 10;

/// Where in the picture the points lie, in pixels.
type Field = (Range<i32>, Range<i32>);

/// Draws the points.
pub(super) fn draw(cloud: &Cloud) -> anyhow::Result<String> {
    let shown = sample(&cloud.points, MOST);
    let (all, drawn) = (cloud.points.len(), shown.len());
    let remark = (all > drawn).then(|| format!("{drawn} of {all} points drawn"));
    let ends = ends(cloud.reach());
    let (mut svg, field) = cloud.frame(ends, remark).draw(|body| {
        let (axes, _) = cloud::axes(ends, 20);
        Ok(axes.draw(body)?.plotting_area().get_pixel_range())
    })?;
    // The library would spend some hundred bytes on a point; a path spends a tenth of that.
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    svg.insert_str(end, &dots(&shown, cloud.reach(), &field));
    Ok(svg)
}

/// Where the axes end, in seconds: a little beyond the last arrival and the longest wait.
fn ends((arrivals, waits): (f64, f64)) -> (f64, f64) {
    (arrivals.max(1.0), waits.max(1.0) * 1.03)
}

/// The points as tiny strokes with round ends, in units of half a pixel.
fn dots(points: &[(f64, f64)], reach: (f64, f64), (columns, rows): &Field) -> String {
    let (arrivals, waits) = ends(reach);
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
        Cloud { title: "A crowd".into(), subtitle: "staying".into(), company: None, points }
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
