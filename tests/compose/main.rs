//! The images and the Compose file as users start them: `docker-compose.yml` of the root and the `Dockerfile`, brought up
//! from nothing, with people and a crowd in line while one of each service and Valkey are killed and the images
//! are replaced by others; and taken down.
//!
//! Where no engine answers that has the base images or can fetch them, the tests start one of their own
//! (`engine.rs`) with stand-ins for these images. The services in the images are those that were built for the tests,
//! unless they are to be compiled in the engine (`VESTIBULE_COMPOSE_BUILD=release`).

mod crowd;
mod engine;
mod observed;
mod people;
mod project;
mod recipe;
mod sale;
mod sentinels;

use std::{io::Write, time::Duration};

/// Every deployment has the same addresses within its engine, and an engine changes the machine's network.
static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// How long anything may take on a machine that is busy with other tests.
const SOON: Duration = Duration::from_mins(3);

/// Tells something that the test runner would swallow.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}
