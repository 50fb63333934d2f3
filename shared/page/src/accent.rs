//! The operator's colour on the default page: whether it can be read there, and what is made of it. Where it
//! stands as text or carries text its contrast is that of WCAG AA, on the light page and on the dark one. No colour
//! has that on both, so the dark page has a lighter shade of it.

use vestibule_site::{Colour, FieldError, SiteBinding};

/// The least contrast of a text with what is behind it, by WCAG 2 AA.
const LEAST: f64 = 4.5;
/// `--back` of the light page in `page.css`.
const LIGHT: Colour = Colour::new(0xfa, 0xf9, 0xf6);
/// The same of the dark one.
const DARK: Colour = Colour::new(0x15, 0x16, 0x17);
/// How much of the colour is in `--tint`, in hundredths.
const TINT: u8 = 6;

/// The colours of the default page that follow from the operator's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accent {
    light: Shade,
    dark: Shade,
}

/// The colours that differ between the light page and the dark one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shade {
    accent: Colour,
    /// Text on the accent.
    on: Colour,
    /// The background of what stands out.
    tint: Colour,
}

/// A colour that cannot be read on the light page.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "has a contrast of {contrast}:1 on the page, and must have {LEAST}:1 to be read (WCAG AA); the nearest darker \
     shade that has is {nearest}"
)]
struct TooPale {
    contrast: f64,
    nearest: Colour,
}

// === impl Accent ===

impl Accent {
    /// That of `binding`; `None`: the page's own colours.
    #[must_use]
    pub fn of(binding: &SiteBinding) -> Option<Self> {
        Self::new(binding.accent_colour?).ok()
    }

    /// The error of the operator's colour, if it is refused.
    #[must_use]
    pub fn error(binding: &SiteBinding) -> Option<FieldError> {
        let refused = Self::new(binding.accent_colour?).err()?;
        Some(FieldError { field: "accent_colour".into(), reason: refused.to_string() })
    }

    fn new(colour: Colour) -> Result<Self, TooPale> {
        let light = Shade { accent: colour, on: Colour::WHITE, tint: LIGHT.mixed(colour, TINT) };
        if !light.can_be_read(LIGHT) {
            let nearest = first_readable(colour, Colour::BLACK, LIGHT);
            // Rounded down, so that it is never told to be enough.
            let contrast = (light.contrast(LIGHT) * 100.0).floor() / 100.0;
            return Err(TooPale { contrast, nearest });
        }
        let accent = first_readable(colour, Colour::WHITE, DARK);
        let dark = Shade { accent, on: Colour::BLACK, tint: DARK.mixed(accent, TINT) };
        Ok(Self { light, dark })
    }

    /// The operator's colour itself.
    #[must_use]
    pub(crate) fn colour(&self) -> Colour {
        self.light.accent
    }

    /// The style that goes after the page's own.
    #[must_use]
    pub(crate) fn style(&self) -> String {
        let of = |Shade { accent, on, tint }: Shade| {
            format!(":root{{--accent:{accent};--on:{on};--tint:{tint}}}")
        };
        let (light, dark) = (of(self.light), of(self.dark));
        format!("{light}@media (prefers-color-scheme:dark){{{dark}}}")
    }
}

// === impl Shade ===

impl Shade {
    /// Its contrast with the background that is worst for it.
    fn contrast(self, back: Colour) -> f64 {
        self.accent.contrast(back).min(self.accent.contrast(self.tint))
    }

    fn can_be_read(self, back: Colour) -> bool {
        self.contrast(back) >= LEAST
    }
}

/// The first mixture of `colour` with `towards` that can be read on `back`.
fn first_readable(colour: Colour, towards: Colour, back: Colour) -> Colour {
    let shades = (0..=100).map(|hundredths| colour.mixed(towards, hundredths));
    let can_be_read = |accent: &Colour| {
        let tint = back.mixed(*accent, TINT);
        Shade { accent: *accent, on: towards, tint }.can_be_read(back)
    };
    shades.into_iter().find(can_be_read).unwrap_or(towards)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::STYLE;

    fn refused(colour: &str) -> String {
        Accent::new(colour.parse().unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn the_backgrounds_are_those_of_the_page() {
        assert!(STYLE.starts_with(&format!(":root{{--back:{LIGHT};")));
        assert!(STYLE.contains(&format!("(prefers-color-scheme:dark){{:root{{--back:{DARK};")));
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_what_can() {
        let reason = refused("#ffcc00");
        assert!(reason.starts_with("has a contrast of 1."), "{reason}");
        assert!(reason.contains("must have 4.5:1"), "{reason}");
        let nearest = reason.rsplit(' ').next().unwrap();
        assert!(Accent::new(nearest.parse().unwrap()).is_ok(), "{nearest}");
        assert!(refused("#ffffff").contains("1.0"));
        for good in ["#0e6a5b", "#8a1c4a", "#000000", "#1a4fd6"] {
            assert!(Accent::new(good.parse().unwrap()).is_ok(), "{good}");
        }
    }

    #[test]
    fn the_style_has_both_pages() {
        let style = Accent::new("#8a1c4a".parse().unwrap()).unwrap().style();
        assert!(style.starts_with(":root{--accent:#8a1c4a;--on:#ffffff;--tint:#"), "{style}");
        assert!(style.contains("}@media (prefers-color-scheme:dark){:root{--accent:#"), "{style}");
    }

    proptest! {
        #[test]
        fn every_text_of_an_accepted_colour_can_be_read(red: u8, green: u8, blue: u8) {
            let colour = Colour::new(red, green, blue);
            let accent = match Accent::new(colour) {
                Ok(accent) => accent,
                Err(refused) => Accent::new(refused.nearest).unwrap(),
            };
            // `--ink` and `--soft` of `page.css`.
            let light = (accent.light, LIGHT, ["#1d1c1a", "#5b5852"]);
            let dark = (accent.dark, DARK, ["#edece8", "#adaaa3"]);
            for (shade, back, texts) in [light, dark] {
                prop_assert!(shade.can_be_read(back), "{shade:?}");
                prop_assert!(shade.accent.contrast(shade.on) >= LEAST, "{shade:?}");
                for text in texts {
                    prop_assert!(STYLE.contains(text));
                    let text: Colour = text.parse().unwrap();
                    prop_assert!(text.contrast(shade.tint) >= LEAST, "{text} on {shade:?}");
                }
            }
        }
    }
}
