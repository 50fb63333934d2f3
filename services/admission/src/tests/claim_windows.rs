//! Whoever asks how long its turn lasts, or comes while no seat is free, more often than anything changes.

use futures_util::future::join_all;
use vestibule_domain::OnRedisFailure;

use super::World;
use crate::batching::Served;

/// So often somebody asks.
const TIMES: usize = 200;
/// So many calls at most are made for that: of those that come at once, the first does not wait for the others.
const FEW: u64 = 5;

impl World {
    /// Somebody whose turn came.
    async fn served(&self) -> Served {
        let place = self.enter("here").await.waiter.place;
        let room = self.room("here").snapshot;
        let (room, reset_epoch) = (room.room.clone(), room.reset_epoch);
        Served { room, reset_epoch, place, position: place.number }
    }

    /// How many calls to Redis `work` takes.
    async fn calls<T>(&self, work: impl Future<Output = T>) -> (u64, T) {
        let before = self.admission.store.calls();
        let done = work.await;
        (self.admission.store.calls() - before, done)
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_asks_again_is_answered_from_memory() {
    let world = World::with(&[("here", OnRedisFailure::Closed)]).await;
    let windows = &world.admission.flows.claim_windows;
    let (served, another) = (world.served().await, world.served().await);
    let ask = || windows.expiry(served.clone());
    let (calls, answers) = world.calls(join_all((0..TIMES).map(|_| ask()))).await;
    assert!(calls <= FEW, "{calls}");
    let first = answers[0].as_ref().unwrap();
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap() == first));
    let one_by_one = async {
        for _ in 0..TIMES {
            ask().await.unwrap();
        }
    };
    let (calls, ()) = world.calls(one_by_one).await;
    assert_eq!(calls, 0);
    let (calls, _) = world.calls(windows.expiry(another)).await;
    assert_ne!(calls, 0, "it is somebody else's");
    world.pass(1).await;
    let (calls, _) = world.calls(ask()).await;
    assert_ne!(calls, 0, "it may be another by now");
}

#[tokio::test(start_paused = true)]
async fn a_window_is_kept_open_now_and_then() {
    let world = World::with(&[("here", OnRedisFailure::Closed)]).await;
    let windows = &world.admission.flows.claim_windows;
    let served = world.served().await;
    let keep = || windows.keep_open(served.clone());
    let (calls, _) = world.calls(join_all((0..TIMES).map(|_| keep()))).await;
    assert!((1..=FEW).contains(&calls), "{calls}");
    world.pass(7).await;
    let (calls, ()) = world.calls(keep()).await;
    assert!((1..=FEW).contains(&calls), "{calls}");
}
