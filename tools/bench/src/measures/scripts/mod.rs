//! How long Redis answers nobody else: the slowest call of each script in rooms as large as they get, and with a
//! thousand of them.
//!
//! The rooms are filled by the scripts themselves, at a time that only the measure moves; what fills them is not
//! counted. The scripts of a long line at its door are measured by [`mod@super::long_line`].

mod aws_room;
mod lost_room;
mod many_rooms;
mod room;
mod sale;

use anyhow::Result;
use vestibule_store::{Clock, ManualClock, Store};
use vestibule_tests::{Flavor, Redis};

use self::room::Room;
use super::{Bench, script_times::ScriptTimes};
use crate::report::{Figures, Unit};

/// Calls are noted that take so long, µs: every script's, and few of the commands inside of them.
const NOTED: usize = 50;

/// Some time far ahead of the server's, whose clock keys expire by, ms.
const BEGIN_MS: u64 = 4_000_000_000_000;
/// Of so many who wait one is inside,
const WAITING_PER_SESSION: u64 = 10;
/// and of so many in ten AWS-style clients hold a token.
const AWS_TENTHS: u64 = 3;

/// Measures every script while so many wait as the options say.
pub(crate) async fn scripts(bench: &Bench) -> Result<Figures> {
    let waiting = u64::from(bench.options.visitors);
    let (sessions, tokens) = (waiting / WAITING_PER_SESSION, waiting / 10 * AWS_TENTHS);
    let redis = Redis::start(Flavor::Installed).await?;
    let mut times = ScriptTimes::note(redis.connection().await?, NOTED).await?;
    let clock = ManualClock::at(BEGIN_MS);
    let store = Store::open(&redis.url(), Clock::Manual(clock.clone()), room::ANSWER)?;
    let at = |name| (store.clone(), clock.clone(), name);
    sale::measure(at("sale"), (waiting, sessions), &mut times).await?;
    aws_room::measure(at("aws"), tokens, &mut times).await?;
    lost_room::measure(at("lost"), (waiting, sessions), &mut times).await?;
    many_rooms::measure(at("many"), &mut times).await?;
    times.read_idle_loop().await?;
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    let [waiting, sessions, tokens] = [waiting, sessions, tokens].map(|count| count as f64);
    let figures = Figures::of("scripts")
        .add("visitors who wait, endings", Unit::Whole, [waiting])
        .add("sessions", Unit::Whole, [sessions])
        .add("AWS-style tokens", Unit::Whole, [tokens]);
    Ok(times.add_to(figures))
}
