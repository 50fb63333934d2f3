//! What is told of this instance's rooms, minutes and tokens when somebody scrapes it, read from its memory: nobody asks
//! Redis for it. What is counted as it happens is in [`crate::metrics`].

mod rooms;
mod tokens;

use std::{fmt, sync::Arc, time::Duration};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
    registry::{Registry, Unit},
};
use tokio::time::sleep;
use vestibule_runtime::Lifecycle;

pub(crate) use self::rooms::slots_free;
use self::rooms::{encode_rooms, served_rooms};
use crate::state::Controller;

/// How often rooms are looked at, to hold told waits against true ones.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Reads the figures when they are scraped.
#[derive(Debug)]
struct Figures(Arc<Controller>);

/// Registers the figures of `controller`.
pub(crate) fn register(registry: &mut Registry, controller: &Arc<Controller>) {
    registry.register_collector(Box::new(Figures(Arc::clone(controller))));
}

/// Holds told waits against true ones, until the stop.
pub(crate) fn watch(controller: &Arc<Controller>, lifecycle: &Lifecycle) {
    let (controller, soft) = (Arc::clone(controller), lifecycle.soft().clone());
    lifecycle.spawn("wait checks", async move {
        while soft.run_until_cancelled(sleep(LOOK_EVERY)).await.is_some() {
            let rooms = served_rooms(&controller);
            controller.wait_checks.see(rooms.iter().map(|room| &**room));
        }
    });
}

// === impl Figures ===

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        encode_rooms(&self.0, &mut encoder)?;
        self.encode_closed_minutes(&mut encoder)?;
        tokens::encode(&self.0.tokens, &mut encoder)
    }
}

impl Figures {
    fn encode_closed_minutes(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let serves = self.0.leadership.role().serving().is_some();
        let Some(upto) = self.0.closed_minutes.upto().filter(|_| serves) else { return Ok(()) };
        let help = "Up to when the minutes of all rooms served here are in their history";
        let (name, unit) = ("history_closed_timestamp", Some(&Unit::Seconds));
        let metric = encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
        ConstGauge::new(upto).encode(metric)
    }
}
