//! What each call of the API needs, and where it is noted: the one table. A call that is not in it is an admin's
//! alone, and a test fails.

use axum::http::Method;
use vestibule_domain::access::Role::{self, Admin, Operator, Viewer};
use vestibule_store::AuditList::{self, Changes, Visits};

/// One call of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    method: &'static str,
    /// As the router has it, without `/api`.
    path: &'static str,
    /// Its id in the document, and in the audit log.
    pub(crate) name: &'static str,
    /// The least role that may call it.
    pub(crate) role: Role,
    /// What the caller must be for.
    pub(crate) over: Over,
    /// Where it is noted; `None`: it changes nothing.
    pub(crate) noted: Option<AuditList>,
}

/// What a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// The room in its address.
    Room,
    /// The event that its body or query names: [`crate::rooms::RoomDirectory::event`] checks it.
    Event,
    /// All rooms, of which the endpoint takes those that the caller is for.
    OwnRooms,
    /// The deployment.
    Deployment,
}

use Over::{Deployment, Event, OwnRooms, Room};

/// Every call.
#[rustfmt::skip]
pub(crate) const OPERATIONS: &[Operation] = &[
    of("GET", "/v1/rooms", "list_rooms", Viewer, OwnRooms, None),
    // A room that there is not is created by an admin only: see the endpoint.
    of("PUT", "/v1/rooms/{room}", "put_room", Operator, Room, Some(Changes)),
    of("GET", "/v1/rooms/{room}", "get_room", Viewer, Room, None),
    of("PATCH", "/v1/rooms/{room}", "patch_room", Operator, Room, Some(Changes)),
    of("DELETE", "/v1/rooms/{room}", "delete_room", Admin, Room, Some(Changes)),
    of("GET", "/v1/config", "get_config", Viewer, OwnRooms, None),
    // A viewer only as a dry run: see the endpoint.
    of("PUT", "/v1/config", "put_config", Viewer, OwnRooms, Some(Changes)),
    of("PUT", "/v1/rooms/{room}/page", "put_page", Operator, Room, Some(Changes)),
    of("GET", "/v1/rooms/{room}/page", "get_page", Viewer, Room, None),
    of("DELETE", "/v1/rooms/{room}/page", "delete_page", Operator, Room, Some(Changes)),
    of("PUT", "/v1/rooms/{room}/logo", "put_logo", Operator, Room, Some(Changes)),
    of("GET", "/v1/rooms/{room}/logo", "get_logo", Viewer, Room, None),
    of("DELETE", "/v1/rooms/{room}/logo", "delete_logo", Operator, Room, Some(Changes)),
    of("GET", "/v1/rooms/{room}/preview", "preview_page", Viewer, Room, None),
    of("POST", "/v1/rooms/{room}/reset", "reset_room", Operator, Room, Some(Changes)),
    of("POST", "/v1/rooms/{room}/passes", "create_pass", Operator, Room, Some(Changes)),
    of("POST", "/v1/rooms/{room}/inlet", "report_exits", Operator, Room, Some(Visits)),
    of("GET", "/v1/rooms/{room}/inlet", "get_inlet", Viewer, Room, None),
    of("PUT", "/v1/rooms/{room}/inlet/alarm", "set_inlet_alarm", Operator, Room, Some(Changes)),
    // Needs no token: Amazon SNS has signed it.
    of("POST", "/v1/rooms/{room}/inlet/sns", "receive_notification", Operator, Room, Some(Visits)),
    of("POST", "/v1/rooms/{room}/oidc_clients/{client}/secret", "create_client_secret", Operator, Room, Some(Changes)),
    of("POST", "/v1/match", "match_request", Viewer, OwnRooms, None),
    of("GET", "/v1/rooms/{room}/status", "get_status", Viewer, Room, None),
    of("GET", "/v1/rooms/{room}/history", "get_history", Viewer, Room, None),
    of("DELETE", "/v1/rooms/{room}/sessions/{request_id}", "revoke_session", Operator, Room, Some(Changes)),
    of("GET", "/v1/rooms/{room}/events", "list_events", Viewer, Room, None),
    of("PUT", "/v1/rooms/{room}/events/{event}", "put_event", Operator, Room, Some(Changes)),
    of("GET", "/v1/rooms/{room}/events/{event}", "get_event", Viewer, Room, None),
    of("PATCH", "/v1/rooms/{room}/events/{event}", "patch_event", Operator, Room, Some(Changes)),
    of("DELETE", "/v1/rooms/{room}/events/{event}", "delete_event", Operator, Room, Some(Changes)),
    of("GET", "/v1/rooms/{room}/events/{event}/details", "get_event_details", Viewer, Room, None),
    of("POST", "/v1/keys/rotate", "rotate_keys", Admin, Deployment, Some(Changes)),
    of("POST", "/v1/keys/import", "import_key", Admin, Deployment, Some(Changes)),
    of("DELETE", "/v1/keys/{kid}", "withdraw_key", Admin, Deployment, Some(Changes)),
    of("GET", "/v1/tokens", "list_tokens", Admin, Deployment, None),
    of("POST", "/v1/tokens", "create_token", Admin, Deployment, Some(Changes)),
    of("DELETE", "/v1/tokens/{name}", "revoke_token", Admin, Deployment, Some(Changes)),
    of("GET", "/v1/sigv4-keys", "list_sigv4_keys", Admin, Deployment, None),
    of("POST", "/v1/sigv4-keys", "create_sigv4_key", Admin, Deployment, Some(Changes)),
    of("DELETE", "/v1/sigv4-keys/{access_key_id}", "revoke_sigv4_key", Admin, Deployment, Some(Changes)),
    of("GET", "/v1/webhooks", "list_webhooks", Admin, Deployment, None),
    of("PUT", "/v1/webhooks/{name}", "put_webhook", Admin, Deployment, Some(Changes)),
    of("GET", "/v1/webhooks/{name}", "get_webhook", Admin, Deployment, None),
    of("DELETE", "/v1/webhooks/{name}", "delete_webhook", Admin, Deployment, Some(Changes)),
    of("POST", "/v1/webhooks/{name}/rotate-secret", "rotate_webhook_secret", Admin, Deployment, Some(Changes)),
    of("POST", "/v1/webhooks/{name}/test", "test_webhook", Admin, Deployment, Some(Changes)),
    of("GET", "/v1/audit", "read_audit", Viewer, OwnRooms, None),
    of("POST", "/generate_token", "generate_token", Operator, Event, Some(Visits)),
    of("POST", "/increment_serving_counter", "increment_serving_counter", Operator, Event, Some(Changes)),
    of("POST", "/update_session", "update_session", Operator, Event, Some(Visits)),
    of("POST", "/reset_initial_state", "reset_initial_state", Operator, Event, Some(Changes)),
    of("GET", "/num_active_tokens", "num_active_tokens", Viewer, Event, None),
    of("GET", "/expired_tokens", "expired_tokens", Viewer, Event, None),
];

/// What is not in the table.
const UNKNOWN: Operation = of("", "", "unknown", Admin, Deployment, Some(Changes));

/// The call of this method at this route.
pub(crate) fn operation(method: &Method, route: &str) -> Operation {
    // axum answers HEAD as GET.
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    let path = route.strip_prefix("/api").unwrap_or(route);
    let is_it = |operation: &&Operation| operation.method == method && operation.path == path;
    OPERATIONS.iter().find(is_it).copied().unwrap_or(UNKNOWN)
}

const fn of(
    method: &'static str,
    path: &'static str,
    name: &'static str,
    role: Role,
    over: Over,
    noted: Option<AuditList>,
) -> Operation {
    Operation { method, path, name, role, over, noted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_with_and_without_their_prefix_and_as_head() {
        assert_eq!(operation(&Method::HEAD, "/v1/rooms").name, "list_rooms");
        assert_eq!(operation(&Method::POST, "/api/update_session").name, "update_session");
        assert_eq!(operation(&Method::POST, "/update_session").name, "update_session");
        assert_eq!(operation(&Method::POST, "/v1/rooms"), UNKNOWN);
    }

    #[test]
    fn whoever_reads_changes_nothing_and_what_changes_something_is_noted() {
        for operation in OPERATIONS {
            let reads = operation.method == "GET" || operation.name == "match_request";
            assert_eq!(operation.noted.is_none(), reads, "{}", operation.name);
            let differs =
                ["list_tokens", "list_sigv4_keys", "put_config", "list_webhooks", "get_webhook"];
            let differs = differs.contains(&operation.name);
            assert!(reads == (operation.role == Viewer) || differs);
        }
    }
}
