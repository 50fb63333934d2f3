//! Which region newcomers come from: fixed shares, and a sudden move of most of them to one region. For
//! crowds that are brought from outside.

use std::{str::FromStr, time::Duration};

use rand::{Rng, rngs::SmallRng};

/// The part of all newcomers who come from another region after a sudden move.
const MOVED: f64 = 0.9;

/// Regions with their shares of the arrivals, which add up to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionMix {
    regions: Vec<(String, f64)>,
}

/// Where newcomers come from over time.
#[derive(Debug, Clone)]
pub struct Origins {
    mix: RegionMix,
    /// From when on most come from another region, by its index.
    shift: Option<(Duration, usize)>,
}

// === impl RegionMix ===

impl FromStr for RegionMix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let regions: Vec<_> = text.split(',').map(region).collect::<Result<_, _>>()?;
        let total: f64 = regions.iter().map(|(_, share)| share).sum();
        if regions.len() > 255 || total <= 0.0 {
            return Err("expected up to 255 regions, not all of them without visitors".to_owned());
        }
        let shares = regions.into_iter().map(|(name, share)| (name, share / total));
        Ok(Self { regions: shares.collect() })
    }
}

fn region(text: &str) -> Result<(String, f64), String> {
    let (name, share) = text.split_once('=').ok_or("expected name=share, as in eu=0.6,us=0.4")?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let share: f64 = share.trim().parse().map_err(|_| "a share is a number")?;
    match name.trim() {
        name if name.is_empty() || name.len() > 32 || !name.bytes().all(plain) => {
            Err("a region is 1 to 32 letters, digits, `_` or `-`".to_owned())
        }
        _ if !(0.0..=1e9).contains(&share) => Err("a share is not negative".to_owned()),
        name => Ok((name.to_owned(), share)),
    }
}

// === impl Origins ===

impl Origins {
    /// From these regions; with `shift`, most of them from the one of that name from then on. `None`
    /// when there is no such region.
    #[must_use]
    pub fn new(mix: RegionMix, shift: Option<(Duration, &str)>) -> Option<Self> {
        let find = |name| mix.regions.iter().position(|(region, _)| region == name);
        let shift = match shift {
            Some((at, name)) => Some((at, find(name)?)),
            None => None,
        };
        Some(Self { mix, shift })
    }

    /// The names, by index.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.mix.regions.iter().map(|(name, _)| name.as_str())
    }

    /// The index of the region of someone who arrives then.
    pub fn of_arrival(&self, at: Duration, rng: &mut SmallRng) -> u8 {
        let moved = self.shift.filter(|(from, _)| at >= *from && rng.random_bool(MOVED));
        let index = moved.map_or_else(|| self.pick(rng.random()), |(_, to)| to);
        u8::try_from(index).unwrap_or(u8::MAX)
    }

    /// `chance` is uniform in [0, 1).
    fn pick(&self, chance: f64) -> usize {
        let mut left = chance;
        let picked = self.mix.regions.iter().position(|(_, share)| {
            left -= share;
            left < 0.0
        });
        // Shares that do not quite add up, by rounding.
        picked.unwrap_or(self.mix.regions.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn origins() -> Origins {
        let mix = "eu=6, us=3,ap=1".parse().unwrap();
        Origins::new(mix, Some((Duration::from_mins(1), "ap"))).unwrap()
    }

    fn share(second: u64, region: u8) -> f64 {
        let (origins, mut rng) = (origins(), SmallRng::seed_from_u64(3));
        let at = Duration::from_secs(second);
        let of_region = (0..20_000).filter(|_| origins.of_arrival(at, &mut rng) == region);
        of_region.map(|_| 1.0 / 20_000.0).sum()
    }

    #[test]
    fn shares_are_kept_until_most_move() {
        assert!((share(59, 0) - 0.6).abs() < 0.02 && (share(59, 2) - 0.1).abs() < 0.02);
        assert!((share(60, 2) - 0.91).abs() < 0.02 && (share(60, 0) - 0.06).abs() < 0.02);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "eu", "eu=x", "e u=1", "eu=-1", "eu=0"] {
            assert!(text.parse::<RegionMix>().is_err(), "{text}");
        }
        let mix = "eu=1".parse().unwrap();
        assert!(Origins::new(mix, Some((Duration::ZERO, "mars"))).is_none());
    }
}
