//! Whether a Docker engine answers. Starting containers is testcontainers' business.

use std::{
    env,
    io::{Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    sync::LazyLock,
    time::Duration,
};

const PATIENCE: Option<Duration> = Some(Duration::from_secs(2));
const PING: &[u8] = b"GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n";

/// Whether an engine answers; asked once per run.
pub(crate) static ANSWERS: LazyLock<bool> = LazyLock::new(|| ping().unwrap_or(false));

fn ping() -> std::io::Result<bool> {
    let host = env::var_os("DOCKER_HOST").and_then(|host| host.into_string().ok());
    let host = host.unwrap_or_else(|| "unix:///var/run/docker.sock".to_owned());
    if let Some(path) = host.strip_prefix("unix://") {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(PATIENCE)?;
        answers(stream)
    } else if let Some(address) = host.strip_prefix("tcp://") {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(PATIENCE)?;
        answers(stream)
    } else {
        Ok(false)
    }
}

fn answers(mut stream: impl Read + Write) -> std::io::Result<bool> {
    stream.write_all(PING)?;
    let mut start = [0; 12];
    stream.read_exact(&mut start)?;
    Ok(start.ends_with(b" 200"))
}
