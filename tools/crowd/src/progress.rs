//! The bar on stderr while the crowd is out: how many arrived, wait, are inside, are done. Where
//! stderr is no terminal (CI, a log file) a line now and then takes its place.

use std::{
    io::{IsTerminal, stderr},
    sync::Arc,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::{Instant, interval};

use crate::{
    crowd::Ground,
    record::{Phase, Tally},
};

/// How often the bar moves.
const REFRESH: Duration = Duration::from_millis(200);
/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shows progress for as long as it is polled.
pub(crate) async fn show(ground: Arc<Ground>, visitors: u64) {
    if stderr().is_terminal() {
        bar(&ground, visitors).await;
    } else {
        lines(&ground).await;
    }
}

async fn bar(ground: &Ground, visitors: u64) {
    let bar = ProgressBar::with_draw_target(Some(visitors), ProgressDrawTarget::stderr());
    // The template is a constant; without it the plain bar would do.
    if let Ok(style) = ProgressStyle::with_template("{elapsed:>5} [{bar:30}] {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    let _cleared = ClearOnDrop(bar.clone());
    let mut ticks = interval(REFRESH);
    loop {
        ticks.tick().await;
        let tally = ground.recorder.tally();
        bar.set_position(count(tally, Phase::Done));
        bar.set_message(sentence(tally));
    }
}

async fn lines(ground: &Ground) {
    let mut ticks = interval(LINE_EVERY);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let seconds = ground.recorder.since_start(Instant::now());
        eprintln!("{seconds:>5.0} s  {}", sentence(ground.recorder.tally()));
    }
}

/// The report must not have a half-drawn bar above it.
struct ClearOnDrop(ProgressBar);

impl Drop for ClearOnDrop {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn count(tally: &Tally, phase: Phase) -> u64 {
    u64::try_from(tally.count(phase)).unwrap_or(u64::MAX)
}

fn sentence(tally: &Tally) -> String {
    let [joining, waiting, inside, done] =
        [Phase::Joining, Phase::Waiting, Phase::Inside, Phase::Done].map(|p| count(tally, p));
    let arrived = joining + waiting + inside + done;
    let errors = tally.errors();
    format!("{arrived} arrived, {waiting} waiting, {inside} inside, {done} done, {errors} errors")
}
