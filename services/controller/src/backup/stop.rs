//! A command that somebody stops.

use vestibule_runtime::Signals;

/// Does it until a signal comes, of which `stopped` makes an error: then what is under way is dropped.
pub(super) async fn unless_stopped<T, E>(
    signals: &mut Signals,
    stopped: impl FnOnce(&'static str) -> E,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    tokio::select! {
        biased;
        signal = signals.next() => Err(stopped(signal)),
        done = work => done,
    }
}
