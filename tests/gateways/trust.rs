//! A gateway that Vestibule does not know decides nothing: nobody gets through it.

use anyhow::{Result, ensure};
use vestibule_tests::{
    Deployment,
    gateway::{Kind, Scheme},
};

use crate::place::{self, Place};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_gets_through_a_gateway_that_is_not_trusted() -> Result<()> {
    if place::is_left_out() {
        return Ok(());
    }
    for kind in [Kind::Nginx, Kind::Haproxy, Kind::EnvoyHttp, Kind::EnvoyGrpc] {
        let elsewhere = ("VESTIBULE_TRUSTED_PROXIES", "192.0.2.0/24");
        let builder = Deployment::builder().environment(elsewhere.0, elsewhere.1);
        let place = Place::build_over(kind, Scheme::Http, builder).await?;
        let visitor = place.gateway.browser()?;
        for target in ["/sale", "/about"] {
            let reply = visitor.get(target).await?;
            ensure!(matches!(reply.status, 403 | 503), "{kind:?}: {} {}", reply.status, reply.text);
        }
    }
    Ok(())
}
