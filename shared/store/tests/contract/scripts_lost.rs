//! A server is given a script, and another one, which does not know it, is asked to run it.

use std::sync::Arc;

use vestibule_domain::{RoomId, schedule::RoomConfig};
use vestibule_redis_model::{Dialect, Engine};
use vestibule_store::{Clock, Store, StoreError};

use crate::model::Model;

/// Makes a room while the server is replaced so many times.
async fn made(times: usize, dialect: Dialect) -> (Store, Result<(), StoreError>) {
    let server = Arc::new(Model::new(Engine::new(), dialect));
    let store = Store::over(server.clone(), Clock::Server);
    store.learn_time().await.unwrap();
    server.is_replaced_when_given_a_script(times);
    let room = RoomId::new("sale").unwrap();
    let made = store.put_config(&room, &RoomConfig::default()).await.map(drop);
    (store, made)
}

#[tokio::test(start_paused = true)]
async fn who_asks_gives_the_script_again() {
    for dialect in [Dialect::Redis7, Dialect::Valkey9] {
        let (store, made) = made(2, dialect).await;
        made.unwrap();
        let room = RoomId::new("sale").unwrap();
        assert!(store.read_snapshot(&room).await.unwrap().is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn where_no_server_stays_nothing_is_wrong_with_the_call() {
    let (_, made) = made(usize::MAX, Dialect::Redis7).await;
    assert!(matches!(made, Err(StoreError::Unavailable(_))), "{made:?}");
}
