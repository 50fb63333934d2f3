//! Every route of the admission service.

use std::sync::Arc;

use axum::{
    Json, Router,
    routing::{any, get, head},
};
use utoipa_axum::{router::OpenApiRouter, routes};
use vestibule_runtime::{Cors, HttpMetrics, Shed, docs, http};

use crate::{endpoints, extractors::is_named, flows::Flows, openapi, state::Admission};

/// All routes with their documentation.
pub(crate) fn routes() -> OpenApiRouter<Arc<Admission>> {
    open_routes().merge(gateway_routes()).merge(oidc_routes())
}

/// What anybody may call, pages of other origins too.
fn open_routes() -> OpenApiRouter<Arc<Admission>> {
    OpenApiRouter::with_openapi(openapi::frame())
        // Visitors: pages and apps
        .routes(routes!(endpoints::join_room))
        .routes(routes!(endpoints::get_status))
        .routes(routes!(endpoints::claim_seat))
        .routes(routes!(endpoints::leave_room))
        .routes(routes!(endpoints::get_challenge))
        .routes(routes!(endpoints::get_draw))
        // The waiting page
        .routes(routes!(endpoints::get_page))
        .routes(routes!(endpoints::get_live))
        .routes(routes!(endpoints::get_logo))
        .routes(routes!(endpoints::enter_room))
        // Without these, axum would answer HEAD by doing all that GET does.
        .route("/room/{room}", head(endpoints::head_page))
        .route("/room/{room}/live", head(endpoints::head_live))
        .route("/v1/rooms/{room}/status", head(endpoints::head_status))
        // Whoever verifies tokens
        .routes(routes!(endpoints::redeem_session))
        .routes(routes!(endpoints::get_jwks))
        .merge(aws_style_routes())
}

/// What AWS-style clients call.
fn aws_style_routes() -> OpenApiRouter<Arc<Admission>> {
    OpenApiRouter::default()
        .routes(routes!(endpoints::aws::assign_queue_num))
        .routes(routes!(endpoints::aws::get_queue_num))
        .routes(routes!(endpoints::aws::get_queue_pos_expiry))
        .routes(routes!(endpoints::aws::get_serving_num))
        .routes(routes!(endpoints::aws::get_waiting_num))
        .routes(routes!(endpoints::aws::generate_token))
        .routes(routes!(endpoints::aws::get_public_key))
}

/// What gateways ask.
fn gateway_routes() -> OpenApiRouter<Arc<Admission>> {
    OpenApiRouter::default()
        .routes(routes!(endpoints::authorize))
        .routes(routes!(endpoints::revoke))
        .route("/authorize/envoy/", any(endpoints::authorize_envoy))
        .route("/authorize/envoy/{*path}", any(endpoints::authorize_envoy))
}

/// What sites ask that log their visitors in, and their visitors' browsers: no page of another origin needs to.
fn oidc_routes() -> OpenApiRouter<Arc<Admission>> {
    use endpoints::oidc;

    OpenApiRouter::default()
        .routes(routes!(oidc::get_configuration))
        .routes(routes!(oidc::get_provider_keys))
        .routes(routes!(oidc::begin_login, oidc::post_login))
        .routes(routes!(oidc::resume_login))
        .routes(routes!(oidc::exchange_code))
        .routes(routes!(oidc::get_user_info, oidc::post_user_info))
        .route("/oidc/{room}/authorize", head(oidc::head_login))
        .route("/oidc/{room}/resume", head(oidc::head_login))
}

/// The public router, with everything that every request passes through; with `/docs`, if `with_docs`.
pub(crate) fn router(
    admission: Arc<Admission>,
    metrics: &HttpMetrics,
    shed: Shed,
    with_docs: bool,
) -> Router {
    let document = routes().into_openapi();
    let (open, _) = open_routes().split_for_parts();
    // The original answers both at its own address and, without the prefix, at that of its content delivery.
    let (aws_style, _) = aws_style_routes().split_for_parts();
    let open = open.nest("/api", aws_style);
    let (gateways, _) = gateway_routes().split_for_parts();
    let open = open.route("/openapi.json", get(async || Json(document)));
    let open = if with_docs { open.merge(docs::routes()) } else { open };
    let traces = admission.traces.clone();
    let observed = (metrics, &traces);
    let (oidc, _) = oidc_routes().split_for_parts();
    let gateways = http::for_gateways(gateways.merge(oidc), observed, shed.clone());
    let flows = Arc::clone(&admission.flows);
    let cors = Cors::with_credentials(move |path, origin| {
        origin.to_str().is_ok_and(|origin| may_send_cookies(&flows, path, origin))
    });
    http::public(open, observed, cors, shed).merge(gateways).with_state(admission)
}

/// Whether the room that `path` is about lets pages of `origin` use the visitor's cookie.
fn may_send_cookies(flows: &Flows, path: &str, origin: &str) -> bool {
    let room = path.strip_prefix("/v1/rooms/").and_then(|rest| rest.split('/').next());
    let room = room.and_then(|name| flows.room(name));
    room.is_some_and(|room| is_named(origin, &room.binding))
}
