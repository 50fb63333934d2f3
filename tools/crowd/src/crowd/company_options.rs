//! Who comes besides the visitors and means no good: the same options for a rehearsal and for a
//! simulation. Each option adds to the crowd and takes no visitor away from it.

use clap::Args;

/// The largest share of a line that ghosts or idlers may be.
const LARGEST_SHARE: f64 = 0.999;
/// The most of one kind.
const MOST: u32 = 10_000_000;

/// How many there are of a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Many {
    /// So many.
    Count(u32),
    /// This share of them and the visitors together.
    Share(f64),
}

/// Hostile company.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Hostile company, in addition to --visitors")]
pub(crate) struct CompanyOptions {
    /// Numbers taken with AWS-style `POST /assign_queue_num`, as fast as they are answered, just before
    /// the first visitor comes; nobody asks with them ever again. So many (27000), or, written with a
    /// point, this share of ghosts and visitors together (0.9 = nine ghosts to each visitor)
    #[arg(long, env = "VESTIBULE_GHOSTS", value_name = "N|SHARE", default_value = "0",
          value_parser = ghosts)]
    pub(crate) ghosts: Many,

    /// How many arrive among the visitors and send their first ticket to `status` four times a second,
    /// whatever they are told. Half of them leave the line after 5 seconds, the others enter in their
    /// turn and leave at once; then all send old tickets to `leave` and `status`, to the run's end
    #[arg(long, env = "VESTIBULE_REPLAYERS", value_name = "N", default_value = "0",
          value_parser = replayers)]
    pub(crate) replayers: u32,

    /// Share of idlers among idlers and visitors together (0 to 0.999; 0.3 = three idlers to seven
    /// visitors): they arrive and poll as visitors do, also when it is their turn, and never claim
    #[arg(long, env = "VESTIBULE_IDLERS", value_name = "SHARE", default_value_t = 0.0,
          value_parser = idlers)]
    pub(crate) idlers: f64,
}

// === impl Many ===

impl Many {
    /// How many that are beside so many visitors, to the nearest.
    pub(super) fn beside(self, visitors: u32) -> f64 {
        match self {
            Self::Count(count) => count.into(),
            Self::Share(share) => (f64::from(visitors) * share / (1.0 - share)).round(),
        }
    }
}

/// Reads how many ghosts there are. A share has a point, so that `1` is one ghost.
fn ghosts(text: &str) -> Result<Many, String> {
    let many = if text.contains('.') {
        share(text).map(Many::Share)
    } else {
        count(text).map(Many::Count)
    };
    many.ok_or_else(|| {
        format!(
            "expected how many, as a whole number up to {MOST} (such as 27000), or their share of \
             ghosts and visitors together, with a point and from 0.0 to {LARGEST_SHARE} (such as 0.9)"
        )
    })
}

fn replayers(text: &str) -> Result<u32, String> {
    let error = || format!("expected how many, as a whole number from 0 to {MOST} (such as 20)");
    count(text).ok_or_else(error)
}

fn idlers(text: &str) -> Result<f64, String> {
    share(text).ok_or_else(|| {
        format!(
            "expected their share of idlers and visitors together, from 0 to {LARGEST_SHARE} (such as \
             0.3); if all were idlers, there would be no visitor"
        )
    })
}

fn count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count| *count <= MOST)
}

fn share(text: &str) -> Option<f64> {
    text.parse().ok().filter(|share| (0.0..=LARGEST_SHARE).contains(share))
}

/// So many of a kind, unless they are too many to bring.
pub(super) fn bring(option: &str, many: Many, visitors: u32) -> Result<u32, String> {
    let count = many.beside(visitors);
    if count > f64::from(MOST) {
        return Err(format!(
            "{option}: such a share beside {visitors} visitors are {count}, more than the {MOST} that \
             this tool can bring; give a smaller share, or fewer --visitors"
        ));
    }
    Ok(crate::crowd::number::natural(count).try_into().unwrap_or(MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_makes_a_share_of_it() {
        assert_eq!(ghosts("27000"), Ok(Many::Count(27_000)));
        assert_eq!(ghosts("1"), Ok(Many::Count(1)));
        assert_eq!(ghosts("0.9"), Ok(Many::Share(0.9)));
        assert_eq!((Many::Share(0.9).beside(3_000), Many::Share(0.3).beside(7)), (27_000.0, 3.0));
    }

    #[test]
    fn nonsense_is_refused_with_what_would_make_sense() {
        for text in ["1.0", "-1", "many", "90%", "10000001", "NaN.", ""] {
            let error = ghosts(text).expect_err(text);
            assert!(error.contains("27000") && error.contains("0.9"), "{error}");
        }
        for text in ["0.5", "-1", "10000001"] {
            assert!(replayers(text).expect_err(text).contains("whole number"));
        }
        for text in ["1", "-0.1", "1.5", "NaN", "some"] {
            assert!(idlers(text).expect_err(text).contains("0.999"), "{text}");
        }
    }

    #[test]
    fn too_many_are_not_brought() {
        assert_eq!(bring("--ghosts", Many::Share(0.9), 3_000), Ok(27_000));
        let error = bring("--ghosts", Many::Share(0.999), 3_000_000).expect_err("three billion");
        assert!(error.contains("--ghosts") && error.contains("smaller share"), "{error}");
    }
}
