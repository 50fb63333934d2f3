//! Whoever was silent announces itself before it changes anything: else nobody would ask it what it has seen.

use std::sync::Arc;

use tokio::time::{Duration, advance};
use vestibule_domain::{Announcement, RoomId, schedule::RoomConfig};
use vestibule_redis_model::{Dialect, Engine};
use vestibule_store::{Clock, Store, StoreError};

use crate::{model::Model, world::START_MS};

#[tokio::test(start_paused = true)]
async fn who_was_silent_announces_itself_before_it_changes_anything() {
    let server = Arc::new(Model::new(Engine::new(), Dialect::Redis7));
    let service = || Store::over(server.clone(), Clock::Server);
    let (silent, other, room) = (service(), service(), RoomId::new("sale").unwrap());
    silent.put_config(&room, &RoomConfig::default()).await.unwrap();
    silent.announce("silent", Announcement::OURS).await.unwrap();
    advance(Duration::from_secs(10)).await;
    let seen = async || {
        let running = other.announce("other", Announcement::OURS).await.unwrap();
        running.seen["silent"] - START_MS
    };
    silent.read_snapshot(&room).await.unwrap();
    assert_eq!(seen().await, 0, "it has only looked");
    silent.put_config(&room, &RoomConfig::default()).await.unwrap();
    assert_eq!(seen().await, 10_000);
}

#[tokio::test(start_paused = true)]
async fn who_was_silent_changes_nothing_where_no_controller_hears_it() {
    let server = Arc::new(Model::new(Engine::new(), Dialect::Redis7));
    let service = || Store::over(server.clone(), Clock::Server);
    let (silent, controller, room) = (service(), service(), RoomId::new("sale").unwrap());
    controller.put_config(&room, &RoomConfig::default()).await.unwrap();
    silent.announce("admission-a", Announcement::OURS).await.unwrap();
    controller.announce("controller-b", Announcement::OURS).await.unwrap();
    advance(Duration::from_secs(10)).await;
    // The others may have gone over to another server.
    for _ in 0..3 {
        let changed = silent.increment(&room, 1).await;
        assert!(matches!(changed, Err(StoreError::Unavailable(_))), "{changed:?}");
        silent.announce("admission-a", Announcement::OURS).await.unwrap();
        advance(Duration::from_millis(500)).await;
    }
    controller.announce("controller-b", Announcement::OURS).await.unwrap();
    silent.increment(&room, 1).await.unwrap();
    assert_eq!(silent.read_snapshot(&room).await.unwrap().unwrap().serving_counter, 1);
}
