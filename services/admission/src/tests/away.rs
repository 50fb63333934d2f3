//! Many rooms of one shard, which is away from this service.

use tokio::time::{Duration, Instant, timeout};
use vestibule_domain::OnRedisFailure;

use super::{World, model::TIMEOUT};

/// More than a task looks at before it has to let others run.
const MANY: usize = 300;

/// So many rooms of one shard, whose names these are, and one of another.
async fn world(rooms: usize) -> (World, Vec<String>) {
    let here: Vec<_> = (0..rooms).map(|n| format!("here-{n}")).collect();
    let mut all: Vec<_> = here.iter().map(|room| (room.as_str(), OnRedisFailure::Closed)).collect();
    all.push(("there", OnRedisFailure::Closed));
    (World::with(&all).await, here)
}

fn take_away(world: &World, rooms: &[String]) {
    let rooms: Vec<_> = rooms.iter().map(String::as_str).collect();
    world.model.take_away(&rooms);
}

#[tokio::test(start_paused = true)]
async fn many_rooms_that_may_be_asked_about_stop_nobody_from_reading_the_others() {
    let (world, here) = world(MANY).await;
    let feed = &world.admission.feed;
    take_away(&world, &here);
    // Whoever reads it finds that the leader may ask about it.
    world.model.lose_line("there");
    for seconds in 1..20 {
        timeout(Duration::from_secs(seconds), Box::pin(feed.clone().run())).await.unwrap_err();
        timeout(10 * TIMEOUT, feed.refresh()).await.expect("it is read").unwrap_err();
    }
}

#[tokio::test(start_paused = true)]
async fn of_rooms_whose_settings_are_to_be_read_one_is_asked_about_in_vain() {
    let (world, here) = world(5).await;
    let feed = &world.admission.feed;
    world.pass(3).await;
    take_away(&world, &here);
    // Until it listens. After that it does not know what was done in any room.
    timeout(Duration::from_millis(1), Box::pin(feed.clone().run())).await.unwrap_err();
    let begun = Instant::now();
    feed.refresh().await.unwrap_err();
    assert_eq!(begun.elapsed(), TIMEOUT);
}
