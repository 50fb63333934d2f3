//! The sections of the report, as they are also written in JSON: names are part of the tool's
//! contract with whoever reads its output. No calculation here; that is `figures`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    estimates::Estimates,
    order::LineOrder,
    spread::{Latency, Waits},
};
use crate::{duration::human, method::QueueingMethod, simulate::Simulation};

/// What the run was meant to be: the part of the figures that was known before.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Setting {
    /// The room.
    pub(crate) room: String,
    /// Visitors planned.
    pub(crate) visitors: u32,
    /// Over how long they arrive.
    pub(crate) arrive_seconds: f64,
    /// How long each stays, or the mean of it.
    pub(crate) stay_seconds: f64,
    /// Share meant to close the tab.
    pub(crate) abandon: f64,
    /// Whether those inside leave without a word.
    pub(crate) leave_silently: bool,
    /// The crowd's seed.
    pub(crate) seed: u64,
    /// How many may be inside at once.
    pub(crate) ceiling: Option<u32>,
    /// How many may enter in any minute.
    pub(crate) rate_per_minute: Option<u32>,
    /// How long a session lasts.
    pub(crate) session_seconds: Option<f64>,
    /// The order in which people enter, if known.
    pub(crate) method: Option<QueueingMethod>,
    /// Whether the crowd and the time were only simulated.
    pub(crate) simulated: bool,
    /// Whether the room was held until all had arrived.
    pub(crate) held_while_arriving: bool,
}

/// Everything the report says.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Figures {
    /// What the run was meant to be.
    pub(crate) setting: Setting,
    /// How long it took.
    pub(crate) duration_seconds: f64,
    /// What became of the visitors.
    pub(crate) visitors: Visitors,
    /// Visitors joined per second, from the first arrival to the last.
    pub(crate) joins_per_second: f64,
    /// When people waited.
    pub(crate) waiting: Waiting,
    /// How many were let in, and how fast.
    pub(crate) admissions: Admissions,
    /// How many were inside.
    pub(crate) inside: Inside,
    /// Who overtook whom.
    pub(crate) order: LineOrder,
    /// Whether identities were unique.
    pub(crate) identities: Identities,
    /// How long each kind of call took.
    pub(crate) latency: BTreeMap<&'static str, Latency>,
    /// The longest that a call waited for one of this tool's own connections, in milliseconds.
    pub(crate) longest_wait_for_connection_ms: f64,
    /// Failed calls by status, or by how the connection failed.
    pub(crate) errors: BTreeMap<String, u64>,
    /// Check-ins in the busiest second.
    pub(crate) peak_polls_per_second: u32,
    /// Check-ins per second, as a mean from the first who waited to the last.
    pub(crate) mean_polls_per_second: Option<f64>,
    /// Calls of any kind in the busiest second.
    pub(crate) peak_calls_per_second: u32,
    /// How good the estimated waits were.
    pub(crate) estimates: Estimates,
    /// What only a simulation knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) simulation: Option<Simulation>,
}

/// What became of the visitors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Visitors {
    /// Asked to join.
    pub(crate) arrived: usize,
    /// Got an answer.
    pub(crate) joined: usize,
    /// Were let in without ever waiting.
    pub(crate) admitted_at_once: usize,
    /// Were let in.
    pub(crate) admitted: usize,
    /// Gave their seat back.
    pub(crate) left: usize,
    /// Stayed until the session ran out, or left without a word.
    pub(crate) ran_out: usize,
    /// Closed the tab while waiting.
    pub(crate) abandoned: usize,
    /// Were there to the end and never let in, whatever the reason.
    pub(crate) never_admitted: usize,
    /// Were told `expired`.
    pub(crate) expired: usize,
    /// Were told `closed`.
    pub(crate) closed: usize,
    /// Gave up after refusals or a long silence.
    pub(crate) failed: usize,
    /// Were still on their way when the run stopped.
    pub(crate) unfinished: usize,
}

/// When people waited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Waiting {
    /// The most who waited at once.
    pub(crate) highest: i64,
    /// From the first who waited, in seconds after the start.
    pub(crate) first_at_seconds: Option<f64>,
    /// To the last.
    pub(crate) last_at_seconds: Option<f64>,
    /// How long those who were admitted had waited.
    pub(crate) waits: Waits,
    /// Pearson's correlation of arrival and wait, over all who were admitted: 0 when the time of
    /// arrival did not matter. `None` when all came, or all waited, alike.
    pub(crate) correlation_with_arrival: Option<f64>,
}

/// How many were let in, and how fast.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Admissions {
    /// Mean per minute from the first who waited to the last.
    pub(crate) per_minute_while_waiting: Option<f64>,
    /// The most in any 60 seconds, as the visitors saw it.
    pub(crate) highest_in_a_minute: usize,
    /// The most that the controller ever said.
    pub(crate) highest_in_a_minute_controller: Option<i64>,
    /// Share of the rate limit used from the first who waited to the last.
    pub(crate) share_of_rate_while_waiting: Option<f64>,
}

/// How many were inside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Inside {
    /// The most at once, as the visitors saw it: never more than there really were.
    pub(crate) highest: i64,
    /// The most that the controller ever said.
    pub(crate) highest_controller: Option<i64>,
    /// Share of the ceiling used while somebody waited, after the first stay; the visitors' view.
    pub(crate) share_of_ceiling_while_waiting: Option<f64>,
    /// The same as the controller saw it.
    pub(crate) share_of_ceiling_while_waiting_controller: Option<f64>,
    /// How many seconds the shares are about.
    pub(crate) measured_seconds: f64,
    /// How soon seats that came free while somebody waited were taken again.
    pub(crate) seat_taken_again: Option<Waits>,
}

/// Whether identities were unique.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Identities {
    /// Visitors who hold a queue number that another one holds too.
    pub(crate) duplicate_queue_numbers: usize,
    /// Visitors who hold a request id that another one holds too.
    pub(crate) duplicate_request_ids: usize,
}

// === impl Setting ===

impl Setting {
    /// What this is about, for a title.
    pub(crate) fn what(&self) -> String {
        match self.method.filter(|_| self.simulated) {
            Some(method) => format!("Simulation, {}", method.name()),
            None => format!("Room {}", self.room),
        }
    }

    /// How the crowd arrives, for a sentence: `over 30 s` or `all at once`.
    pub(crate) fn arrival(&self) -> String {
        if self.held_while_arriving {
            format!("over {}, held till all are there", human(self.arrive_seconds))
        } else if self.arrive_seconds > 0.0 {
            format!("over {}", human(self.arrive_seconds))
        } else {
            "all at once".to_owned()
        }
    }
}
