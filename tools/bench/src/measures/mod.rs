//! The measures, one file each. Every measure makes a room of its own, so that it is independent of
//! the others.

mod authorize;
mod busy_rooms;
mod claim;
mod comparison;
mod draw;
mod fail_over;
mod idle_rooms;
mod join;
mod long_line;
mod memory;
mod pairs;
mod poll;
mod promotion;
mod replicas;
mod rounds;
mod script_times;
mod scripts;
mod signed_call;
mod signing;
mod through_nginx;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

pub(crate) use self::{
    authorize::{authorize, authorize_bound},
    busy_rooms::busy_rooms,
    claim::claim,
    draw::draw,
    idle_rooms::idle_rooms,
    join::join,
    long_line::long_line,
    memory::memory,
    poll::poll,
    promotion::promotion,
    replicas::replicas,
    scripts::scripts,
    signed_call::signed_call,
    through_nginx::through_nginx,
};
use crate::{
    cli::Options,
    deployment::Deployment,
    driver::{self, Caller, Done, Ticket, Until},
};

/// Connections over which a room is filled.
const FILLERS: usize = 512;
/// The slowest rate at which a room is filled, in joins per second.
const SLOWEST_JOINS: usize = 1_000;

/// The deployment and the options of the measures.
#[derive(Debug)]
pub(crate) struct Bench {
    /// Everything that runs.
    pub(crate) deployment: Deployment,
    options: Options,
}

// === impl Bench ===

impl Bench {
    /// A bench over `deployment`.
    pub(crate) fn new(deployment: Deployment, options: Options) -> Self {
        Self { deployment, options }
    }

    /// Makes a room where nobody enters, however many come.
    async fn make_full_room(&mut self, room: &str) -> Result<()> {
        self.deployment.services.create_room(room, &json!({ "total_active_users": 0 })).await
    }

    /// Makes a room where people enter by the operator's increments only.
    async fn make_operated_room(&mut self, room: &str) -> Result<()> {
        let settings = json!({
            "total_active_users": Value::Null,
            "new_users_per_minute": Value::Null,
            "session_duration_seconds": 3_600,
            "position_expiry_seconds": Value::Null,
        });
        self.deployment.services.create_room(room, &settings).await
    }

    /// Lets `count` of `newcomers` come and returns their tickets, in the order of the answers.
    async fn tickets(&self, newcomers: Caller, count: usize) -> Result<Vec<Ticket>> {
        let tickets = Arc::new(Mutex::new(Vec::with_capacity(count)));
        self.run(newcomers.keeping(Arc::clone(&tickets)), count).await?;
        Ok(std::mem::take(&mut tickets.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Lets `count` of `newcomers` come.
    async fn run(&self, newcomers: Caller, count: usize) -> Result<Done> {
        let callers = vec![newcomers.up_to(count); FILLERS.min(count)];
        let within = 30 + u64::try_from(count / SLOWEST_JOINS)?;
        let until = Until::Done(Duration::from_secs(within));
        let done = driver::run(self.deployment.admission.address, callers, until).await?;
        ensure!(done.requests == count as u64, "{} came instead of {count}", done.requests);
        Ok(done)
    }

    fn connections(&self) -> usize {
        self.options.connections as usize
    }
}
