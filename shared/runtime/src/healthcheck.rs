//! The `healthcheck` subcommand: a probe for images that have no shell and no curl. It asks the
//! admin listener of the service that runs beside it.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    process::ExitCode,
    time::Duration,
};

const TIMEOUT: Duration = Duration::from_secs(2);

/// Whether the service whose admin listener is at `admin` is ready: exit code 0 if so, else 1.
#[must_use]
pub fn healthcheck(admin: SocketAddr) -> ExitCode {
    match ask(admin) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("not ready");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("not ready: {error}");
            ExitCode::FAILURE
        }
    }
}

fn ask(mut admin: SocketAddr) -> std::io::Result<bool> {
    if admin.ip().is_unspecified() {
        admin.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    let mut stream = TcpStream::connect_timeout(&admin, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut status = [0; 12];
    stream.read_exact(&mut status)?;
    Ok(status.ends_with(b" 200"))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn answering(status: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 512]);
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").unwrap();
        });
        address
    }

    #[test]
    fn ready_is_a_200_and_nothing_else() {
        assert!(ask(answering("200 OK")).unwrap());
        assert!(!ask(answering("503 Service Unavailable")).unwrap());
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(ask(closed).is_err());
    }
}
