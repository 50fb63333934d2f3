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
mod restored_schedules;
mod restoring;
mod revoking;
mod rewinds;
mod runs;
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
            $(#[test]
            fn $name() {
                crate::runs::on_the_model(|world| Box::pin(super::$name(world)));
            })*
        }
    };
}
pub(crate) use on_every_server;

/// Runs each test on both real servers: for what only a process has, such as memory.
macro_rules! on_real_servers {
    ($($name:ident),* $(,)?) => {
        mod redis7 {
            $(#[test]
            fn $name() {
                let flavor = vestibule_tests::Flavor::Redis7;
                crate::runs::on(flavor, |world| Box::pin(super::$name(world)));
            })*
        }
        mod valkey9 {
            $(#[test]
            fn $name() {
                let flavor = vestibule_tests::Flavor::Valkey9;
                crate::runs::on(flavor, |world| Box::pin(super::$name(world)));
            })*
        }
    };
}
pub(crate) use on_real_servers;
