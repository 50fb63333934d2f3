//! Decimal numbers with 17 decimals, for INCRBYFLOAT and HINCRBYFLOAT.
//!
//! Redis calculates these with C's `long double`, which on x86 has 64 binary digits, and writes 17
//! decimals. Here they are whole numbers of the last decimal, rounded to as many binary digits.

use crate::failure::{Failure, NOT_A_FLOAT};

const DECIMALS: i32 = 17;
const ONE: i128 = 100_000_000_000_000_000;

/// A number, in units of the last decimal; `None` = infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal(Option<i128>);

// === impl Decimal ===

impl Decimal {
    pub(crate) const ZERO: Self = Self(Some(0));

    /// Reads a number.
    pub(crate) fn read(text: &[u8]) -> Result<Self, Failure> {
        let text = std::str::from_utf8(text).map_err(|_| NOT_A_FLOAT)?;
        // Checks the form.
        let float: f64 = text.parse().map_err(|_| NOT_A_FLOAT)?;
        if float.is_nan() {
            return Err(NOT_A_FLOAT);
        }
        if float.is_infinite() {
            return Ok(Self(None));
        }
        Self::read_digits(text).map(|units| Self(Some(units))).ok_or(NOT_A_FLOAT)
    }

    pub(crate) fn is_finite(self) -> bool {
        self.0.is_some()
    }

    fn read_digits(text: &str) -> Option<i128> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: i128 = match format!("{whole}{fraction}").as_str() {
            "" | "+" | "-" => 0,
            digits => digits.parse().ok()?,
        };
        let fraction = i32::try_from(fraction.len()).ok()?;
        let scale = exponent.parse::<i32>().ok()?.checked_add(DECIMALS)?.checked_sub(fraction)?;
        if scale < 0 {
            return Some(10_i128.checked_pow(scale.unsigned_abs()).map_or(0, |by| digits / by));
        }
        digits.checked_mul(10_i128.checked_pow(scale.unsigned_abs())?)
    }

    /// The sum, as it is written.
    pub(crate) fn plus(self, other: Self) -> Result<String, Failure> {
        let (Some(a), Some(b)) = (self.0, other.0) else {
            return Err(Failure::new("ERR increment would produce NaN or Infinity"));
        };
        let sum = rounded(a).checked_add(rounded(b)).map(rounded).ok_or(NOT_A_FLOAT)?;
        let sign = if sum < 0 { "-" } else { "" };
        let units = sum.unsigned_abs();
        let one = ONE.unsigned_abs();
        let text = format!("{sign}{}.{:017}", units / one, units % one);
        Ok(text.trim_end_matches('0').trim_end_matches('.').to_owned())
    }
}

/// The nearest number of 64 binary digits, or what comes next to it in units.
fn rounded(number: i128) -> i128 {
    const DIGITS: u32 = 64;
    let (units, one) = (number.unsigned_abs(), ONE.unsigned_abs());
    let whole_digits = u128::BITS - (units / one).leading_zeros();
    let nearest = if whole_digits >= DIGITS {
        let step = one << (whole_digits - DIGITS);
        divided(units, step) * step
    } else {
        // Below 1 the units are the coarser ones.
        let shift = (DIGITS - whole_digits).min(units.leading_zeros());
        divided(divided(units << shift, one) * one, 1 << shift)
    };
    nearest.cast_signed() * number.signum()
}

/// Rounded to the nearest, or to the even one of two.
fn divided(number: u128, by: u128) -> u128 {
    let (quotient, rest) = (number / by, number % by);
    let up = rest > by - rest || (rest == by - rest && quotient % 2 == 1);
    quotient + u128::from(up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_64_binary_digits() {
        for (a, b, sum) in [
            ("10.5", "0.1", "10.6"),
            ("5.0e3", "2.0e2", "5200"),
            ("-1", "0.25", "-0.75"),
            ("3", "-3.0", "0"),
            ("123456789", "0.1", "123456789.09999999999854481"),
            ("9223372036854775807", "0.1", "9223372036854775807"),
        ] {
            let read = |text: &str| Decimal::read(text.as_bytes()).unwrap();
            assert_eq!(read(a).plus(read(b)).unwrap(), sum);
        }
        assert!(Decimal::read(b"x").is_err());
        assert!(Decimal::read(b"inf").unwrap().plus(Decimal::ZERO).is_err());
    }
}
