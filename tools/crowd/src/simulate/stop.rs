//! Being asked to stop, by the operator or by the system: work ends in order and tells how far it came.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::{
    signal::unix::{SignalKind, signal},
    task::spawn_blocking,
};

/// Does `work` on a thread of its own, and tells it when it shall stop. From now on such signals do not
/// kill the process.
pub(super) async fn when_asked<T: Send + 'static>(
    work: impl FnOnce(Arc<AtomicBool>) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let stops = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&stops);
    let mut working = spawn_blocking(move || work(heard));
    tokio::select! {
        done = &mut working => return done?,
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    stops.store(true, Ordering::Relaxed);
    working.await?
}
