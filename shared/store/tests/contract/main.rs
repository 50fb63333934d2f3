//! The store's contract: one body of tests, run on Redis 7, on Valkey 9 and on the
//! model of Redis, with the time in the test's hands.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

mod audit;
mod backups;
mod bits;
mod bound;
mod chances;
mod claims;
mod closed_meanwhile;
mod compared;
mod crowd;
mod differences;
mod door;
mod draws;
mod entered_once;
mod events;
mod exactness;
mod expiry;
mod figures;
mod formats;
mod hearing_late;
mod history;
mod holds;
mod inlets;
mod joins;
mod judged;
mod jumped_events;
mod jumps;
mod key_ring;
mod leadership;
mod lost_answers;
mod lost_lines;
mod lost_parts;
mod lost_settings;
mod members;
mod memory;
mod methods;
mod model;
mod moves;
mod networks;
mod older_releases;
mod operator;
mod outbox;
mod paging;
mod presence;
mod rate;
mod recalled;
mod regions;
mod rest;
mod restoring;
mod revoking;
mod rewinds;
mod scripts_lost;
mod server;
mod sessions;
mod spending;
mod standing;
mod stops;
mod tombstones;
mod world;

/// Runs each test on both real servers and on the model of one.
macro_rules! on_every_server {
    ($($name:ident),* $(,)?) => {
        crate::on_real_servers!($($name),*);
        mod model {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let dialect = vestibule_redis_model::Dialect::Redis7;
                let server = crate::server::Server::model(dialect);
                super::$name(crate::world::World::on(server)).await;
            })*
        }
    };
}
pub(crate) use on_every_server;

/// Runs each test on both real servers: for what only a process has, such as memory.
macro_rules! on_real_servers {
    ($($name:ident),* $(,)?) => {
        mod redis7 {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let server = crate::server::Server::real(vestibule_tests::Flavor::Redis7).await;
                super::$name(crate::world::World::on(server)).await;
            })*
        }
        mod valkey9 {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let flavor = vestibule_tests::Flavor::Valkey9;
                if !flavor.is_left_out() {
                    let server = crate::server::Server::real(flavor).await;
                    super::$name(crate::world::World::on(server)).await;
                }
            })*
        }
    };
}
pub(crate) use on_real_servers;
