//! The way in for visitors and operators: a load balancer that sends each call to some instance that is
//! ready, and what becomes of a call whose instance dies or is stopped for a while.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{sleep_until, timeout};
use vestibule_admission::in_process::{self as admission, CallError};
use vestibule_controller::in_process as controller;

use crate::{
    Chance,
    api::{self, Reply},
    deployment::{Deployment, Process, Running},
};

/// How long a browser waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// No instance is ready: the load balancer refuses.
    NobodyThere,
    /// The instance died, or did not answer in time: whether the call was carried out is not known.
    Lost,
    /// The instance refused it.
    Refused(CallError),
}

/// The way in. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Door(Deployment);

// === impl Door ===

impl Door {
    /// The way into `deployment`.
    #[must_use]
    pub(crate) fn new(deployment: Deployment) -> Self {
        Self(deployment)
    }

    /// Sends a visitor's call to some admission.
    ///
    /// # Errors
    /// See [`Failure`].
    pub async fn visit<T>(
        &self,
        chance: &mut Chance,
        call: impl AsyncFnOnce(&admission::Instance) -> Result<T, CallError>,
    ) -> Result<T, Failure> {
        self.visit_one_of(&self.0.ready_admissions(), chance, call).await
    }

    /// Sends a visitor's call to some admission of this region, by its place in the scenario.
    ///
    /// # Errors
    /// See [`Failure`].
    pub async fn visit_from<T>(
        &self,
        region: usize,
        chance: &mut Chance,
        call: impl AsyncFnOnce(&admission::Instance) -> Result<T, CallError>,
    ) -> Result<T, Failure> {
        self.visit_one_of(&self.0.ready_admissions_of(region), chance, call).await
    }

    async fn visit_one_of<T>(
        &self,
        ready: &[Process<admission::Instance>],
        chance: &mut Chance,
        call: impl AsyncFnOnce(&admission::Instance) -> Result<T, CallError>,
    ) -> Result<T, Failure> {
        if ready.is_empty() {
            return Err(Failure::NobodyThere);
        }
        let process = chance.one_of(ready);
        // A call's future is large: so it is not part of its visitor's.
        let call = Box::pin(call(&process.instance));
        let answer = self.through(&process.running, call).await?;
        answer.map_err(Failure::Refused)
    }

    /// Sends a call of the public API to some admission; `body`: null for none.
    ///
    /// # Errors
    /// See [`Failure`].
    pub async fn send(
        &self,
        chance: &mut Chance,
        (method, path): (&str, &str),
        body: &Value,
    ) -> Result<Reply, Failure> {
        let call = async |admission: &admission::Instance| {
            Ok(api::call(admission.router(), method, path, body).await)
        };
        self.visit(chance, call).await
    }

    /// Sends a call of the operators' API to some controller; `body`: null for none.
    ///
    /// # Errors
    /// See [`Failure`].
    pub async fn command(
        &self,
        chance: &mut Chance,
        (method, path): (&str, &str),
        body: &Value,
    ) -> Result<Reply, Failure> {
        let call = async |controller: &controller::Instance| {
            api::call(controller.router(), method, path, body).await
        };
        self.operate(chance, call).await
    }

    /// Sends an operator's call to some controller.
    ///
    /// # Errors
    /// See [`Failure`].
    pub async fn operate<T>(
        &self,
        chance: &mut Chance,
        call: impl AsyncFnOnce(&controller::Instance) -> T,
    ) -> Result<T, Failure> {
        let ready = self.0.ready_controllers();
        if ready.is_empty() {
            return Err(Failure::NobodyThere);
        }
        let process = chance.one_of(&ready);
        self.through(&process.running, call(&process.instance)).await
    }

    async fn through<T>(
        &self,
        running: &Running,
        call: impl Future<Output = T>,
    ) -> Result<T, Failure> {
        let call = async {
            self.thaw(running).await;
            let answer = call.await;
            self.thaw(running).await;
            answer
        };
        tokio::select! {
            biased;
            answer = timeout(PATIENCE, call) => answer.map_err(|_| Failure::Lost),
            () = running.killed.cancelled() => Err(Failure::Lost),
        }
    }

    /// Waits until a stopped process goes on.
    async fn thaw(&self, running: &Running) {
        let network = self.0.network();
        loop {
            let until_ms = network.frozen_until_ms(running.node);
            if until_ms <= network.now_ms() {
                return;
            }
            sleep_until(network.moment(until_ms)).await;
        }
    }
}
