//! Everyone's arrival and wait, and what to write around a picture of them.

use super::{
    frame::{Axes, Frame},
    style::time_units,
};
use crate::record::{RunRecord, arrivals_and_waits, pearson};

/// Height of the chart with its axis, in pixels.
pub(super) const CHART: u32 = 480;

/// Everyone's arrival and wait.
#[derive(Debug)]
pub(super) struct Cloud {
    /// What the picture is of.
    pub(super) title: String,
    /// Under which conditions.
    pub(super) subtitle: String,
    /// In which company, if any.
    pub(super) company: Option<String>,
    /// Seconds of arrival and of waiting.
    pub(super) points: Vec<(f64, f64)>,
}

// === impl Cloud ===

impl Cloud {
    /// That of a run.
    pub(super) fn new(run: &RunRecord) -> Self {
        let (setting, points) = (&run.setting, arrivals_and_waits(run));
        let method = setting.method.map_or(String::new(), |method| format!(": {}", method.name()));
        let mut subtitle = vec![setting.arrival()];
        subtitle.extend(setting.conditions());
        subtitle.extend(pearson(&points).map(|r| format!("correlation {}", signed(r))));
        let title = format!("Wait by time of arrival{method}");
        Self { title, subtitle: subtitle.join(", "), company: setting.in_company(), points }
    }

    /// The last arrival and the longest wait, in seconds.
    pub(super) fn reach(&self) -> (f64, f64) {
        self.points.iter().fold((0.0, 0.0), |most, p| (most.0.max(p.0), most.1.max(p.1)))
    }

    /// The frame of a picture whose axes end there, in seconds.
    pub(super) fn frame(&self, ends: (f64, f64), remark: Option<String>) -> Frame {
        Frame {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            company: self.company.clone(),
            axis: format!("arrival, {} since the start", time_units(ends).0.1),
            remark,
            height: CHART,
        }
    }
}

/// The axes of arrival and wait that end there, in seconds, with so much free to the right; and the
/// seconds of a unit of each.
pub(super) fn axes(ends: (f64, f64), right: u32) -> (Axes, (f64, f64)) {
    let ((x, _), (y, unit)) = time_units(ends);
    let (label, ends) = (format!("wait, {unit}"), (ends.0 / x, ends.1 / y));
    (Axes { label, ends, margin: (10, right), numbers: 8, columns: true }, (x, y))
}

/// A correlation with a real minus.
fn signed(r: f64) -> String {
    format!("{r:+.3}").replace('-', "\u{2212}")
}
