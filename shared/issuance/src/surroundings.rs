//! What a service is put into when it runs inside another program: the simulation.

use std::sync::Arc;

use vestibule_store::Store;
use vestibule_token::DeploymentSecret;

use crate::Machine;

/// What an instance of either service takes from where it runs.
#[derive(Debug)]
pub struct Surroundings {
    /// Redis, or what stands for it.
    pub store: Store,
    /// The deployment's secret.
    pub secret: Arc<DeploymentSecret>,
    /// Where it runs.
    pub region: String,
    /// The issuer of tokens.
    pub public_url: String,
    /// Chance and cryptography.
    pub machine: Machine,
}
