//! How far a run is, on stderr: a bar, or a line now and then where there is no terminal (CI, a log
//! file).

use std::{
    io::{IsTerminal, stderr},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::crowd::number::natural;

/// How often the bar moves.
pub(crate) const REFRESH: Duration = Duration::from_millis(200);
/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Parts of the bar.
const PARTS: f64 = 1000.0;

/// Shows how far a run is.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    shown: Instant,
}

// === impl Progress ===

impl Progress {
    /// Nothing done yet.
    pub(crate) fn new() -> Self {
        Self { bar: stderr().is_terminal().then(bar), shown: now() }
    }

    /// Shows what `look` says, how much is done (0 to 1) and a sentence, if it is time to.
    pub(crate) fn show(&mut self, look: impl FnOnce() -> (f64, String)) {
        let every = if self.bar.is_some() { REFRESH } else { LINE_EVERY };
        if self.shown.elapsed() < every {
            return;
        }
        self.shown = now();
        let (done, sentence) = look();
        match &self.bar {
            Some(bar) => {
                bar.set_position(natural(done * PARTS));
                bar.set_message(sentence);
            }
            None => eprintln!("{sentence}"),
        }
    }
}

impl Drop for Progress {
    /// The report must not have a half-drawn bar above it.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Real time, which also passes where time is virtual.
#[expect(clippy::disallowed_methods, reason = "people watch in real time")]
fn now() -> Instant {
    Instant::now()
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(natural(PARTS)), ProgressDrawTarget::stderr());
    // The template is a constant; without it the plain bar would do.
    if let Ok(style) = ProgressStyle::with_template("{elapsed:>5} [{bar:30}] {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}
