//! A moment as operators write it: unix seconds, or RFC 3339. Fractions of a second are dropped,
//! and a leap second counts as the one before it. Answers have RFC 3339, in UTC.

use std::{fmt, str::FromStr};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
};
use vestibule_domain::schedule::MAX_MOMENT;

/// A moment since 1970, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

/// The text is no moment since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be {EXPECTED}")]
pub struct MomentError;

struct Reader;

const EXPECTED: &str = "unix seconds, or RFC 3339 such as 2026-11-05T10:00:00Z";

// === impl Moment ===

impl Moment {
    /// The moment so many seconds after 1970.
    fn new(seconds: u64) -> Result<Self, MomentError> {
        // Nothing that a calendar can say is beyond the year 9999.
        if seconds <= MAX_MOMENT { Ok(Self(seconds)) } else { Err(MomentError) }
    }
}

impl FromStr for Moment {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let seconds = if text.bytes().all(|byte| byte.is_ascii_digit()) {
            text.parse().ok()
        } else {
            rfc3339(text)
        };
        seconds.ok_or(MomentError).and_then(Self::new)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0 / 86_400, self.0 % 86_400);
        let (year, month, day) = date(i64::try_from(days).map_err(|_| fmt::Error)?);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

// === impl Reader ===

impl Visitor<'_> for Reader {
    type Value = Moment;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Moment, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Moment, E> {
        Moment::new(seconds).map_err(E::custom)
    }
}

fn rfc3339(text: &str) -> Option<u64> {
    let (date, time) = text.split_at_checked(10)?;
    let time = time.strip_prefix(['T', 't', ' '])?;
    let (clock, rest) = time.split_at_checked(8)?;
    let [year, month, day] = three(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = three(clock, ':', [2, 2, 2])?;
    let real = (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !real {
        return None;
    }
    let seconds = hour * 3600 + minute * 60 + second.min(59);
    let local = days_since_1970(year, month, day) * 86_400 + seconds;
    u64::try_from(local - offset(without_fraction(rest)?)?).ok()
}

fn without_fraction(rest: &str) -> Option<&str> {
    let Some(fraction) = rest.strip_prefix('.') else { return Some(rest) };
    let zone = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    (zone.len() < fraction.len()).then_some(zone)
}

/// Seconds east of Greenwich.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    // In a query string, a plus that was not encoded arrives as a space.
    let (sign, clock) = match zone.split_at_checked(1)? {
        ("+" | " ", clock) => (1, clock),
        ("-", clock) => (-1, clock),
        _ => return None,
    };
    let (hour, minute) = clock.split_once(':')?;
    let (hour, minute) = (number(hour, 2)?, number(minute, 2)?);
    (hour < 24 && minute < 60).then_some(sign * (hour * 3600 + minute * 60))
}

fn three(text: &str, between: char, lengths: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(between);
    let mut part = |length| number(parts.next()?, length);
    Some([part(lengths[0])?, part(lengths[1])?, part(lengths[2])?])
}

fn number(digits: &str, length: usize) -> Option<i64> {
    let all_digits = digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| digits.parse().ok())?
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let leaps_before = |year: i64| (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
    let years = (year - 1970) * 365 + leaps_before(year) - leaps_before(1970);
    years + (1..month).map(|month| days_in(year, month)).sum::<i64>() + day - 1
}

/// Year, month and day, so many days after 1970.
fn date(days: i64) -> (i64, i64, i64) {
    // Too late by at most a year: leap days make years longer than this.
    let mut year = 1970 + days / 365;
    while days_since_1970(year, 1, 1) > days {
        year -= 1;
    }
    let mut day = days - days_since_1970(year, 1, 1);
    let mut month = 1;
    while day >= days_in(year, month) {
        day -= days_in(year, month);
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_as_the_same() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_000_000_000, "2001-09-09T01:46:40Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (1_767_225_600, "2026-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ];
        for (seconds, text) in cases {
            assert_eq!(Moment(seconds).to_string(), text);
        }
        for day in 0..60_000 {
            let moment = Moment(day * 86_400 + day);
            assert_eq!(moment.to_string().parse(), Ok(moment));
        }
    }

    #[test]
    fn in_json_a_number_will_do() {
        let read = |json| serde_json::from_str::<Moment>(json);
        assert_eq!(read("1794000000").unwrap(), Moment(1_794_000_000));
        assert_eq!(read(r#""1794000000""#).unwrap(), Moment(1_794_000_000));
        assert_eq!(read(r#""1970-01-01T00:01:00Z""#).unwrap(), Moment(60));
        assert_eq!(serde_json::to_string(&Moment(60)).unwrap(), r#""1970-01-01T00:01:00Z""#);
        for json in ["-1", "1.5", "253402300800", "null", "true", r#""soon""#] {
            let error = read(json).unwrap_err().to_string();
            assert!(error.contains("unix seconds, or RFC 3339"), "{error}");
        }
    }

    #[test]
    fn both_spellings_mean_the_same() {
        let cases = [
            ("0", 0),
            ("1794000000", 1_794_000_000),
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T23:59:59Z", 951_868_799),
            ("2001-09-09T01:46:40Z", 1_000_000_000),
            ("2026-11-05T10:00:00+02:00", 1_793_865_600),
            ("2026-11-05T10:00:00 02:00", 1_793_865_600),
            ("2026-11-05t08:00:00.999z", 1_793_865_600),
            ("2026-11-05 02:30:00-05:30", 1_793_865_600),
            ("2016-12-31T23:59:60Z", 1_483_228_799),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ];
        for (text, seconds) in cases {
            assert_eq!(text.parse(), Ok(Moment(seconds)), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let texts = [
            "",
            "-1",
            "1.5",
            "yesterday",
            "2026-11-05",
            "2026-11-05T10:00:00",
            "2026-13-05T10:00:00Z",
            "2026-02-29T10:00:00Z",
            "2026-11-05T24:00:00Z",
            "2026-11-05T10:00:00.Z",
            "2026-11-05T10:00:00+2:00",
            "1969-12-31T23:59:59Z",
            "99999999999999999999",
            "253402300800",
            "2026-11-05T10:00:00Zed",
            "2026-1-05T10:00:000Z",
            "äää-äää-äää",
        ];
        for text in texts {
            assert_eq!(text.parse::<Moment>(), Err(MomentError), "{text}");
        }
    }
}
