//! How single connections end whose clients are silent, in the stop and before it, on a clock that is held.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::*;
use crate::serve::activity::Patience;

/// More than the connection takes at a time.
const LONG_ANSWER: usize = 64 << 10;
const SECOND: Duration = Duration::from_secs(1);
const PATIENCE: Patience = Patience { head: SECOND, idle: SECOND, stall: SECOND };
/// Longer than anything here may take.
const FOR_EVER: Duration = Duration::from_hours(1);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";
const END: usize = REQUEST.len() - 2;

struct Client {
    stream: DuplexStream,
    server: JoinHandle<Option<Silence>>,
    stop: CancellationToken,
}

impl Client {
    fn connect() -> Self {
        let router = Router::new().route("/", get(async || "x".repeat(LONG_ANSWER)));
        let activity = Arc::new(Activity::new(Instant::now()));
        let peer = (Ipv4Addr::LOCALHOST, 9).into();
        let connection = Connection::new(router.with_state(()), peer, activity, PATIENCE);
        let (stream, of_server) = duplex(1024);
        let stop = CancellationToken::new();
        let server = tokio::spawn(connection.converse(of_server, stop.clone()));
        Self { stream, server, stop }
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
        sleep(SECOND / 10).await;
    }

    async fn stop(&self) {
        self.stop.cancel();
        sleep(SECOND / 10).await;
    }

    async fn end(self) -> Option<Silence> {
        timeout(FOR_EVER, self.server).await.expect("should have ended").unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_that_ends_after_its_time_is_not_answered() {
    let mut client = Client::connect();
    client.send(&REQUEST[..END]).await;
    sleep(SECOND).await;
    assert!(client.stream.write_all(&REQUEST[END..]).await.is_err(), "it is closed");
    assert_eq!(client.end().await, Some(Silence::Head));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_takes_ends_in_the_stop_too() {
    let mut asked = Client::connect();
    asked.send(REQUEST).await;
    asked.stop().await;
    assert_eq!(asked.end().await, Some(Silence::Answer));
    let mut stopped = Client::connect();
    stopped.send(&REQUEST[..END]).await;
    stopped.stop().await;
    stopped.send(&REQUEST[END..]).await;
    assert_eq!(stopped.end().await, Some(Silence::Answer));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_taken_slowly_is_finished_in_the_stop() {
    let mut client = Client::connect();
    client.send(&REQUEST[..END]).await;
    client.stop().await;
    client.send(&REQUEST[END..]).await;
    let (mut read, mut buffer) = (0, [0; 1024]);
    loop {
        match client.stream.read(&mut buffer).await.unwrap() {
            0 => break,
            more => read += more,
        }
        sleep(SECOND / 2).await;
    }
    assert!(read > LONG_ANSWER, "{read}");
    assert_eq!(client.end().await, None);
}
