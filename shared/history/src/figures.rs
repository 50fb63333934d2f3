//! Figures of a whole history: not right or wrong, but how well.

use std::collections::BTreeMap;

use serde::Serialize;

/// What a history comes to in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Events.
    pub events: u64,
    /// Those that were judged: up to the first loss.
    pub judged: u64,
    /// From the first event to the last, ms.
    pub span_ms: u64,
    /// Rooms.
    pub rooms: u64,
    /// Queue numbers handed out.
    pub numbers: u64,
    /// Admissions: sessions that began.
    pub entries: u64,
    /// Sessions that were ended before their time.
    pub ended: u64,
    /// Calls whose outcome is unknown.
    pub unknown: u64,
    /// Entries of people at the door whom others had overtaken.
    pub overtaken: u64,
    /// The longest time by which one of them was overtaken, ms.
    pub longest_overtaking_ms: u64,
    /// Time in which people asked for seats and the use of the ceiling was measured, ms.
    pub measured_ms: u64,
    /// The part of the seats of that time that was used; `None`: nothing was measured.
    pub used: Option<f64>,
    /// Waits told at first, against waits had.
    pub first_waits: WaitFigures,
    /// All waits told, against waits had.
    pub all_waits: WaitFigures,
    /// Violations, by the invariant's code, those included that were not told.
    pub violations: BTreeMap<&'static str, u64>,
}

/// Waits told, against waits had.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WaitFigures {
    /// Waits that were told to somebody who then entered.
    pub count: u64,
    /// The median of |told − had| / had; waits of under 5 s count as 5 s.
    pub median_error: Option<f64>,
    /// The median of (told − had) / had: above 0, people were told too much.
    pub bias: Option<f64>,
}

// === impl WaitFigures ===

impl WaitFigures {
    /// From (told − had) / had of each.
    pub(crate) fn of(mut differences: Vec<f64>) -> Self {
        let count = differences.len() as u64;
        let bias = median(&mut differences);
        for difference in &mut differences {
            *difference = difference.abs();
        }
        Self { count, median_error: median(&mut differences), bias }
    }
}

fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    let (_, median, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    Some(*median)
}
