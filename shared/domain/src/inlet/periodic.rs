//! The periodic inlet: when a period begins, and how it is known.

use serde::{Deserialize, Serialize};

use super::MOST;
use crate::{FieldError, schedule::moment};

/// The longest period, in seconds: a day.
const LONGEST_PERIOD: u64 = 24 * 3600;

/// Serves so many more people once in each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PeriodicInlet {
    /// By how much the serving counter moves in each period: from 1 to 2147483647.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 2_147_483_647))]
    pub increment: u64,
    /// When the first period begins, as RFC 3339 or unix seconds; null: it has begun long ago.
    #[serde(with = "moment::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub start: Option<u64>,
    /// When there are no more periods, as RFC 3339 or unix seconds; null or 0: never.
    #[serde(with = "moment::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub end: Option<u64>,
    /// How long a period is, in seconds.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 86_400))]
    pub every_seconds: u64,
}

/// One period, and by how much the counter moves in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// Names it among all periods of all settings that the room ever had: letters, digits and `-`.
    pub name: String,
    /// By how much the counter moves.
    pub increment: u64,
    /// For how long somebody may come to this period again, in seconds.
    pub kept_seconds: u64,
}

// === impl PeriodicInlet ===

impl Default for PeriodicInlet {
    fn default() -> Self {
        Self { increment: 10, start: None, end: None, every_seconds: 60 }
    }
}

impl PeriodicInlet {
    /// The period of this moment, unix seconds. `None`: there is none yet, or no more.
    #[must_use]
    pub fn period_at(&self, now: u64) -> Option<Period> {
        let (start, end) = (self.start.unwrap_or(0), self.ends());
        if now < start || end.is_some_and(|end| now >= end) {
            return None;
        }
        // Of another release, which may allow what this one does not.
        let every = self.every_seconds.max(1);
        Some(Period {
            name: format!("{start}-{every}-{}", (now - start) / every),
            increment: self.increment,
            // Whoever goes by another clock comes a little earlier or later.
            kept_seconds: 2 * every + 600,
        })
    }

    fn ends(&self) -> Option<u64> {
        self.end.filter(|end| *end > 0)
    }

    pub(super) fn errors(&self) -> Vec<FieldError> {
        let bounds = [
            ("periodic_inlet.increment", self.increment, MOST),
            ("periodic_inlet.every_seconds", self.every_seconds, LONGEST_PERIOD),
        ];
        let out = bounds.into_iter().filter(|(_, value, most)| !(1..=*most).contains(value));
        let out = out.map(|(field, value, most)| FieldError {
            field: field.into(),
            reason: format!("must be from 1 to {most}, and is {value}"),
        });
        let over = self.ends().filter(|end| *end <= self.start.unwrap_or(0)).map(|_| FieldError {
            field: "periodic_inlet.end".into(),
            reason: "must be after start, or null".to_owned(),
        });
        out.chain(over).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(inlet: &PeriodicInlet, now: u64) -> Option<String> {
        inlet.period_at(now).map(|period| period.name)
    }

    #[test]
    fn periods_are_counted_from_the_start_and_end_before_the_end() {
        let inlet =
            PeriodicInlet { start: Some(1_000), end: Some(1_120), ..PeriodicInlet::default() };
        assert_eq!(name(&inlet, 999), None);
        assert_eq!(name(&inlet, 1_000).as_deref(), Some("1000-60-0"));
        assert_eq!(name(&inlet, 1_059).as_deref(), Some("1000-60-0"));
        assert_eq!(name(&inlet, 1_060).as_deref(), Some("1000-60-1"));
        assert_eq!(name(&inlet, 1_119).as_deref(), Some("1000-60-1"));
        assert_eq!(name(&inlet, 1_120), None);
    }

    #[test]
    fn without_a_start_and_an_end_there_is_always_a_period() {
        for end in [None, Some(0)] {
            let inlet = PeriodicInlet { end, ..PeriodicInlet::default() };
            assert_eq!(inlet.errors(), []);
            assert_eq!(name(&inlet, 0).as_deref(), Some("0-60-0"));
            assert_eq!(name(&inlet, 1_790_000_040).as_deref(), Some("0-60-29833334"));
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_named() {
        let wrong = PeriodicInlet { increment: 0, start: Some(9), end: Some(9), every_seconds: 0 };
        let fields: Vec<_> = wrong.errors().into_iter().map(|error| error.field).collect();
        let expected =
            ["periodic_inlet.increment", "periodic_inlet.every_seconds", "periodic_inlet.end"];
        assert_eq!(fields, expected);
        let long = PeriodicInlet { every_seconds: LONGEST_PERIOD + 1, ..PeriodicInlet::default() };
        assert!(long.errors()[0].reason.contains("from 1 to 86400, and is 86401"));
    }

    #[test]
    fn times_are_read_in_both_forms_and_written_in_one() {
        let read: PeriodicInlet =
            serde_json::from_str(r#"{"start":1626336061,"end":"2026-11-05T10:00:00Z"}"#).unwrap();
        assert_eq!((read.start, read.increment), (Some(1_626_336_061), 10));
        let written = serde_json::to_value(read).unwrap();
        assert_eq!(written["start"], "2021-07-15T08:01:01Z");
        assert_eq!(written["end"], "2026-11-05T10:00:00Z");
    }
}
