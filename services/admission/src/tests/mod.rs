//! An admission over a Redis that breaks as each test says: what visitors are told meanwhile, and what is left of it.

mod away;
mod changes;
mod check_ins;
mod claim_windows;
mod fail_open;
mod forgotten_rooms;
mod held_claims;
mod inside;
mod lost_join;
mod lost_pass;
mod lost_session;
mod model;
mod new_rooms;
mod redeemed;
mod stood_still;
mod unopened;

use std::sync::Arc;

use clap::Parser;
use tokio::time::{Duration, advance};
use vestibule_domain::{OnRedisFailure, RoomId, RoomSettings, schedule::RoomConfig};
use vestibule_issuance::Machine;
use vestibule_store::{Clock, ManualClock, Store};
use vestibule_token::Ticket;

use self::model::Model;
use crate::{
    cli::Cli,
    config::Config,
    flows::{RoomContext, Solution, Status},
    state::Admission,
};

/// Some second.
const START_MS: u64 = 4_000_000_000_000;
/// The tags of all that there is in these tests.
const ALL: [&str; 6] = ["deployment", "closed", "here", "open", "sale", "there"];

/// How many have room at a time.
const SEATS: u64 = 9;

fn admission_on(model: &Arc<Model>, clock: &ManualClock) -> Admission {
    let store = Store::over(Arc::clone(model) as _, Clock::Manual(clock.clone()));
    let cli = Cli::parse_from(["test", "--secret", &"s".repeat(32)]);
    let config = Config { store, ..Config::read(&cli).unwrap() };
    Admission::new(&config, Machine::real())
}

/// An admission, and what it runs on.
struct World {
    model: Arc<Model>,
    clock: ManualClock,
    admission: Admission,
}

// === impl World ===

impl World {
    /// A room of each name, which fails `open` or not.
    async fn with(rooms: &[(&str, OnRedisFailure)]) -> Self {
        let (model, clock) = (Arc::new(Model::new()), ManualClock::at(START_MS));
        let admission = admission_on(&model, &clock);
        admission.keys.ensure(START_MS / 1000).await.unwrap();
        for (room, on_redis_failure) in rooms {
            let on_redis_failure = *on_redis_failure;
            let settings = RoomSettings {
                total_active_users: Some(SEATS),
                on_redis_failure,
                ..RoomSettings::default()
            };
            let config = RoomConfig { settings, ..RoomConfig::default() };
            let room = RoomId::new(*room).unwrap();
            admission.store.put_config(&room, &config).await.unwrap();
        }
        admission.feed.refresh().await.unwrap();
        Self { model, clock, admission }
    }

    /// An admission that starts now, on the same Redis.
    async fn another(&self) -> Admission {
        let admission = admission_on(&self.model, &self.clock);
        admission.keys.ensure(START_MS / 1000).await.unwrap();
        admission.feed.refresh().await.unwrap();
        admission
    }

    /// So much time goes by, of which Redis says nothing.
    async fn pass(&self, seconds: u64) {
        self.clock.advance_ms(seconds * 1000);
        advance(Duration::from_secs(seconds)).await;
    }

    fn room(&self, name: &str) -> RoomContext {
        self.admission.flows.room(name).unwrap()
    }

    /// The ticket of somebody who has just entered.
    async fn enter(&self, room: &str) -> Ticket {
        let joined = self.admission.flows.join(&self.room(room), None, Solution::NONE).await;
        let joined = joined.unwrap();
        assert_eq!(joined.status.status, Status::Admitted);
        *joined.cookie.ticket().unwrap()
    }
}
