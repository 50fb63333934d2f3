//! How long a request's head may be: what a gateway takes and passes on is answered, and more is not kept in memory.

use super::*;

/// The longest body that an operation takes: a page.
const LONG_BODY: usize = 1 << 20;

/// Sends these bytes and reads until the connection is closed.
async fn exchange(address: SocketAddr, request: Vec<u8>) -> String {
    let exchange = move || {
        let mut stream = connect(address);
        // The end of what is too long may not be taken any more.
        let _ = stream.write_all(&request);
        let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            answer.extend_from_slice(&buffer[..read]);
        }
        String::from_utf8(answer).unwrap()
    };
    spawn_blocking(exchange).await.unwrap()
}

fn request(method: &str, headers: &str) -> Vec<u8> {
    format!("{method} / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n{headers}\r\n").into()
}

/// Headers of so many bytes.
fn headers(bytes: usize) -> String {
    let line = format!("x-long: {}\r\n", "x".repeat(1024 - 10));
    line.repeat(bytes / 1024)
}

async fn start() -> Process {
    let router = Router::new()
        .route("/", get(async || "quick.").post(async |body: Bytes| body.len().to_string()));
    Process::start(router, LONG).await
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused_and_what_gateways_take_is_not() {
    let process = start().await;
    let answer = exchange(process.public, request("GET", &headers(36 << 10))).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("quick."), "{answer}");
    for bytes in [44 << 10, 80 << 10] {
        let answer = exchange(process.public, request("GET", &headers(bytes))).await;
        // Where not all of it was read, the answer may be lost.
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{bytes}: {answer}");
    }
}

#[tokio::test]
async fn a_body_may_be_longer_than_a_head() {
    let process = start().await;
    let mut sent = request("POST", &format!("content-length: {LONG_BODY}\r\n"));
    sent.resize(sent.len() + LONG_BODY, b'x');
    let answer = exchange(process.public, sent).await;
    assert!(answer.ends_with(&format!("\r\n\r\n{LONG_BODY}")), "{answer}");
    let mut chunked = request("POST", "transfer-encoding: chunked\r\n");
    chunked.extend(format!("{LONG_BODY:x}\r\n").bytes());
    chunked.resize(chunked.len() + LONG_BODY, b'x');
    chunked.extend(b"\r\n0\r\n\r\n");
    let answer = exchange(process.public, chunked).await;
    assert!(answer.ends_with(&format!("\r\n\r\n{LONG_BODY}")), "{answer}");
}
