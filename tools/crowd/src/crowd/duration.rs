//! Durations as operators write them: `30s`, `5m`, `1h`, `250ms`, `0`, or plain seconds.
//! Not a general parser: one number, one unit.

use std::time::Duration;

/// Reads `30s`, `5m`, `1h`, `250ms`, `1.5m` or plain seconds.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("unknown unit `{other}`: use ms, s, m or h")),
    };
    let number: f64 =
        number.trim().parse().map_err(|_| "expected a number, as in 30s, 5m or 0".to_owned())?;
    Duration::try_from_secs_f64(number * scale)
        .map_err(|_| "expected a duration of zero or more, such as 30s".to_owned())
}

/// Writes seconds for people: `850 ms`, `12.4 s`, `5 min`, `5 min 12 s`, `2 h`, `2 h 05 min`.
pub(crate) fn human(seconds: f64) -> String {
    let whole = super::number::whole(seconds);
    match seconds {
        0.0 => "0 s".to_owned(),
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 0.01 => format!("{:.1} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 120.0 && (s - s.round()).abs() < 1e-6 => format!("{whole} s"),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 && whole % 60 == 0 => format!("{} min", whole / 60),
        s if s < 7200.0 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ if whole % 3600 == 0 => format!("{} h", whole / 3600),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_operators_write() {
        let ms = Duration::from_millis;
        for (text, expected) in [
            ("30s", ms(30_000)),
            ("5m", ms(300_000)),
            ("1h", ms(3_600_000)),
            ("250ms", ms(250)),
            ("0", ms(0)),
            ("12", ms(12_000)),
            ("1.5m", ms(90_000)),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_duration() {
        for text in ["", "s", "-3s", "5 parsecs", "1m30s", "NaN", "inf"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn writes_for_people() {
        assert_eq!(human(0.000_25), "250 µs");
        assert_eq!(human(0.0042), "4.2 ms");
        assert_eq!(human(0.85), "850 ms");
        assert_eq!(human(12.44), "12.4 s");
        assert_eq!(human(20.0), "20 s");
        assert_eq!(human(0.0), "0 s");
        assert_eq!(human(312.0), "5 min 12 s");
        assert_eq!(human(1800.0), "30 min");
        assert_eq!(human(7200.0), "2 h");
        assert_eq!(human(7500.0), "2 h 05 min");
    }
}
