//! How far a simulation is, on stderr: a bar, or a line now and then where there is no terminal.

use std::{
    io::{IsTerminal, stderr},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::Instant;

use super::book::Book;
use crate::{duration::human, number::index};

/// How often the bar moves.
const REFRESH: Duration = Duration::from_millis(200);
/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Steps between two looks at the clock.
const LOOK_EVERY: u32 = 64;
/// Parts of the bar.
const PARTS: u64 = 1000;

/// Shows how far it is.
#[derive(Debug)]
pub(super) struct Meter {
    bar: Option<ProgressBar>,
    shown: Instant,
    steps: u32,
}

// === impl Meter ===

impl Meter {
    /// Nothing done yet.
    pub(super) fn new() -> Self {
        let bar = || {
            let bar = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::stderr());
            // The template is a constant; without it the plain bar would do.
            if let Ok(style) = ProgressStyle::with_template("{elapsed:>5} [{bar:30}] {msg}") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar
        };
        let bar = stderr().is_terminal().then(bar);
        Self { bar, shown: Instant::now(), steps: 0 }
    }

    /// Shows it, if it is time to.
    pub(super) fn show(&mut self, now: f64, book: &Book) {
        self.steps += 1;
        let every = if self.bar.is_some() { REFRESH } else { LINE_EVERY };
        if !self.steps.is_multiple_of(LOOK_EVERY) || self.shown.elapsed() < every {
            return;
        }
        self.shown = Instant::now();
        let sentence = format!("after {}: {}", human(now), book.sentence());
        match &self.bar {
            Some(bar) => {
                bar.set_position(u64::try_from(index(book.progress() * 1000.0)).unwrap_or(0));
                bar.set_message(sentence);
            }
            None => eprintln!("{sentence}"),
        }
    }
}

impl Drop for Meter {
    /// The report must not have a half-drawn bar above it.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
