//! Vestibule is down: nobody enters, and everybody is told when to try again.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use vestibule_tests::{
    Deployment, Exited, Reply, Service, eventually,
    gateway::{Documented, Kind, Scheme},
};

use crate::{
    journey::expect_site,
    place::{self, Place},
};

const SOON: Duration = Duration::from_secs(20);

/// Closed while it is down, and as before when it is back.
pub(crate) async fn closed(place: &mut Place) -> Result<()> {
    let visitor = place.gateway.browser()?;
    expect_site(&visitor.get("/sale").await?)?;
    place.deployment.kill(Service::Admission, 0)?;
    let newcomer = place.gateway.browser()?;
    for target in ["/sale", "/sale/static/x"] {
        let reply = newcomer.get(target).await?;
        ensure!(reply.body["site"] != "shop", "open: {}", reply.text);
        if place.kind == Kind::Replayed(Documented::Traefik) {
            // It has a status of its own for this, and no words.
            reply.expect(500)?;
        } else {
            reply.expect_retry_later()?;
        }
    }
    place.deployment.restart(Service::Admission, 0).await?;
    eventually(SOON, "the visitor inside", || async { expect_site(&visitor.get("/sale").await?) })
        .await
        .context("after the outage")
}

/// A gRPC connection that Envoy keeps open does not hold up the stop: it would for a minute.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn admission_stops_while_envoy_is_connected() -> Result<()> {
    if place::is_left_out() {
        return Ok(());
    }
    let patient = Deployment::builder().grace_seconds(60);
    let mut place = Place::build_over(Kind::EnvoyGrpc, Scheme::Http, patient).await?;
    expect_site(&place.gateway.browser()?.get("/sale").await?)?;
    let admission = place.deployment.process_mut(Service::Admission, 0);
    admission.terminate()?;
    let ended = admission.ended(SOON).await.context("with an open connection")?;
    ensure!(ended == Exited::Code(0), "{ended:?}");
    Ok(())
}

/// Admission hangs for a while, and answers then: to one question, for one place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn haproxy_asks_a_slow_admission_once() -> Result<()> {
    if place::is_left_out() {
        return Ok(());
    }
    let mut place = Place::build(Kind::Haproxy).await?;
    let visitor = place.gateway.browser()?;
    place.deployment.process_mut(Service::Admission, 0).freeze()?;
    let reply = visitor.get("/sale").await;
    place.deployment.process_mut(Service::Admission, 0).thaw()?;
    reply?.expect_retry_later()?;
    // Whatever was asked is answered by now.
    let aws = place.deployment.aws("sale");
    let number = aws.queue_number(&aws.assign().await?).await?;
    ensure!(number <= 2, "{} places for one visitor", number - 1);
    Ok(())
}

/// What the site takes long for is its own affair.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn envoy_waits_for_a_slow_site() -> Result<()> {
    if place::is_left_out() {
        return Ok(());
    }
    let kinds = [Kind::EnvoyHttp, Kind::EnvoyGrpc];
    let slow = kinds.map(async |kind| {
        let place = Place::build(kind).await?;
        let visitor = place.gateway.browser()?;
        let request = visitor.request(Method::GET, "/sale/slow").timeout(2 * SOON);
        expect_site(&Reply::of(request).await?).with_context(|| format!("{kind:?}"))
    });
    let [http, grpc] = slow;
    tokio::try_join!(http, grpc)?;
    Ok(())
}
