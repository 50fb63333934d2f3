//! Numbers as Redis reads and writes them, which is neither C's way nor Rust's.

use crate::options::Dialect;

/// Reads an integer: no sign but `-`, no space, no leading zero.
pub(crate) fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    match digits {
        [b'0'] => (text.len() == 1).then_some(0),
        [b'1'..=b'9', rest @ ..] if rest.len() < 19 && rest.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(text).ok()?.parse().ok()
        }
        _ => None,
    }
}

/// Reads a float, such as a score: all of `text`, and not NaN. What is too large or too small for a
/// float is none.
pub(crate) fn float(text: &[u8]) -> Option<f64> {
    let read: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let by_name = text.iter().any(|byte| matches!(byte, b'i' | b'I'));
    let mantissa = text.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    let vanished = read == 0.0 && mantissa.clone().any(|byte| matches!(byte, b'1'..=b'9'));
    let exact = !read.is_nan() && !vanished && (read.is_finite() || by_name);
    exact.then_some(read)
}

/// Writes a float, such as a score.
pub(crate) fn write_float(value: f64, dialect: Dialect) -> String {
    match dialect {
        Dialect::Redis7 => general(value, 17),
        Dialect::Valkey9 => match as_integer(value) {
            Some(0) if value.is_sign_negative() => "-0".to_owned(),
            Some(integer) => integer.to_string(),
            None => shortest(value),
        },
    }
}

/// Writes a number of Lua as an argument of a command. Integers of Valkey have no -0.
pub(crate) fn write_argument(value: f64, dialect: Dialect) -> String {
    match dialect {
        Dialect::Valkey9 if value == 0.0 => "0".to_owned(),
        _ => write_float(value, dialect),
    }
}

/// The integer that `value` is, unless it is so large that it may stand for others.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "as in Redis"
)]
fn as_integer(value: f64) -> Option<i64> {
    const MOST: f64 = (i64::MAX / 2) as f64;
    let integer = value as i64;
    ((-MOST..=MOST).contains(&value) && integer as f64 == value).then_some(integer)
}

/// C's `%.<digits>g`.
pub(crate) fn general(value: f64, digits: usize) -> String {
    if let Some(name) = without_digits(value) {
        return name.to_owned();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let precision = i32::try_from(digits).unwrap_or(i32::MAX);
    if (-4..precision).contains(&exponent) {
        let decimals = usize::try_from(precision - 1 - exponent).unwrap_or(0);
        return trimmed(&format!("{value:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
}

/// The fewest digits that are read as `value` again, in the form that Valkey's `fpconv` gives them.
fn shortest(value: f64) -> String {
    if let Some(name) = without_digits(value) {
        return name.to_owned();
    }
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = mantissa.replace('.', "");
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let scale = exponent - count + 1;
    let minus = if value < 0.0 { "-" } else { "" };
    if (scale >= 0 && exponent.abs() < count + 7)
        || (scale < 0 && (scale > -7 || exponent.abs() < 4))
    {
        return format!("{minus}{}", value.abs());
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{minus}{mantissa}e{sign}{}", exponent.abs())
}

fn without_digits(value: f64) -> Option<&'static str> {
    match value {
        _ if value.is_nan() => Some(if value.is_sign_negative() { "-nan" } else { "nan" }),
        f64::INFINITY => Some("inf"),
        f64::NEG_INFINITY => Some("-inf"),
        _ => None,
    }
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_strictly() {
        for (text, value) in [("0", 0), ("-7", -7), ("9223372036854775807", i64::MAX)] {
            assert_eq!(integer(text.as_bytes()), Some(value));
        }
        assert_eq!(integer(b"-9223372036854775808"), Some(i64::MIN));
        for text in ["", "-", "+1", "01", "-0", " 1", "1 ", "1.0", "9223372036854775808"] {
            assert_eq!(integer(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn floats_are_written_as_c_does() {
        for (value, text) in [
            (0.1, "0.10000000000000001"),
            (3.0, "3"),
            (1e17, "1e+17"),
            (1.5e-7, "1.4999999999999999e-07"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(write_float(value, Dialect::Redis7), text);
        }
        assert_eq!(general(3_141_592.653_589_793, 14), "3141592.6535898");
    }

    #[test]
    fn floats_are_written_as_valkey_does() {
        for (value, text) in [
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (1e17, "100000000000000000"),
            (1e20, "1e+20"),
            (1.5e-7, "1.5e-7"),
        ] {
            assert_eq!(write_float(value, Dialect::Valkey9), text);
        }
    }
}
