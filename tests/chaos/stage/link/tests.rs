//! A link in front of a server that says everything back.

use std::net::Ipv4Addr;

use anyhow::ensure;
use tokio::time::Instant;

use super::*;

const SOON: Duration = Duration::from_secs(5);
/// Long enough for anything to come that comes at all.
const QUIET: Duration = Duration::from_millis(300);

/// The ends of a connection by way of a link.
struct Wired {
    link: Link,
    process: TcpStream,
    server: TcpStream,
}

async fn listener() -> Result<TcpListener> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?)
}

async fn wired() -> Result<Wired> {
    let listener = listener().await?;
    let at = (Ipv4Addr::LOCALHOST, 0).into();
    let link = Link::open(at, listener.local_addr()?).await?;
    let mut process = TcpStream::connect(link.address()).await?;
    process.write_all(b"hello").await?;
    let (mut server, _) = listener.accept().await?;
    ensure!(hears(&mut server).await? == b"hello", "something else came");
    Ok(Wired { link, process, server })
}

/// The next bytes; none at the end of the connection.
async fn hears(end: &mut TcpStream) -> Result<Vec<u8>> {
    let mut bytes = vec![0; 64];
    let read = timeout(SOON, end.read(&mut bytes)).await?;
    // A connection that was reset is over as well.
    bytes.truncate(read.unwrap_or(0));
    Ok(bytes)
}

async fn hears_nothing(end: &mut TcpStream) -> bool {
    let mut bytes = [0; 64];
    timeout(QUIET, end.read(&mut bytes)).await.is_err()
}

#[tokio::test]
async fn what_is_held_one_way_comes_later_and_the_other_way_is_open() -> Result<()> {
    let mut wired = wired().await?;
    wired.link.change(|weather| weather.holds_requests = true);
    wired.process.write_all(b"request").await?;
    wired.server.write_all(b"push").await?;
    ensure!(hears(&mut wired.process).await? == b"push", "the other way is closed, too");
    ensure!(hears_nothing(&mut wired.server).await, "it was not held");
    wired.link.change(|weather| *weather = Weather::default());
    ensure!(hears(&mut wired.server).await? == b"request", "it was lost");
    Ok(())
}

#[tokio::test]
async fn a_delay_is_had_each_way() -> Result<()> {
    let mut wired = wired().await?;
    let delay = Duration::from_millis(80);
    wired.link.change(|weather| weather.delay = delay);
    let began = Instant::now();
    wired.process.write_all(b"request").await?;
    hears(&mut wired.server).await?;
    wired.server.write_all(b"answer").await?;
    hears(&mut wired.process).await?;
    ensure!(began.elapsed() >= 2 * delay, "{:?}", began.elapsed());
    Ok(())
}

#[tokio::test]
async fn a_cut_tells_both_ends_and_refusals_end_at_once() -> Result<()> {
    let mut wired = wired().await?;
    wired.link.change(|weather| weather.refuses = true);
    wired.link.cut();
    ensure!(hears(&mut wired.process).await?.is_empty(), "the process was not told");
    ensure!(hears(&mut wired.server).await?.is_empty(), "the server was not told");
    let mut again = TcpStream::connect(wired.link.address()).await?;
    ensure!(hears(&mut again).await?.is_empty(), "it was not refused");
    Ok(())
}

#[tokio::test]
async fn what_the_server_has_forgotten_the_process_finds_out_by_itself() -> Result<()> {
    let mut wired = wired().await?;
    wired.link.forget_at_server();
    ensure!(hears(&mut wired.server).await?.is_empty(), "the server was not told");
    wired.process.write_all(b"anybody?").await?;
    ensure!(hears_nothing(&mut wired.process).await, "the process was told");
    Ok(())
}

#[tokio::test]
async fn only_subscribers_are_deaf() -> Result<()> {
    let mut wired = wired().await?;
    wired.link.change(|weather| weather.is_deaf = true);
    wired.server.write_all(b"answer").await?;
    ensure!(hears(&mut wired.process).await? == b"answer", "everybody is deaf");
    wired.process.write_all(b"*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n").await?;
    hears(&mut wired.server).await?;
    wired.server.write_all(b"message").await?;
    ensure!(hears_nothing(&mut wired.process).await, "it is not deaf");
    Ok(())
}

#[tokio::test]
async fn who_is_led_elsewhere_goes_there_with_the_next_connection() -> Result<()> {
    let mut wired = wired().await?;
    let other = listener().await?;
    wired.link.lead_to(other.local_addr()?);
    wired.process.write_all(b"old").await?;
    ensure!(hears(&mut wired.server).await? == b"old", "a connection was moved");
    let mut process = TcpStream::connect(wired.link.address()).await?;
    process.write_all(b"new").await?;
    let (mut server, _) = other.accept().await?;
    ensure!(hears(&mut server).await? == b"new", "it went elsewhere");
    Ok(())
}
