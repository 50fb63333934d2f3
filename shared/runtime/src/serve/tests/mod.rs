//! Real connections to real servers: drain, grace, and the admin server through it all.

mod heads;
mod silence;
mod unread;

use std::{
    convert::Infallible,
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, TcpStream},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::Body,
    routing::{get, post},
};
use hyper::body::{Body as HttpBody, Bytes, Frame};
use tokio::{
    sync::oneshot,
    task::{JoinHandle, spawn_blocking},
    time::{sleep, timeout},
};

use super::*;
use crate::{
    health::Readiness,
    lifecycle::Exit,
    signals::{SignalSender, Signals},
};

const LONG: Duration = Duration::from_secs(30);

struct Process {
    public: SocketAddr,
    admin: SocketAddr,
    metrics: ConnectionMetrics,
    signals: SignalSender,
    run: JoinHandle<Exit>,
}

impl Process {
    async fn start(router: Router, grace: Duration) -> Self {
        Self::limited(router, grace, ConnectionLimits::few()).await
    }

    async fn limited(router: Router, grace: Duration, limits: ConnectionLimits) -> Self {
        Self::secret(router, grace, limits, None).await
    }

    async fn secret(
        router: Router,
        grace: Duration,
        limits: ConnectionLimits,
        tls: Option<Tls>,
    ) -> Self {
        let readiness = Readiness::new();
        let lifecycle = Lifecycle::new(readiness.clone(), grace);
        let any: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
        let (public, admin) = (bind(any).await.unwrap(), bind(any).await.unwrap());
        let addresses = (public.local_addr().unwrap(), admin.local_addr().unwrap());
        let metrics = ConnectionMetrics::default();
        serve(public, router, limits, metrics.clone(), tls, &lifecycle);
        serve_admin(admin, Arc::default(), &lifecycle);
        readiness.started();
        let (signals, received) = Signals::by_hand();
        let run = tokio::spawn(lifecycle.run(received));
        Self { public: addresses.0, admin: addresses.1, metrics, signals, run }
    }

    async fn end(self) -> Exit {
        timeout(Duration::from_secs(5), self.run).await.expect("should have ended").unwrap()
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    stream
}

/// Asks and reads until the server closes the connection, or it answers and keeps it.
fn ask(stream: &mut TcpStream, path: &str) -> String {
    write!(stream, "GET {path} HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).unwrap();
        answer.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&answer);
        if read == 0 || (text.contains("\r\n\r\n") && text.ends_with('.')) {
            return text.into_owned();
        }
    }
}

async fn ask_once(address: SocketAddr, path: &'static str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
    let read = move || {
        let mut stream = connect(address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    spawn_blocking(read).await.unwrap()
}

/// Answers after `delay`, and tells when it was asked.
fn slow(delay: Duration) -> (Router, oneshot::Receiver<()>) {
    let (sender, asked) = oneshot::channel();
    let sender = Arc::new(std::sync::Mutex::new(Some(sender)));
    let handler = async move || {
        if let Some(sender) = sender.lock().unwrap().take() {
            sender.send(()).unwrap();
        }
        sleep(delay).await;
        "slow."
    };
    (Router::new().route("/", get(handler)), asked)
}

#[tokio::test]
async fn requests_under_way_are_finished_and_new_ones_refused() {
    let (router, asked) = slow(Duration::from_millis(300));
    let process = Process::start(router, LONG).await;
    assert!(ask_once(process.admin, "/readyz").await.starts_with("HTTP/1.1 200"));
    let public = process.public;
    let answer = spawn_blocking(move || ask(&mut connect(public), "/"));
    asked.await.unwrap();
    process.signals.send("TERM");
    let mut ready = ask_once(process.admin, "/readyz").await;
    while ready.starts_with("HTTP/1.1 200") {
        ready = ask_once(process.admin, "/readyz").await;
    }
    assert!(ready.ends_with("not ready: draining\n"), "{ready}");
    assert!(ask_once(process.admin, "/livez").await.starts_with("HTTP/1.1 200"));
    while spawn_blocking(move || TcpStream::connect(public)).await.unwrap().is_ok() {
        sleep(Duration::from_millis(5)).await;
    }
    let answer = answer.await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("slow."), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
    assert_eq!(process.end().await, Exit::Asked);
}

#[tokio::test]
async fn idle_connections_do_not_hold_the_process() {
    let router = Router::new().route("/", get(async || "quick."));
    let process = Process::start(router, LONG).await;
    let public = process.public;
    // One that has been used and is kept, one that was never used, one with half a request.
    let kept = spawn_blocking(move || {
        let mut used = connect(public);
        assert!(ask(&mut used, "/").ends_with("quick."));
        let unused = connect(public);
        let mut half = connect(public);
        half.write_all(b"GE").unwrap();
        (used, unused, half)
    });
    let kept = kept.await.unwrap();
    sleep(Duration::from_millis(50)).await;
    let start = tokio::time::Instant::now();
    process.signals.send("TERM");
    assert_eq!(process.end().await, Exit::Asked);
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    drop(kept);
}

#[tokio::test]
async fn the_grace_cuts_what_takes_too_long() {
    let (router, asked) = slow(LONG);
    let process = Process::start(router, Duration::from_millis(100)).await;
    let public = process.public;
    let mut stream = spawn_blocking(move || connect(public)).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    asked.await.unwrap();
    process.signals.send("TERM");
    assert_eq!(process.end().await, Exit::Asked);
}

#[tokio::test]
async fn an_address_that_is_taken_is_named() {
    let first = bind((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
    let address = first.local_addr().unwrap();
    let error = bind(address).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {address}"));
}

/// Whether the server closes the connection without another byte.
async fn is_closed(mut stream: TcpStream) -> bool {
    let is_closed = move || match stream.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    };
    spawn_blocking(is_closed).await.unwrap()
}

async fn use_once(address: SocketAddr) -> TcpStream {
    let used = move || {
        let mut stream = connect(address);
        assert!(ask(&mut stream, "/").ends_with("quick."));
        stream
    };
    spawn_blocking(used).await.unwrap()
}

#[tokio::test]
async fn whoever_is_idle_makes_room() {
    let router = Router::new().route("/", get(async || "quick."));
    let limits = ConnectionLimits { total: 3, ..ConnectionLimits::few() };
    let process = Process::limited(router, LONG, limits).await;
    let mut kept = Vec::new();
    for _ in 0..8 {
        kept.push(use_once(process.public).await);
    }
    let last = kept.split_off(5);
    for stream in kept {
        assert!(is_closed(stream).await);
    }
    for mut stream in last {
        assert!(spawn_blocking(move || ask(&mut stream, "/")).await.unwrap().ends_with("quick."));
    }
}

#[tokio::test]
async fn an_answer_under_way_is_not_cut_for_a_newcomer() {
    let (router, asked) = slow(Duration::from_millis(300));
    let limits = ConnectionLimits { total: 1, ..ConnectionLimits::few() };
    let process = Process::limited(router, LONG, limits).await;
    let public = process.public;
    let answer = spawn_blocking(move || ask(&mut connect(public), "/"));
    asked.await.unwrap();
    assert!(is_closed(connect(public)).await);
    assert!(answer.await.unwrap().ends_with("slow."));
}

/// Some news, and then none for now.
struct News(Option<&'static str>);

impl HttpBody for News {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.0.take() {
            Some(news) => Poll::Ready(Some(Ok(Frame::data(news.into())))),
            None => Poll::Pending,
        }
    }
}

#[tokio::test]
async fn who_waits_for_news_is_not_idle() {
    let router = Router::new().route("/", get(async || Body::new(News(Some("news")))));
    let (idle, stall) = (Duration::from_millis(50), Duration::from_millis(50));
    let limits = ConnectionLimits { total: 1, idle, stall, ..ConnectionLimits::few() };
    let process = Process::limited(router, LONG, limits).await;
    let mut stream = connect(process.public);
    stream.write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    let told = spawn_blocking(move || {
        let mut told = Vec::new();
        while !told.windows(4).any(|part| part == b"news") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            told.extend(byte);
        }
        stream.read_exact(&mut [0; 2]).unwrap();
        stream
    });
    let stream = told.await.unwrap();
    sleep(idle * 4).await;
    assert!(is_closed(connect(process.public)).await, "there is no room");
    stream.set_read_timeout(Some(idle)).unwrap();
    assert!(!is_closed(stream).await);
}

#[tokio::test]
async fn a_body_that_does_not_come_and_an_answer_that_nobody_takes_are_not_waited_for() {
    let long = "x".repeat(64 << 20);
    let router = Router::new()
        .route("/", post(async |body: String| body))
        .route("/long", get(async move || long.clone()));
    let stall = Duration::from_millis(100);
    let limits = ConnectionLimits { stall, ..ConnectionLimits::few() };
    let process = Process::limited(router, LONG, limits).await;
    let mut sender = connect(process.public);
    sender.write_all(b"POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 9\r\n\r\nhalf").unwrap();
    assert!(is_closed(sender).await);
    let mut reader = connect(process.public);
    reader.write_all(b"GET /long HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    while process.metrics.accepted.get() < 2 || process.metrics.open.get() > 0 {
        sleep(Duration::from_millis(5)).await;
    }
    let read = spawn_blocking(move || {
        let mut answer = Vec::new();
        // It ends in the middle, with or without an error.
        let _ = reader.read_to_end(&mut answer);
        answer.len()
    });
    assert!(read.await.unwrap() < 64 << 20);
}

#[tokio::test]
async fn half_a_request_and_none_are_not_waited_for_for_ever() {
    let router = Router::new().route("/", get(async || "quick."));
    let (head, idle) = (Duration::from_millis(100), Duration::from_millis(400));
    let limits = ConnectionLimits { head, idle, ..ConnectionLimits::few() };
    let process = Process::limited(router, LONG, limits).await;
    let mut first_half = connect(process.public);
    first_half.write_all(b"GE").unwrap();
    let mut second_half = use_once(process.public).await;
    second_half.write_all(b"GE").unwrap();
    assert!(is_closed(first_half).await && is_closed(second_half).await);
    let start = tokio::time::Instant::now();
    assert!(is_closed(use_once(process.public).await).await);
    assert!(start.elapsed() >= idle, "{:?}", start.elapsed());
}

/// The TLS of a machine that nobody knows.
fn tls() -> Tls {
    let dir = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (cert, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let options = crate::tls::TlsOptions { tls_cert: Some(cert), tls_key: Some(key) };
    options.load(&crate::tls::ClientTlsOptions::default()).unwrap().unwrap()
}

#[tokio::test]
async fn a_handshake_that_does_not_come_has_no_more_time_than_a_head() {
    let router = Router::new().route("/", get(async || "quick."));
    let head = Duration::from_millis(100);
    let limits = ConnectionLimits { head, ..ConnectionLimits::few() };
    let process = Process::secret(router, LONG, limits, Some(tls())).await;
    let silent = connect(process.public);
    let mut halfway = connect(process.public);
    // The beginning of a record, of which the rest never comes.
    halfway.write_all(&[22, 3, 1, 2, 0, 1]).unwrap();
    assert!(is_closed(silent).await && is_closed(halfway).await);
    assert_eq!(process.metrics.tls_handshakes_failed.get(), 0, "they were silent");
    let mut plain = connect(process.public);
    plain.write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    let read = spawn_blocking(move || {
        let mut answer = Vec::new();
        let _ = plain.read_to_end(&mut answer);
        answer
    });
    assert!(!read.await.unwrap().starts_with(b"HTTP"));
    assert_eq!(process.metrics.tls_handshakes_failed.get(), 1);
}

#[tokio::test]
async fn handshakes_count_as_connections_and_make_room() {
    let router = Router::new().route("/", get(async || "quick."));
    let limits = ConnectionLimits { total: 2, ..ConnectionLimits::few() };
    let process = Process::secret(router, LONG, limits, Some(tls())).await;
    let first = connect(process.public);
    let mut kept = Vec::new();
    for _ in 0..2 {
        sleep(Duration::from_millis(2)).await;
        kept.push(connect(process.public));
    }
    assert!(is_closed(first).await, "the oldest handshake makes room");
    process.signals.send("TERM");
    assert_eq!(process.end().await, Exit::Asked, "nor does one hold up the stop");
}
