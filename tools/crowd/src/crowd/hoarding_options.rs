//! Hostile company that services can only tell from visitors by where it comes from: with it, everybody who comes has an
//! address.

use clap::Args;

/// The most of one kind; each has a task of its own, or asks in turn.
const MOST: u32 = 100_000;

/// Hostile company that makes use of addresses.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Hostile company, in addition to --visitors")]
pub(crate) struct HoardingOptions {
    /// How many arrive among the visitors and join without a ticket four times a second, to the run's end. They
    /// check in with every ticket that they get, claim in their turn, and keep their seats. All are of one network
    /// (198.18.7.0/24), and each visitor is of its own (in `2001:db8::/32`): they say so in X-Forwarded-For, so
    /// admission must trust this machine (--trusted-proxies; loopback is trusted unless you say otherwise); simulated
    /// services know without. With --create, and in simulations, the room has the default limits per network
    #[arg(long, env = "VESTIBULE_HOARDERS", value_name = "N", default_value = "0", value_parser = hoarders)]
    pub(crate) hoarders: u32,

    /// How many share one visitor's ticket: one of them enters in its turn, then each of the others asks `status`
    /// once with that ticket, from a network and with a User-Agent of its own, and is let in or not. Addresses are
    /// told as with --hoarders
    #[arg(long, env = "VESTIBULE_SHARERS", value_name = "N", default_value = "0", value_parser = sharers)]
    pub(crate) sharers: u32,
}

fn hoarders(text: &str) -> Result<u32, String> {
    let error = || format!("expected how many, as a whole number from 0 to {MOST} (such as 40)");
    text.parse().ok().filter(|count| *count <= MOST).ok_or_else(error)
}

fn sharers(text: &str) -> Result<u32, String> {
    let can_share = |count: &u32| *count == 0 || (2..=MOST).contains(count);
    text.parse().ok().filter(can_share).ok_or_else(|| {
        format!(
            "expected 0, or how many as a whole number from 2 to {MOST} (such as 20): nobody shares a \
             ticket alone"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused_with_what_would_make_sense() {
        assert_eq!((hoarders("40"), sharers("0"), sharers("2")), (Ok(40), Ok(0), Ok(2)));
        for text in ["0.5", "-1", "100001", ""] {
            assert!(hoarders(text).expect_err(text).contains("such as 40"));
            assert!(sharers(text).expect_err(text).contains("such as 20"));
        }
        assert!(sharers("1").expect_err("one").contains("alone"));
    }
}
