//! What a run was meant to be: what is known of it before it begins, as the report repeats it.

use serde::Serialize;
use vestibule_domain::QueueingMethod;

use super::{Company, CrowdOptions, duration::human};

/// What a run was meant to be.
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
    /// Who comes besides them and means no good.
    #[serde(skip_serializing_if = "Company::is_empty")]
    pub(crate) company: Company,
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

// === impl Setting ===

impl Setting {
    /// A room that this crowd goes to, without limits yet.
    pub(crate) fn new(room: &str, crowd: &CrowdOptions) -> Self {
        Self {
            room: room.to_owned(),
            visitors: crowd.visitors,
            arrive_seconds: crowd.arrive.as_secs_f64(),
            stay_seconds: crowd.stay.as_secs_f64(),
            abandon: crowd.abandon,
            seed: crowd.seed(),
            ..Self::default()
        }
    }

    /// What this is about, for a title.
    pub(crate) fn what(&self) -> String {
        match self.method.filter(|_| self.simulated) {
            Some(method) => format!("Simulation, {}", method.name()),
            None => format!("Room {}", self.room),
        }
    }

    /// How many come, and how: `500 visitors over 30 s`, `500 visitors all at once`.
    pub(crate) fn arrival(&self) -> String {
        let how = if self.held_while_arriving {
            format!("over {}, held till all are there", human(self.arrive_seconds))
        } else if self.arrive_seconds > 0.0 {
            format!("over {}", human(self.arrive_seconds))
        } else {
            "all at once".to_owned()
        };
        format!("{} visitors {how}", self.visitors)
    }

    /// Among whom the crowd comes, if not alone, for a caption.
    pub(crate) fn in_company(&self) -> Option<String> {
        (!self.company.is_empty()).then(|| format!("hostile company: {}", self.company.names()))
    }

    /// Under which conditions the crowd comes.
    pub(crate) fn conditions(&self) -> Vec<String> {
        let mut parts = vec![format!("staying {}", human(self.stay_seconds))];
        parts.extend(self.ceiling.map(|ceiling| format!("ceiling {ceiling}")));
        parts.extend(self.rate_per_minute.map(|rate| format!("{rate} new visitors per minute")));
        if self.abandon > 0.0 {
            parts.push(format!("{:.0}% close the tab while waiting", self.abandon * 100.0));
        }
        parts
    }
}
