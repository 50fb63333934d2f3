//! Connections that ask for nothing more: however many there are, the services and their probes answer.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use vestibule_tests::{Deployment, Service, gateway::free_port};

const DESCRIPTORS: u32 = 256;
/// More than fit.
const HELD: usize = 400;
const SOON: Duration = Duration::from_secs(5);

/// A connection that was used once, and is kept.
async fn used(address: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /openapi.json HTTP/1.1\r\nhost: test\r\n\r\n").await?;
    let read = timeout(SOON, stream.read(&mut [0; 1024])).await.context("no answer")??;
    ensure!(read > 0, "closed without an answer");
    Ok(stream)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_keep_nobody_out_and_the_probes_answer() -> Result<()> {
    let deployment = Deployment::builder().descriptors(DESCRIPTORS).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    for service in [Service::Admission, Service::Controller] {
        let mut held = Vec::new();
        for number in 0..HELD {
            let stream = used(deployment.address(service, 0)).await;
            held.push(stream.with_context(|| format!("{service:?}: connection {number}"))?);
        }
        deployment.admin(service, 0, "/readyz").await?.expect(200)?;
        let metrics = deployment.admin(service, 0, "/metrics").await?.expect(200)?;
        let made_room = r#"vestibule_connections_closed_total{reason="room"} "#;
        let count = metrics.text.lines().find_map(|line| line.strip_prefix(made_room));
        ensure!(count.is_some_and(|count| count != "0"), "{}", metrics.text);
    }
    deployment.visitor("sale").join().await?.expect(200)?;
    Ok(())
}

/// Neither strangers nor gateways that say nothing take what the other ports need.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_to_envoys_port_keep_nobody_out_of_the_others() -> Result<()> {
    for gateways in ["192.0.2.0/24", "127.0.0.0/8"] {
        let grpc = format!("127.0.0.1:{}", free_port());
        let builder = Deployment::builder().descriptors(DESCRIPTORS);
        let builder = builder.environment("VESTIBULE_GRPC_LISTEN", &grpc);
        let deployment = builder.environment("VESTIBULE_TRUSTED_PROXIES", gateways).start().await?;
        let mut held = Vec::new();
        for _ in 0..HELD {
            held.push(TcpStream::connect(&grpc).await?);
        }
        for number in 0..HELD {
            let stream = used(deployment.address(Service::Admission, 0)).await;
            held.push(stream.with_context(|| format!("{gateways}: connection {number}"))?);
        }
        deployment.admin(Service::Admission, 0, "/readyz").await?.expect(200)?;
    }
    Ok(())
}
