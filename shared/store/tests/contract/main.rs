//! The store's contract: one body of tests, run on Redis 7 and on Valkey 9, with the time in the
//! test's hands.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

mod chances;
mod claims;
mod crowd;
mod draws;
mod events;
mod exactness;
mod expiry;
mod history;
mod joins;
mod key_ring;
mod leadership;
mod memory;
mod methods;
mod operator;
mod presence;
mod rate;
mod regions;
mod restoring;
mod sessions;
mod world;

/// Runs each test on both servers.
macro_rules! on_both_servers {
    ($($name:ident),* $(,)?) => {
        mod redis7 {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(crate::world::World::on(vestibule_tests::Flavor::Redis7).await).await;
            })*
        }
        mod valkey9 {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                if !vestibule_tests::Flavor::Valkey9.is_left_out() {
                    let world = crate::world::World::on(vestibule_tests::Flavor::Valkey9).await;
                    super::$name(world).await;
                }
            })*
        }
    };
}
pub(crate) use on_both_servers;
