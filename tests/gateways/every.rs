//! The same tests for every gateway that asks Vestibule about each request.

use anyhow::{Context, Result};
use vestibule_tests::gateway::{Documented, Kind};

use crate::{first_answer, hostile, journey, outage, passed_on, place, plumbing, session};

/// One module per gateway, one test per promise.
macro_rules! gateways {
    ($($name:ident: $kind:expr,)*) => {$(
        mod $name {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn the_whole_journey() -> Result<()> {
                tested($kind, async |place| journey::whole(place).await).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn hostile_visitors_get_nothing() -> Result<()> {
                tested($kind, async |place| hostile::all(place).await).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn the_site_gets_no_forgeries() -> Result<()> {
                tested($kind, async |place| passed_on::headers(place).await).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn no_tunnel_but_a_web_sockets() -> Result<()> {
                tested($kind, async |place| passed_on::tunnels(place).await).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_session_may_end_with_the_first_answer() -> Result<()> {
                tested($kind, async |place| first_answer::all(place).await).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn the_site_works_as_before() -> Result<()> {
                tested($kind, async |place| plumbing::all(place).await).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_session_is_for_one_visitor_and_for_so_much() -> Result<()> {
                tested($kind, async |place| session::all(place).await).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn closed_while_vestibule_is_down() -> Result<()> {
                tested($kind, async |place| outage::closed(place).await).await
            }
        }
    )*};
}

gateways! {
    nginx: Kind::Nginx,
    haproxy: Kind::Haproxy,
    caddy: Kind::Caddy,
    caddy_json: Kind::CaddyJson,
    envoy_http: Kind::EnvoyHttp,
    envoy_grpc: Kind::EnvoyGrpc,
    traefik_replayed: Kind::Replayed(Documented::Traefik),
    kong_replayed: Kind::Replayed(Documented::Kong),
}

async fn tested(kind: Kind, test: impl AsyncFnOnce(&mut place::Place) -> Result<()>) -> Result<()> {
    if place::is_left_out() {
        return Ok(());
    }
    let mut place = place::Place::build(kind).await?;
    let tested = test(&mut place).await;
    tested.with_context(|| format!("{kind:?}; its log ends:\n{}", place.gateway.log_end()))
}
