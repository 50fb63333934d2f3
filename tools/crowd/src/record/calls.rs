//! Every call the crowd made, as far as the report needs it.

use std::collections::BTreeMap;

use super::Quantiles;
use crate::crowd::Call;

/// Sheds: the visitor was told when to come back, and did.
pub(crate) const SHED: [&str; 2] = ["503", "429"];

/// Every call the crowd made.
#[derive(Debug, Default)]
pub(crate) struct CallLog {
    /// Microseconds on the wire of the calls that were answered, by [`Call`].
    pub(crate) latencies: [Quantiles; 4],
    /// The longest wait for a free connection, in microseconds.
    pub(crate) longest_queued: u64,
    /// Failed calls by kind of failure.
    pub(crate) errors: BTreeMap<String, u64>,
    /// Check-ins sent in each second of the run.
    pub(crate) polls: Vec<u32>,
    /// Calls of any kind sent in each second of the run.
    pub(crate) all: Vec<u32>,
}

// === impl CallLog ===

impl CallLog {
    /// Counts a call sent in that second of the run.
    pub(crate) fn count(&mut self, call: Call, second: usize) {
        bump(&mut self.all, second);
        if call == Call::Status {
            bump(&mut self.polls, second);
        }
    }

    /// Notes how long a call took that was answered.
    pub(crate) fn answered(&mut self, call: Call, micros: u64) {
        self.latencies[call as usize].add(micros);
    }

    /// How many failed, but for sheds: there the visitor was told when to come back.
    pub(crate) fn errors_but_sheds(&self) -> u64 {
        self.errors.iter().filter(|(kind, _)| !SHED.contains(&kind.as_str())).map(|e| e.1).sum()
    }

    /// Notes that a call failed, and how.
    pub(crate) fn failed(&mut self, kind: String) {
        *self.errors.entry(kind).or_default() += 1;
    }
}

fn bump(seconds: &mut Vec<u32>, second: usize) {
    if seconds.len() <= second {
        seconds.resize(second + 1, 0);
    }
    seconds[second] += 1;
}
