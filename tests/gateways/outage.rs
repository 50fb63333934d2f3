//! Vestibule is down: nobody enters, and everybody is told when to try again.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use vestibule_tests::{
    Deployment, Exited, Service, eventually,
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
