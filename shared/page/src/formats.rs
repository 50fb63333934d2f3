//! How each language writes whole numbers, dates and times of day: a small part of the CLDR. With
//! script, the browser formats times itself, in its own time zone.

use std::time::{Duration, UNIX_EPOCH};

use crate::Language;

/// The last second of the year 9999; later dates are cut to it.
const LAST_SECOND: u64 = 253_402_300_799;

// === impl Language ===

impl Language {
    /// The separator of thousands.
    fn group(self) -> char {
        match self {
            Self::En | Self::Ja | Self::Zh | Self::Ko => ',',
            Self::De | Self::Es | Self::Pt | Self::It | Self::Nl => '.',
            Self::Fr => '\u{202f}',
            Self::Pl => '\u{a0}',
            Self::Ar => '\u{66c}',
        }
    }

    /// The fewest digits of a number that is grouped.
    fn grouped_from(self) -> usize {
        if matches!(self, Self::Es | Self::Pl) { 5 } else { 4 }
    }

    /// A whole number.
    #[must_use]
    pub fn number(self, number: u64) -> String {
        let digits = number.to_string();
        let grouped = digits.len() >= self.grouped_from();
        let mut written = String::with_capacity(digits.len() * 2);
        for (index, digit) in digits.chars().enumerate() {
            if grouped && index > 0 && (digits.len() - index).is_multiple_of(3) {
                written.push(self.group());
            }
            written.push(digit);
        }
        self.in_own_digits(&written)
    }

    /// A time of day in UTC, from seconds since 1970.
    #[must_use]
    pub fn time(self, seconds: u64) -> String {
        self.in_own_digits(&format!("{} UTC", &rfc3339(seconds)[11..16]))
    }

    /// A date and a time of day in UTC, from seconds since 1970.
    #[must_use]
    pub fn date_and_time(self, seconds: u64) -> String {
        let all = rfc3339(seconds);
        let (year, month, day) = (&all[..4], &all[5..7], &all[8..10]);
        let [m, d] = [month, day].map(|two| two.trim_start_matches('0'));
        let date = match self {
            Self::En => format!("{year}-{month}-{day}"),
            Self::De => format!("{d}.{m}.{year}"),
            Self::Pl => format!("{d}.{month}.{year}"),
            Self::Fr | Self::Es | Self::Pt | Self::It => format!("{day}/{month}/{year}"),
            Self::Nl => format!("{d}-{m}-{year}"),
            Self::Ja | Self::Zh => format!("{year}/{m}/{d}"),
            Self::Ko => format!("{year}. {m}. {d}."),
            Self::Ar => format!("{d}/{m}/{year}"),
        };
        format!("{} {}", self.in_own_digits(&date), self.time(seconds))
    }

    /// Minutes and seconds as a clock shows them; hours only if there are any.
    #[must_use]
    pub fn clock(self, seconds: u64) -> String {
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let clock = match hours {
            0 => format!("{minutes}:{seconds:02}"),
            _ => format!("{hours}:{minutes:02}:{seconds:02}"),
        };
        self.in_own_digits(&clock)
    }

    fn in_own_digits(self, text: &str) -> String {
        if self != Self::Ar {
            return text.to_owned();
        }
        let own = |c: char| c.to_digit(10).and_then(|digit| char::from_u32(0x660 + digit));
        text.chars().map(|c| own(c).unwrap_or(c)).collect()
    }
}

/// A time in RFC 3339, to the second, in UTC.
pub(crate) fn rfc3339(seconds: u64) -> String {
    let moment = UNIX_EPOCH + Duration::from_secs(seconds.min(LAST_SECOND));
    humantime::format_rfc3339_seconds(moment).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 21 November 2026, 09:05:07 UTC.
    const MOMENT: u64 = 1_795_251_907;

    #[test]
    fn numbers_are_grouped_as_each_language_does() {
        assert_eq!(Language::En.number(1_234_567), "1,234,567");
        assert_eq!(Language::De.number(1_234), "1.234");
        assert_eq!(Language::Fr.number(12_345), "12\u{202f}345");
        assert_eq!((Language::Es.number(1_234), Language::Es.number(12_345)).0, "1234");
        assert_eq!(Language::Es.number(12_345), "12.345");
        assert_eq!(Language::Pl.number(12_345), "12\u{a0}345");
        assert_eq!(Language::Ar.number(1_234), "١٬٢٣٤");
        assert_eq!(Language::En.number(0), "0");
        assert_eq!(Language::En.number(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn dates_and_times_are_written_as_each_language_does() {
        assert_eq!(Language::En.date_and_time(MOMENT), "2026-11-21 09:05 UTC");
        assert_eq!(Language::De.date_and_time(MOMENT), "21.11.2026 09:05 UTC");
        assert_eq!(Language::Ko.date_and_time(MOMENT), "2026. 11. 21. 09:05 UTC");
        assert_eq!(Language::Ar.time(MOMENT), "٠٩:٠٥ UTC");
        assert_eq!(Language::En.date_and_time(u64::MAX), "9999-12-31 23:59 UTC");
    }

    #[test]
    fn a_clock_shows_hours_only_if_there_are_any() {
        assert_eq!(Language::En.clock(899), "14:59");
        assert_eq!(Language::En.clock(5), "0:05");
        assert_eq!(Language::En.clock(7_205), "2:00:05");
        assert_eq!(Language::Ar.clock(61), "١:٠١");
    }
}
