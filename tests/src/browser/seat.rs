//! How many tests may have a browser at a time, and whether there are any at all.

use std::{
    env,
    io::{Write, stderr},
};

use anyhow::Result;
use tokio::sync::{Semaphore, SemaphorePermit};

/// A browser is heavy: no more than these at a time, however many tests run.
static SEATS: Semaphore = Semaphore::const_new(2);

/// The permission to start a browser. A test takes it before everything else: what it builds would
/// grow old while it waits for its turn.
#[derive(Debug)]
pub struct Seat {
    _permit: SemaphorePermit<'static>,
}

// === impl Seat ===

impl Seat {
    /// Waits for one; `None` if the operator of the tests chose to leave the browser out, which is
    /// said loudly.
    pub async fn take() -> Result<Option<Self>> {
        if env::var_os("VESTIBULE_TEST_SKIP_BROWSER").is_some_and(|value| value == "1") {
            // Not `eprintln`, which the test runner swallows.
            let warning = "WARNING: VESTIBULE_TEST_SKIP_BROWSER=1: NOT tested in a real browser\n";
            let _ = stderr().write_all(warning.as_bytes());
            return Ok(None);
        }
        Ok(Some(Self { _permit: SEATS.acquire().await? }))
    }
}
