//! The model against the real thing: the same random programs on the model, on Redis 7 and on
//! Valkey 9. Every answer and what is left at the end must be alike.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

mod chance;
mod comparison;
mod expressions;
mod link;
mod programs;
mod scripts;
mod templates;

/// Runs each test against both servers.
macro_rules! against_both_servers {
    ($($name:ident),* $(,)?) => {
        mod redis7 {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(crate::comparison::Comparison::with(vestibule_tests::Flavor::Redis7).await);
            })*
        }
        mod valkey9 {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                if !vestibule_tests::Flavor::Valkey9.is_left_out() {
                    let with = vestibule_tests::Flavor::Valkey9;
                    super::$name(crate::comparison::Comparison::with(with).await);
                }
            })*
        }
    };
}
pub(crate) use against_both_servers;
