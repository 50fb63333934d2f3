//! The order of the stop, without servers (see `serve.rs` for those) and without real signals.

use std::sync::Mutex;

use super::*;
use crate::signals::SignalSender;

const LONG: Duration = Duration::from_mins(1);

fn lifecycle(grace: Duration) -> (Lifecycle, SignalSender, Signals) {
    let (sender, signals) = Signals::by_hand();
    (Lifecycle::new(Readiness::new(), grace), sender, signals)
}

/// Ends the test instead of hanging it.
async fn finish(run: impl Future<Output = Exit>) -> Exit {
    timeout(Duration::from_secs(5), run).await.expect("the lifecycle should have ended")
}

#[tokio::test]
async fn phases_follow_one_another() {
    let (lifecycle, sender, signals) = lifecycle(LONG);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = |phase, what: &'static str, until: &CancellationToken, delay: u64| {
        let (seen, until) = (Arc::clone(&seen), until.clone());
        lifecycle.supervise(phase, what, async move {
            until.cancelled().await;
            sleep(Duration::from_millis(delay)).await;
            seen.lock().unwrap().push(what);
        });
    };
    log(Stage::Task, "task", lifecycle.drained(), 0);
    log(Stage::Server, "server", lifecycle.soft(), 30);
    lifecycle.spawn("until dropped", std::future::pending());
    lifecycle.readiness().started();
    assert!(lifecycle.readiness().is_ready());
    sender.send("TERM");
    let run = tokio::spawn(lifecycle.clone().run(signals));
    lifecycle.soft().cancelled().await;
    assert_eq!(lifecycle.readiness().missing(), ["draining"]);
    lifecycle.drained().cancelled().await;
    assert_eq!(*seen.lock().unwrap(), ["server"]);
    while seen.lock().unwrap().len() < 2 {
        sleep(Duration::from_millis(1)).await;
    }
    assert!(!lifecycle.hard().is_cancelled());
    sender.send("TERM");
    assert_eq!(finish(async { run.await.unwrap() }).await, Exit::Asked);
    assert_eq!(*seen.lock().unwrap(), ["server", "task"]);
    assert!(lifecycle.hard().is_cancelled());
}

#[tokio::test]
async fn a_second_signal_does_not_wait() {
    let (lifecycle, sender, signals) = lifecycle(LONG);
    lifecycle.spawn("stubborn", std::future::pending());
    sender.send("TERM");
    sender.send("TERM");
    assert_eq!(finish(lifecycle.run(signals)).await, Exit::Asked);
}

#[tokio::test]
async fn the_grace_ends() {
    let (lifecycle, sender, signals) = lifecycle(Duration::from_millis(20));
    lifecycle.spawn("stubborn", std::future::pending());
    sender.send("TERM");
    assert_eq!(finish(lifecycle.run(signals)).await, Exit::Asked);
}

#[tokio::test]
async fn a_task_that_ends_by_itself_stops_the_process() {
    let (lifecycle, _sender, signals) = lifecycle(LONG);
    lifecycle.spawn("short", async {});
    let drained = lifecycle.drained().clone();
    lifecycle.spawn("other", async move { drained.cancelled().await });
    let readiness = lifecycle.readiness().clone();
    let exit = finish(lifecycle.run(signals)).await;
    assert_eq!((exit, exit.code()), (Exit::TaskFailed, 1));
    assert_eq!(readiness.missing(), ["draining"]);
}

#[tokio::test]
async fn a_task_that_panics_stops_the_process() {
    let (lifecycle, _sender, signals) = lifecycle(LONG);
    lifecycle.spawn("broken", async { panic!("as the test wants") });
    assert_eq!(finish(lifecycle.run(signals)).await, Exit::TaskFailed);
}

#[tokio::test]
async fn a_panic_during_the_stop_counts_too() {
    let (lifecycle, sender, signals) = lifecycle(LONG);
    let soft = lifecycle.soft().clone();
    lifecycle.spawn("broken", async move {
        soft.cancelled().await;
        panic!("as the test wants")
    });
    sender.send("TERM");
    assert_eq!(finish(lifecycle.run(signals)).await, Exit::TaskFailed);
}

#[tokio::test]
async fn a_task_that_ends_with_the_stop_is_fine() {
    let (lifecycle, sender, signals) = lifecycle(LONG);
    let soft = lifecycle.soft().clone();
    lifecycle.spawn("polite", async move { soft.cancelled().await });
    sender.send("TERM");
    let exit = finish(lifecycle.run(signals)).await;
    assert_eq!((exit, exit.code()), (Exit::Asked, 0));
}
