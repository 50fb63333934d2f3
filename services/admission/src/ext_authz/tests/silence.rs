//! How connections end on which nothing is said, on a clock that is held.

use futures_util::{StreamExt, stream};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::Semaphore,
    time::{Instant, sleep, timeout},
};

use super::*;
use crate::ext_authz::connection::{Connection, PREFACE};

const HEAD: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);
/// Longer than anything here may take.
const FOR_EVER: Duration = Duration::from_hours(1);
/// A frame of settings that says nothing, its acknowledgement, and that of a ping without its eight bytes.
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
const SETTINGS_TAKEN: &[u8] = &[0, 0, 0, 4, 1, 0, 0, 0, 0];
const PONG: &[u8] = &[0, 0, 8, 6, 1, 0, 0, 0, 0];
const IS_SETTINGS: u8 = 4;
const IS_PING: u8 = 6;

struct Frame {
    kind: u8,
    content: Vec<u8>,
}

/// A connection to a server that has no other, and the counts of both.
async fn connect() -> (DuplexStream, GrpcMetrics) {
    let metrics = GrpcMetrics::default();
    let permit = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
    let (client, of_server) = duplex(4096);
    let connection = Connection::new(of_server, metrics.open(permit), HEAD);
    let incoming = stream::iter([Ok(connection)]).chain(stream::pending());
    tokio::spawn(run(incoming, service().0, 9, CancellationToken::new()));
    (client, metrics)
}

/// Reads until the server ends the connection.
async fn rest(client: &mut DuplexStream) {
    let mut read = Vec::new();
    let end = client.read_to_end(&mut read);
    timeout(FOR_EVER, end).await.expect("should have ended").unwrap();
}

async fn frame(client: &mut DuplexStream) -> Frame {
    let mut head = [0; 9];
    timeout(FOR_EVER, client.read_exact(&mut head)).await.expect("should have come").unwrap();
    let mut content = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
    client.read_exact(&mut content).await.unwrap();
    Frame { kind: head[3], content }
}

#[tokio::test(start_paused = true)]
async fn who_never_begins_or_never_ends_to_begin_is_gone_after_the_time_of_a_head() {
    for said in [&b""[..], &PREFACE[..1], &PREFACE[..PREFACE.len() - 1]] {
        let (mut client, metrics) = connect().await;
        let start = Instant::now();
        for byte in said {
            sleep(SECOND).await;
            client.write_all(&[*byte]).await.unwrap();
        }
        rest(&mut client).await;
        assert_eq!(start.elapsed().as_secs(), HEAD.as_secs());
        assert_eq!(metrics.open_now(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn who_answers_pings_stays_and_who_does_not_is_gone() {
    let (mut client, metrics) = connect().await;
    client.write_all(&[PREFACE, SETTINGS, SETTINGS_TAKEN].concat()).await.unwrap();
    let settings = frame(&mut client).await;
    assert_eq!(settings.kind, IS_SETTINGS);
    // Each is a number of two bytes and a value of four: streams at a time, and bytes of headers.
    let said: Vec<_> = settings.content.chunks(6).map(|pair| (pair[1], &pair[2..])).collect();
    assert!(said.contains(&(3, &CALLS.to_be_bytes())), "{said:?}");
    assert!(said.contains(&(6, &HEADERS.to_be_bytes())), "{said:?}");
    let start = Instant::now();
    for _ in 0..3 {
        let mut ping = frame(&mut client).await;
        while ping.kind != IS_PING {
            ping = frame(&mut client).await;
        }
        client.write_all(&[PONG, &ping.content].concat()).await.unwrap();
    }
    assert!(start.elapsed() >= PING * 3, "{:?}", start.elapsed());
    assert_eq!(metrics.open_now(), 1);
    let start = Instant::now();
    rest(&mut client).await;
    assert!(start.elapsed() <= PING + PING_TIMEOUT + SECOND, "{:?}", start.elapsed());
    assert_eq!(metrics.open_now(), 0);
}
