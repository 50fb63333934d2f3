//! Answers that nobody reads, of connections that are closed to make room: they hold no place, however late their
//! requests came.

use super::*;

/// More than may be closing at a time, when no further connection is accepted.
const UNREAD: usize = 18;
/// More than the buffers of a connection take.
const LONG_ANSWER: usize = 8 << 20;
const HEAD: Duration = Duration::from_millis(100);

async fn start() -> Process {
    let long = Bytes::from(vec![b'x'; LONG_ANSWER]);
    let router = Router::new()
        .route("/", get(async || "quick."))
        .route("/long", get(async move || Body::from(long.clone())));
    let limits = ConnectionLimits { total: UNREAD, per_address: UNREAD, ..ConnectionLimits::few() };
    Process::limited(router, LONG, ConnectionLimits { head: HEAD, ..limits }).await
}

/// Asks for the long answer and reads nothing. The end of the head comes after `pause`.
async fn ask_unread(address: SocketAddr, pause: Duration) -> Vec<TcpStream> {
    let mut streams: Vec<_> = (0..UNREAD).map(|_| connect(address)).collect();
    for stream in &mut streams {
        stream.write_all(b"GET /long HTTP/1.1\r\nhost: test\r\n").unwrap();
    }
    sleep(pause).await;
    for stream in &mut streams {
        // It may have been closed meanwhile.
        let _ = stream.write_all(b"\r\n");
    }
    sleep(HEAD / 2).await;
    streams
}

/// Takes every place anew and asks once more.
async fn newcomers_are_answered(address: SocketAddr) {
    let mut idle = Vec::new();
    for _ in 0..UNREAD * 2 {
        idle.push(connect(address));
        sleep(Duration::from_millis(1)).await;
    }
    assert!(ask_once(address, "/").await.ends_with("quick."));
}

#[tokio::test]
async fn who_reads_no_answer_makes_room() {
    let process = start().await;
    let _unread = ask_unread(process.public, Duration::ZERO).await;
    newcomers_are_answered(process.public).await;
}

#[tokio::test]
async fn whose_head_ends_too_late_has_no_answer_to_leave_unread() {
    let process = start().await;
    let _unread = ask_unread(process.public, HEAD * 2).await;
    newcomers_are_answered(process.public).await;
}
