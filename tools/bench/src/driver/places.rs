//! Asks for the status of places that were given, each once.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

use anyhow::Result;
use futures_util::future::try_join_all;
use tokio::time::sleep;

use super::{Answer, Caller, Place, connection::Connection};

const CONNECTIONS: usize = 64;
/// Who is told to come again does so, for so long in all, and after so long.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(200);

/// What was said of those `places` of `room` that are lost: the ticket is refused, or does not stand for a visitor who
/// waits with the queue number that it was given with.
pub(crate) async fn lost_places(
    service: SocketAddr,
    room: &str,
    places: &[&Place],
) -> Result<Vec<String>> {
    let next = AtomicUsize::new(0);
    let asking = (0..CONNECTIONS.min(places.len())).map(|_| some(service, room, places, &next));
    Ok(try_join_all(asking).await?.concat())
}

async fn some(
    service: SocketAddr,
    room: &str,
    places: &[&Place],
    next: &AtomicUsize,
) -> Result<Vec<String>> {
    let mut connection = Connection::open(service).await?;
    let (mut lost, mut request) = (Vec::new(), Vec::new());
    while let Some(place) = places.get(next.fetch_add(1, Relaxed)) {
        request.clear();
        Caller::waiting(room, vec![place.ticket.clone()]).ask(&mut request);
        let asked = Instant::now();
        loop {
            let answer = connection.exchange(&request).await?;
            let is_temporary = matches!(answer.status, 429 | 503);
            if is_temporary && asked.elapsed() < PATIENCE {
                sleep(PAUSE).await;
                continue;
            }
            lost.extend((!is_kept(place, &answer)).then(|| told(place, &answer)));
            break;
        }
    }
    Ok(lost)
}

fn is_kept(place: &Place, answer: &Answer<'_>) -> bool {
    answer.status == 200
        && answer.has_status("waiting")
        && answer.member("queue_number") == Some(place.number)
}

fn told(place: &Place, answer: &Answer<'_>) -> String {
    format!("{}: {} {}", place.number, answer.status, answer.body.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_kept_with_its_number_only() {
        let place = Place { ticket: b"t".to_vec(), number: 7 };
        let kept = |status, body| is_kept(&place, &Answer { status, ticket: None, body });
        assert!(kept(200, br#"{"status":"waiting","queue_number":7,"position":7}"#));
        assert!(!kept(200, br#"{"status":"waiting","queue_number":8,"position":7}"#));
        assert!(!kept(200, br#"{"status":"expired","queue_number":7,"position":7}"#));
        assert!(!kept(410, br#"{"status":"waiting","queue_number":7,"position":7}"#));
    }
}
