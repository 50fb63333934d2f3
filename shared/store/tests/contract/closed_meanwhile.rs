//! Minutes that are closed while a room is copied: whoever was counted in them counts once in the copy, however far the
//! copy had come.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures_util::future::BoxFuture;
use redis::{Arg, Cmd, RedisError, RedisFuture, Value};
use vestibule_domain::{
    RoomId, SeatEnds,
    ledger::{Figure, Figures, LeftAs},
};
use vestibule_store::{Departure, EndedAs, JoinMode, Link, Messages, Store};

use crate::{
    backups::restored,
    world::{START_MS, World, limited},
};

crate::on_real_servers!(a_minute_that_is_closed_while_it_is_copied_counts_once);

/// Each is counted in every minute.
const TRIED: [Figure; 5] = [
    Figure::Arrived,
    Figure::Admitted,
    Figure::Waited(0),
    Figure::Left(LeftAs::Completed),
    Figure::Left(LeftAs::Abandoned),
];
const DAY: u64 = START_MS / 86_400_000;

/// A link over which the open minutes of a room are closed right after a key was read for the first time.
#[derive(Debug)]
struct ClosesAfter {
    link: Arc<dyn Link>,
    /// Closes them.
    store: Store,
    room: RoomId,
    /// How the key's name ends.
    key: String,
    is_closed: AtomicBool,
}

impl Link for ClosesAfter {
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let answer = self.link.call(command).await;
            if is_reading(command, &self.key) && !self.is_closed.swap(true, Ordering::Relaxed) {
                let last = self.store.now_ms().await.unwrap() / 60_000 - 1;
                let rolled = self.store.roll_up(&self.room, 1, DAY, last).await.unwrap();
                assert!(rolled.moved > 0, "after {}", self.key);
            }
            answer
        })
    }

    fn subscribe<'a>(
        &'a self,
        channels: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Messages, RedisError>> {
        self.link.subscribe(channels)
    }
}

fn is_reading(command: &Cmd, key: &str) -> bool {
    let words: Vec<_> = command.args_iter().collect();
    match &words[..] {
        [Arg::Simple(b"HGETALL"), Arg::Simple(name)] => name.ends_with(key.as_bytes()),
        _ => false,
    }
}

/// A minute in which four enter, of whom one completes and one gives up.
async fn a_minute(world: &World) {
    let first = world.join(4, JoinMode::Enter).await.first;
    let reset_epoch = world.reset_epoch().await;
    for (number, ended_as) in [(first, EndedAs::Completed), (first + 1, EndedAs::Abandoned)] {
        let departure = Departure { number, ended_as, seat: SeatEnds::AtOnce };
        world.store.leave(&world.room, reset_epoch, &[departure]).await.unwrap();
    }
    world.tick(1).await;
    world.seconds(60);
}

async fn a_minute_that_is_closed_while_it_is_copied_counts_once(world: World) {
    world.open(limited(30)).await;
    let after = ["traffic".to_owned(), "counts".to_owned(), format!("history:{DAY}")];
    let last = [format!("minutes:{DAY}"), format!("ledger:{DAY}")];
    for key in after.into_iter().chain(last) {
        a_minute(&world).await;
        let (link, store) = (world.server.link(), world.another_store());
        let (room, is_closed) = (world.room.clone(), AtomicBool::new(false));
        let link = Arc::new(ClosesAfter { link, store, room, key: key.clone(), is_closed });
        let copying = Store::over(link.clone(), world.store.clock().clone());
        let pieces = copying.export_room(&world.room).await.unwrap().unwrap();
        assert!(link.is_closed.load(Ordering::Relaxed), "{key} was not read");
        let other = restored(&world, pieces, Some(1_000)).await;
        other.reconcile(&[], &[], &world.config().await).await;
        let last = world.clock.now_ms() / 60_000 - 1;
        let history = async |at: &World| at.store.history(&at.room, 0, last).await.unwrap();
        assert_eq!(history(&other).await, history(&world).await, "closed after {key}");
        other.store.roll_up(&other.room, 9, DAY, last).await.unwrap();
        let ledger = async |at: &World| at.store.ledger(&at.room, 0, last).await.unwrap();
        let expected = ledger(&world).await;
        assert_eq!(ledger(&other).await, expected, "closed after {key}");
        for tried in TRIED {
            let is_there = |figures: &Figures| figures.total(tried) > 0;
            assert!(expected.values().any(is_there), "{tried:?} is not tried");
        }
    }
}
