//! Every route, in one list, and what each group of them wears.

use std::sync::Arc;

use axum::{
    Router,
    middleware::{from_fn_with_state, map_response},
};
use utoipa::openapi::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};
use vestibule_runtime::{Cors, HttpMetrics, RequestTraces, Shed, http};

use crate::{
    endpoints::{
        aws::{
            expired_tokens, generate_token, increment_serving_counter, num_active_tokens,
            reset_initial_state, update_session,
        },
        create_client_secret, create_pass, create_sigv4_key, create_token, delete_logo,
        delete_page, delete_room,
        events::{delete_event, get_event, get_event_details, list_events, patch_event, put_event},
        get_config, get_history, get_logo, get_page, get_room, get_status, import_key,
        inlet::{get_inlet, receive_notification, report_exits, set_inlet_alarm},
        list_rooms, list_sigv4_keys, list_tokens, match_request, patch_room, preview_page,
        put_config, put_logo, put_page, put_room, read_audit, reset_room, revoke_session,
        revoke_sigv4_key, revoke_token, rotate_keys,
        webhooks::{
            delete_webhook, get_webhook, list_webhooks, put_webhook, rotate_webhook_secret,
            test_webhook,
        },
        withdraw_key,
    },
    layers::{
        no_store, note_changes, require_bearer, require_keyspace, require_notification,
        require_signature_or_bearer,
    },
    openapi,
    state::Controller,
};

/// Requests in flight before more are refused: operators are few.
const MAX_IN_FLIGHT: usize = 2_000;
/// Of these what is posted as of Amazon SNS, by whomever, which is not known before it was looked at: so strangers keep no
/// operator out.
const MAX_NOTIFICATIONS: usize = 50;

type Routes = OpenApiRouter<Arc<Controller>>;

/// Rooms, events, keys and tokens: for operators.
fn v1() -> Routes {
    OpenApiRouter::new()
        .routes(routes!(list_rooms::list_rooms))
        .routes(routes!(get_config::get_config, put_config::put_config))
        .routes(routes!(
            put_room::put_room,
            get_room::get_room,
            patch_room::patch_room,
            delete_room::delete_room
        ))
        .routes(routes!(put_page::put_page, get_page::get_page, delete_page::delete_page))
        .routes(routes!(put_logo::put_logo, get_logo::get_logo, delete_logo::delete_logo))
        .routes(routes!(preview_page::preview_page))
        .routes(routes!(reset_room::reset_room))
        .routes(routes!(get_inlet::get_inlet))
        .routes(routes!(set_inlet_alarm::set_inlet_alarm))
        .routes(routes!(create_pass::create_pass))
        .routes(routes!(create_client_secret::create_client_secret))
        .routes(routes!(match_request::match_request))
        .routes(routes!(get_status::get_status))
        .routes(routes!(get_history::get_history))
        .routes(routes!(revoke_session::revoke_session))
        .routes(routes!(list_events::list_events))
        .routes(routes!(
            put_event::put_event,
            get_event::get_event,
            patch_event::patch_event,
            delete_event::delete_event
        ))
        .routes(routes!(get_event_details::get_event_details))
        .routes(routes!(rotate_keys::rotate_keys))
        .routes(routes!(import_key::import_key))
        .routes(routes!(withdraw_key::withdraw_key))
        .routes(routes!(list_tokens::list_tokens, create_token::create_token))
        .routes(routes!(revoke_token::revoke_token))
        .routes(routes!(list_sigv4_keys::list_sigv4_keys, create_sigv4_key::create_sigv4_key))
        .routes(routes!(revoke_sigv4_key::revoke_sigv4_key))
        .routes(routes!(list_webhooks::list_webhooks))
        .routes(routes!(
            put_webhook::put_webhook,
            get_webhook::get_webhook,
            delete_webhook::delete_webhook
        ))
        .routes(routes!(rotate_webhook_secret::rotate_webhook_secret))
        .routes(routes!(test_webhook::test_webhook))
        .routes(routes!(read_audit::read_audit))
}

/// What programs call that also make AWS-style calls, and sign them.
fn reports() -> Routes {
    OpenApiRouter::new().routes(routes!(report_exits::report_exits))
}

/// What Amazon SNS calls, without a token.
fn notifications() -> Routes {
    OpenApiRouter::new().routes(routes!(receive_notification::receive_notification))
}

/// The private calls of the AWS-style API: for its clients.
fn aws_style() -> Routes {
    OpenApiRouter::new()
        .routes(routes!(generate_token::generate_token))
        .routes(routes!(increment_serving_counter::increment_serving_counter))
        .routes(routes!(update_session::update_session))
        .routes(routes!(reset_initial_state::reset_initial_state))
        .routes(routes!(num_active_tokens::num_active_tokens))
        .routes(routes!(expired_tokens::expired_tokens))
}

/// The OpenAPI document of all routes.
#[must_use]
pub(crate) fn document() -> OpenApi {
    let mut document = OpenApiRouter::with_openapi(openapi::frame())
        .merge(v1())
        .merge(reports())
        .merge(notifications())
        .nest("/api", aws_style())
        .into_openapi();
    openapi::describe_rollouts(&mut document);
    openapi::describe_roles(&mut document);
    document
}

/// The whole API, and its documentation, which is open to all.
pub(crate) fn router(controller: &Arc<Controller>, metrics: &HttpMetrics) -> Router {
    gated(controller, metrics, Shed::new(MAX_NOTIFICATIONS))
}

/// The same, with a gate of its own for what strangers may post.
fn gated(controller: &Arc<Controller>, metrics: &HttpMetrics, strangers: Shed) -> Router {
    let bearer = from_fn_with_state(Arc::clone(controller), require_bearer);
    let signature = from_fn_with_state(Arc::clone(controller), require_signature_or_bearer);
    let keyspace = from_fn_with_state(Arc::clone(controller), require_keyspace);
    let notes = from_fn_with_state(Arc::clone(controller), note_changes);
    let notification = from_fn_with_state(Arc::clone(controller), require_notification);
    let aws_style = Router::from(aws_style()).route_layer(notes.clone());
    let aws_style = aws_style.route_layer(keyspace.clone());
    let aws_style = aws_style.route_layer(signature.clone());
    let reports = Router::from(reports()).route_layer(notes.clone());
    let reports = reports.route_layer(keyspace.clone()).route_layer(signature);
    let notifications = Router::from(notifications()).route_layer(notes.clone());
    let notifications = notifications.route_layer(notification).route_layer(keyspace.clone());
    let notifications = notifications.route_layer(strangers);
    let api = Router::from(v1())
        .route_layer(notes)
        .route_layer(keyspace)
        .route_layer(bearer)
        .merge(reports)
        .merge(notifications)
        .merge(aws_style.clone())
        .nest("/api", aws_style)
        .layer(map_response(no_store))
        .merge(openapi::routes(document()));
    let traces = RequestTraces::new(controller.traces.clone(), controller.proxies.clone());
    http::public(api, (metrics, &traces), Cors::default(), Shed::new(MAX_IN_FLIGHT))
        .with_state(Arc::clone(controller))
}

#[cfg(test)]
mod tests;
