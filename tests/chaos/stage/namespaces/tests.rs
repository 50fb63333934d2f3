//! Hosts that hear each other, and do not any more, one way at a time.

use std::{net::UdpSocket, time::Duration};

use super::*;
use crate::stage::ground::Ground;

const SOON: Duration = Duration::from_secs(5);
/// Long enough for anything to come that comes at all.
const QUIET: Duration = Duration::from_millis(300);

/// Whether what a host says comes to the hub's socket.
fn hears(socket: &UdpSocket, ground: &Ground, within: Duration) -> Result<bool> {
    let Ground::Namespaces(namespaces) = ground else { unreachable!() };
    let at = socket.local_addr()?;
    let says = format!("echo hello > /dev/udp/{}/{}", at.ip(), at.port());
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{}-1", namespaces.hub)).args(["bash", "-c", &says]);
    ensure!(command.status()?.success(), "the host cannot speak");
    socket.set_read_timeout(Some(within))?;
    Ok(socket.recv(&mut [0; 16]).is_ok())
}

#[test]
fn a_host_is_cut_off_one_way_and_joined_again() -> Result<()> {
    if let Some(ran) =
        enter_hub("stage::namespaces::tests::a_host_is_cut_off_one_way_and_joined_again")
    {
        ensure!(ran?.success(), "in its hub");
        return Ok(());
    }
    let ground = Ground::here()?;
    if !matches!(ground, Ground::Namespaces(_)) {
        return Ok(());
    }
    let (host, link) = (ground.host()?.address, ground.link_address()?.ip());
    let socket = UdpSocket::bind((link, 0))?;
    ensure!(hears(&socket, &ground, SOON)?, "nothing comes");
    ensure!(ground.block(link, host)?, "not by the kernel");
    ensure!(hears(&socket, &ground, SOON)?, "the other way is cut off");
    ensure!(socket.send_to(b"hello", (host, 9)).is_err(), "this way is not");
    ground.unblock(link, host)?;
    ground.block(host, link)?;
    ground.block(host, link)?;
    ground.unblock(host, link)?;
    ensure!(!hears(&socket, &ground, QUIET)?, "it is not cut off");
    ground.unblock(host, link)?;
    ensure!(hears(&socket, &ground, SOON)?, "it is not joined again");
    drop(ground);
    ensure!(names(&format!("{}-", hub().unwrap_or_default())).is_empty(), "hosts are left");
    Ok(())
}
