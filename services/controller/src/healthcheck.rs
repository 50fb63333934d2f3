//! `vestibule-controller healthcheck`: asks the running service whether it is ready, for container
//! images that have no other program to ask with.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    process::ExitCode,
    time::Duration,
};

const PATIENCE: Duration = Duration::from_secs(2);

/// Exit code 0 when the service at `admin_listen` is ready; else 1, and why on standard error.
pub(crate) fn run(admin_listen: SocketAddr) -> ExitCode {
    match ask(reachable(admin_listen)) {
        Ok(answer) if answer.starts_with("HTTP/1.1 200 ") => ExitCode::SUCCESS,
        Ok(answer) => {
            eprintln!("{}", answer.lines().last().unwrap_or("an empty answer"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{admin_listen}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn ask(address: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Who listens on every address is reached on the loopback one.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_means_the_loopback_one() {
        let cases = [
            ("0.0.0.0:9081", "127.0.0.1:9081"),
            ("[::]:9081", "[::1]:9081"),
            ("10.0.0.7:1", "10.0.0.7:1"),
        ];
        for (listen, ask) in cases {
            assert_eq!(reachable(listen.parse().unwrap()), ask.parse().unwrap());
        }
    }
}
