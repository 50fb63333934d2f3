//! Two services of each kind, as they run where one of them may fail, for the measures that need more than the one
//! deployment of all others.

use std::{net::SocketAddr, time::Duration};

use anyhow::Result;
use vestibule_domain::{RoomId, RoomSettings, schedule::RoomConfig};
use vestibule_store::{Clock, Store};
use vestibule_tests::{Builder, Deployment, Flavor, Service};

use crate::{cli::Options, programs};

const ANSWER: Duration = Duration::from_secs(10);

/// Two admissions and two controllers, not yet started.
pub(super) fn pairs(options: &Options) -> Result<Builder> {
    let builder = Deployment::builder()
        .flavor(Flavor::Installed)
        .programs(programs::services(options)?)
        .log("warn")
        .admissions(2)
        .controllers(2);
    Ok(builder)
}

/// Where the two admissions listen.
pub(super) fn admissions(services: &Deployment) -> Result<[SocketAddr; 2]> {
    let address = |index| services.address(Service::Admission, index).parse();
    Ok([address(0)?, address(1)?])
}

/// Opens rooms as the controllers do, but waits for nobody to hear of each.
pub(super) async fn open(rooms: &[String], settings: RoomSettings, redis: &str) -> Result<()> {
    let store = Store::open(redis, Clock::Server, ANSWER)?;
    let config = RoomConfig { settings, ..RoomConfig::default() };
    for room in rooms {
        store.put_config(&RoomId::new(room)?, &config).await?;
    }
    Ok(())
}
