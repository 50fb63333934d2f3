//! A colour as operators write it, and how well it can be told from another one, as WCAG 2 measures
//! that. Which colours a page needs is the page's to say.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A colour in sRGB: `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Colour {
    red: u8,
    green: u8,
    blue: u8,
}

/// A text is not a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a colour as #rrggbb, six hexadecimal digits")]
pub struct ColourError;

// === impl Colour ===

impl Colour {
    /// Black.
    pub const BLACK: Self = Self::new(0, 0, 0);
    /// White.
    pub const WHITE: Self = Self::new(255, 255, 255);

    /// The colour of these parts.
    #[must_use]
    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue }
    }

    /// The contrast with `other`, from 1 (the same) to 21 (black and white).
    #[must_use]
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// This colour with a share of `other`, in hundredths.
    #[must_use]
    pub fn mixed(self, other: Self, hundredths: u8) -> Self {
        let share = u32::from(hundredths.min(100));
        let mix = |of: u8, with: u8| {
            let sum = u32::from(of) * (100 - share) + u32::from(with) * share;
            u8::try_from((sum + 50) / 100).unwrap_or(u8::MAX)
        };
        Self::new(
            mix(self.red, other.red),
            mix(self.green, other.green),
            mix(self.blue, other.blue),
        )
    }

    /// The relative luminance, 0 to 1, as WCAG 2 defines it.
    fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.red) + 0.7152 * linear(self.green) + 0.0722 * linear(self.blue)
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

impl FromStr for Colour {
    type Err = ColourError;

    fn from_str(text: &str) -> Result<Self, ColourError> {
        let digits =
            text.strip_prefix('#').filter(|digits| digits.len() == 6).ok_or(ColourError)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex).ok_or(ColourError)?;
        let [_, red, green, blue] = number.to_be_bytes();
        Ok(Self::new(red, green, blue))
    }
}

impl TryFrom<String> for Colour {
    type Error = ColourError;

    fn try_from(text: String) -> Result<Self, ColourError> {
        text.parse()
    }
}

impl From<Colour> for String {
    fn from(colour: Colour) -> Self {
        colour.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colour(text: &str) -> Colour {
        text.parse().unwrap()
    }

    #[test]
    fn it_is_six_digits_and_nothing_else() {
        assert_eq!(colour("#0A6b5C").to_string(), "#0a6b5c");
        for wrong in
            ["", "#fff", "0a6b5c", "#0a6b5", "#0a6b5cff", "#gg0000", "#+12345", "red", "#é1234"]
        {
            assert_eq!(wrong.parse::<Colour>(), Err(ColourError), "{wrong}");
        }
    }

    /// By the examples of WCAG: #777 on white just fails, #767676 just passes.
    #[test]
    fn contrasts_are_those_of_wcag() {
        let on_white = |text| colour(text).contrast(Colour::WHITE);
        assert!((on_white("#000000") - 21.0).abs() < 1e-9);
        assert!((on_white("#ffffff") - 1.0).abs() < 1e-9);
        assert!((on_white("#777777") - 4.478).abs() < 0.001);
        assert!((on_white("#767676") - 4.542).abs() < 0.001);
        assert!((on_white("#ff0000") - 3.998).abs() < 0.001);
    }

    #[test]
    fn a_mixture_lies_between() {
        assert_eq!(Colour::WHITE.mixed(Colour::BLACK, 50).to_string(), "#808080");
        assert_eq!(colour("#123456").mixed(Colour::BLACK, 0), colour("#123456"));
        assert_eq!(colour("#123456").mixed(Colour::BLACK, 100), Colour::BLACK);
    }
}
