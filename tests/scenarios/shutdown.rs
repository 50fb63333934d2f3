//! SIGTERM: what has begun is finished, nothing is lost, and the process ends well and in time.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};
use vestibule_tests::{Deployment, Exited, Service, eventually};

use crate::crowd::{Guest, Manner};

const SOON: Duration = Duration::from_secs(20);
/// How long a stop may take unless something else is said.
const DEFAULT_GRACE: Duration = Duration::from_secs(10);
const CONTINUE: [u8; 25] = *b"HTTP/1.1 100 Continue\r\n\r\n";

/// A request that the service has begun to read, and of which the last byte is missing.
async fn begin_request(deployment: &Deployment) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(deployment.address(Service::Admission, 0)).await?;
    let head = "POST /assign_queue_num HTTP/1.1\r\nhost: test\r\ncontent-length: 19\r\n\
                content-type: application/json\r\nexpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    // The answer of whoever is about to read the body.
    let mut go_on = [0; CONTINUE.len()];
    stream.read_exact(&mut go_on).await?;
    ensure!(go_on == CONTINUE, "{:?}", String::from_utf8_lossy(&go_on));
    stream.write_all(b"{\"event_id\":\"sale\"").await?;
    Ok(stream)
}

/// Waits until an instance has heard the signal.
async fn draining(deployment: &Deployment) -> Result<()> {
    eventually(SOON, "the drain", || async {
        let reply = deployment.admin(Service::Admission, 0, "/readyz").await?;
        ensure!(reply.status == 503 && reply.text.contains("draining"), "{}", reply.text);
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_in_flight_is_answered_and_no_place_is_lost() -> Result<()> {
    let mut deployment = Deployment::builder().admissions(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let first = deployment.admissions().only(0);
    let guest = Guest::join(deployment.visitor("sale").at(first)).await?;
    let mut in_flight = begin_request(&deployment).await?;
    deployment.process_mut(Service::Admission, 0).terminate()?;
    deployment.admissions().set_up(0, false);
    draining(&deployment).await?;
    in_flight.write_all(b"}").await?;
    let mut answer = String::new();
    tokio::time::timeout(SOON, in_flight.read_to_string(&mut answer)).await??;
    ensure!(answer.starts_with("HTTP/1.1 200") && answer.contains("api_request_id"), "{answer}");
    let ended = deployment.process_mut(Service::Admission, 0).ended(SOON).await?;
    assert_eq!(ended, Exited::Code(0));
    // The place that it gave out is good at the other.
    deployment.aws("sale").serve(1).await?;
    let mut guest = guest;
    guest.visitor = guest.visitor.at(deployment.admissions().clone());
    assert_eq!(guest.enter(Manner::Polite).await?.number, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_never_ends_is_not_waited_for_beyond_the_grace() -> Result<()> {
    let mut deployment = Deployment::builder().grace_seconds(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let _in_flight = begin_request(&deployment).await?;
    let stopped = Instant::now();
    deployment.process_mut(Service::Admission, 0).terminate()?;
    let ended = deployment.process_mut(Service::Admission, 0).ended(SOON).await?;
    assert_eq!(ended, Exited::Code(0));
    ensure!(stopped.elapsed() < DEFAULT_GRACE, "it took {:?}", stopped.elapsed());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_told_to_stop_hands_over_at_once() -> Result<()> {
    let mut deployment = Deployment::builder().controllers(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let operator = deployment.operator();
    let index = deployment.leading().await?;
    let leader = operator.leader("sale").await?;
    deployment.controllers().set_up(index, false);
    let process = deployment.process_mut(Service::Controller, index);
    process.terminate()?;
    assert_eq!(process.ended(SOON).await?, Exited::Code(0));
    // It gave the lease up before it went: nobody has to wait until that runs out.
    let status = operator.status("sale").await?;
    ensure!(status.body["leader"] != leader.as_str(), "it has stopped: {}", status.text);
    eventually(SOON, "another leader", || async {
        let next = operator.leader("sale").await?;
        ensure!(next != leader, "{next} has stopped");
        Ok(())
    })
    .await
}
