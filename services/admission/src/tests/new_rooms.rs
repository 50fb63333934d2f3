//! A room of which an instance has not heard yet.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header::ACCEPT};
use tokio::time::{Duration, advance, sleep};
use vestibule_domain::{OnRedisFailure, RoomId, schedule::RoomConfig};
use vestibule_runtime::problem::ProblemType;

use super::World;
use crate::{extractors, page};

fn browser() -> HeaderMap {
    HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/html"))])
}

/// Somebody may have a place in it.
#[tokio::test(start_paused = true)]
async fn who_asks_for_one_that_was_made_a_moment_ago_finds_it() {
    let world = World::with(&[("sale", OnRedisFailure::Closed)]).await;
    let (feed, flows) = (&world.admission.feed, &world.admission.flows);
    advance(Duration::from_millis(500)).await;
    feed.refresh().await.unwrap();
    let here = RoomId::new("here").unwrap();
    world.admission.store.put_config(&here, &RoomConfig::default()).await.unwrap();
    assert!(flows.room("here").is_none() && feed.knows_every_room(), "it has not heard of it");
    let reads = async {
        sleep(Duration::from_millis(500)).await;
        feed.refresh().await.unwrap();
    };
    let (found, there, ()) =
        tokio::join!(extractors::room(flows, "here"), extractors::room(flows, "there"), reads);
    assert_eq!(found.unwrap().snapshot.room, here);
    assert_eq!(there.unwrap_err().kind(), ProblemType::RoomNotFound);
}

#[tokio::test(start_paused = true)]
async fn the_page_of_one_that_may_exist_tries_again() {
    let world = World::with(&[("sale", OnRedisFailure::Closed)]).await;
    let starts = world.another().await;
    assert!(starts.feed.is_connected(), "it has read all rooms, once");
    let problem = extractors::room(&starts.flows, "here").await.unwrap_err();
    let page = page::without_room(problem, &browser(), "").unwrap();
    assert_eq!(page.status(), StatusCode::SERVICE_UNAVAILABLE);
    advance(Duration::from_millis(500)).await;
    starts.feed.refresh().await.unwrap();
    let reads = async {
        sleep(Duration::from_millis(500)).await;
        starts.feed.refresh().await.unwrap();
    };
    let (found, ()) = tokio::join!(extractors::room(&starts.flows, "here"), reads);
    let page = page::without_room(found.unwrap_err(), &browser(), "").unwrap();
    assert_eq!(page.status(), StatusCode::NOT_FOUND);
}
