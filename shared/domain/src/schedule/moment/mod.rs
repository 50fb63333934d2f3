//! Times as operators write them: unix seconds, or RFC 3339. Fractions of a second are dropped, and
//! a leap second counts as the second before it. Output is RFC 3339, in UTC.
//!
//! For `#[serde(with = "moment")]` on whole seconds since 1970. It computes with civil times
//! because the range of `jiff::Timestamp` ends before the last day of [`MAX_MOMENT`].

use jiff::{
    SignedDuration,
    civil::{DateTime, date},
    fmt::temporal::Pieces,
};
use serde::{
    Deserializer, Serializer,
    de::{Error, Visitor},
    ser,
};

use super::MAX_MOMENT;

/// The text or number is not a time since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be {EXPECTED}")]
pub struct MomentError;

const EXPECTED: &str = "unix seconds, or RFC 3339 such as 2026-11-05T10:00:00Z";
const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// Reads a moment, in unix seconds.
///
/// # Errors
/// When `text` is neither unix seconds nor RFC 3339, or not between 1970 and [`MAX_MOMENT`].
pub fn parse(text: &str) -> Result<u64, MomentError> {
    let all_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = if all_digits { text.parse().ok() } else { rfc3339(text) };
    seconds.ok_or(MomentError).and_then(bounded)
}

/// Writes a moment, given in unix seconds, as RFC 3339.
///
/// # Errors
/// When it is after [`MAX_MOMENT`].
pub fn write(seconds: u64) -> Result<String, MomentError> {
    let since = i64::try_from(seconds).map(SignedDuration::from_secs).map_err(|_| MomentError)?;
    let moment = EPOCH.checked_add(since).map_err(|_| MomentError)?;
    Ok(format!("{moment}Z"))
}

/// Writes RFC 3339.
///
/// # Errors
/// When the moment is after [`MAX_MOMENT`].
pub fn serialize<S: Serializer>(seconds: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&write(*seconds).map_err(ser::Error::custom)?)
}

/// Reads unix seconds, as a number or a text, or RFC 3339.
///
/// # Errors
/// When it is none of these.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Reader)
}

/// The same for an optional time: null is `None`.
pub mod option {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Moment(#[serde(with = "super")] u64);

    /// Writes RFC 3339 or null.
    ///
    /// # Errors
    /// See [`super::serialize`].
    pub fn serialize<S: Serializer>(
        moment: &Option<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        moment.map(Moment).serialize(serializer)
    }

    /// Reads a moment or null.
    ///
    /// # Errors
    /// See [`super::deserialize`].
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u64>, D::Error> {
        let moment = Option::<Moment>::deserialize(deserializer)?;
        Ok(moment.map(|Moment(seconds)| seconds))
    }
}

fn rfc3339(text: &str) -> Option<u64> {
    // jiff also reads the forms of ISO 8601 without hyphens and colons.
    let has = |at: usize, mark: u8| text.as_bytes().get(at) == Some(&mark);
    if !(has(4, b'-') && has(13, b':') && has(16, b':')) {
        return None;
    }
    // In a query string, a plus that was not encoded arrives as a space.
    let (local, offset) = text.split_at_checked("2026-11-05T10:00:00".len())?;
    let text = format!("{local}{}", offset.replace(' ', "+"));
    let pieces = Pieces::parse(&text).ok().filter(|read| read.time_zone_annotation().is_none())?;
    let time = pieces.time()?;
    let local = pieces.date().at(time.hour(), time.minute(), time.second(), 0);
    let offset = i64::from(pieces.to_numeric_offset()?.seconds());
    u64::try_from(local.duration_since(EPOCH).as_secs() - offset).ok()
}

fn bounded(seconds: u64) -> Result<u64, MomentError> {
    if seconds <= MAX_MOMENT { Ok(seconds) } else { Err(MomentError) }
}

struct Reader;

// === impl Reader ===

impl Visitor<'_> for Reader {
    type Value = u64;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        parse(text).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<u64, E> {
        bounded(seconds).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests;
