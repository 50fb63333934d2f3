//! The closed set of problem types, spelled once.
//!
//! One table gives each type its slug, status, title and default `Retry-After`; everything else
//! (URI, metric label, parsing, schema) is generated from it, so none can miss a type. Bodies and
//! responses are in [`super::Problem`].

use std::str::FromStr;

use axum::http::StatusCode;
use serde::{Serialize, Serializer};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};

/// What every type URI starts with.
pub const PROBLEM_URI_PREFIX: &str = "urn:vestibule:problem:";

macro_rules! problem_types {
    ($($(#[$doc:meta])+ $variant:ident, $slug:literal, $status:ident, $title:literal, $retry:expr;)+) => {
        /// What went wrong, as a closed set. Clients may match on the URI; it never changes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ProblemType {
            $($(#[$doc])+ $variant,)+
        }

        impl ProblemType {
            /// Every type, in the order of the table: `ALL[kind as usize] == kind`.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// How many types there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The slug: the last part of the URI, and the `code` label of metrics.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $slug,)+ }
            }

            /// The `type` member of the document: `urn:vestibule:problem:<slug>`.
            #[must_use]
            pub const fn type_uri(self) -> &'static str {
                match self { $(Self::$variant => concat!("urn:vestibule:problem:", $slug),)+ }
            }

            /// A short sentence, the same for every occurrence.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }

            /// The HTTP status that goes with it.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status,)+ }
            }

            /// Seconds of `Retry-After` when the occurrence names none; `None` sends no header.
            #[must_use]
            pub const fn default_retry_after(self) -> Option<u32> {
                match self { $(Self::$variant => $retry,)+ }
            }
        }
    };
}

problem_types! {
    /// The request does not have the form that the operation needs.
    InvalidRequest, "invalid-request", BAD_REQUEST, "The request is not valid", None;
    /// The ticket was not made by this deployment for this room, or was altered.
    InvalidTicket, "invalid-ticket", BAD_REQUEST, "The ticket is not valid", None;
    /// The request id was not made by this deployment for this room and reset.
    InvalidRequestId, "invalid-request-id", BAD_REQUEST, "The request id is not valid", None;
    /// The caller did not send the API token.
    Unauthorized, "unauthorized", UNAUTHORIZED, "Authorization is required", None;
    /// The caller's token may not do this: it lacks the role, or is for other rooms.
    Forbidden, "forbidden", FORBIDDEN, "The token may not do this", None;
    /// There is no proof, or none that is good, that the caller has the key that its session is bound to.
    InvalidDpopProof, "invalid-dpop-proof", UNAUTHORIZED, "The proof of the key is missing or not valid", None;
    /// The caller asks about another client's request and is not a trusted proxy.
    UntrustedProxy, "untrusted-proxy", FORBIDDEN, "The caller is not a trusted proxy", None;
    /// The message is not one of Amazon SNS, or of a topic that the room does not believe.
    UnbelievedMessage, "unbelieved-message", FORBIDDEN, "The message of Amazon SNS is not believed", None;
    /// A page of another origin sent the visitor's cookie, which may not speak for it.
    CrossOrigin, "cross-origin", FORBIDDEN, "Pages of other origins may not use the visitor's cookie", None;
    /// A newcomer has to solve the room's challenge first: the member `challenge`.
    ChallengeRequired, "challenge-required", FORBIDDEN, "Solve the room's challenge to get a place", None;
    /// No such route.
    NotFound, "not-found", NOT_FOUND, "There is nothing at this address", None;
    /// The address is right, the room does not exist.
    RoomNotFound, "room-not-found", NOT_FOUND, "There is no such room", None;
    /// The room has no event of this name.
    EventNotFound, "event-not-found", NOT_FOUND, "There is no such event", None;
    /// The deployment has no signing key of this id.
    KeyNotFound, "key-not-found", NOT_FOUND, "There is no such signing key", None;
    /// The room does not answer AWS-style calls.
    AwsStyleApiOff, "aws-style-api-off", NOT_FOUND, "The room does not answer AWS-style calls", None;
    /// The room has no clients that log their visitors in by OpenID Connect.
    OpenIdOff, "openid-off", NOT_FOUND, "The room is no OpenID Connect provider", None;
    /// The room has no OpenID Connect client of this id.
    OidcClientNotFound, "oidc-client-not-found", NOT_FOUND, "There is no such OpenID Connect client", None;
    /// There is no API token of this name.
    TokenNotFound, "token-not-found", NOT_FOUND, "There is no such token", None;
    /// There is no webhook of this name.
    WebhookNotFound, "webhook-not-found", NOT_FOUND, "There is no such webhook", None;
    /// The visitor has no session in this room, or it is over.
    SessionNotFound, "session-not-found", NOT_FOUND, "There is no such session", None;
    /// The route does not exist for this method.
    MethodNotAllowed, "method-not-allowed", METHOD_NOT_ALLOWED, "The method is not allowed here", None;
    /// The body did not arrive in time.
    RequestTimeout, "request-timeout", REQUEST_TIMEOUT, "The request took too long to arrive", None;
    /// The request contradicts the current state.
    Conflict, "conflict", CONFLICT, "The request conflicts with the current state", None;
    /// More people are in the room than its deletion allows: the members `waiting`, `inside` and `people`.
    RoomOccupied, "room-occupied", CONFLICT, "There are people in the room", None;
    /// The session was redeemed by an earlier call.
    AlreadyRedeemed, "already-redeemed", CONFLICT, "The session has been redeemed already", None;
    /// The token does not open this room, or opens it no more.
    InvalidToken, "invalid-token", BAD_REQUEST, "The token is not valid", None;
    /// It existed and has ended for good.
    Gone, "gone", GONE, "This is no longer available", None;
    /// The body is longer than the operation accepts.
    PayloadTooLarge, "payload-too-large", PAYLOAD_TOO_LARGE, "The request body is too large", None;
    /// The body is in a form that the operation does not read.
    UnsupportedMediaType, "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE, "The media type is not supported", None;
    /// The visitor watches by as many streams as one may have.
    TooManyStreams, "too-many-streams", TOO_MANY_REQUESTS, "The visitor has too many live streams", Some(60);
    /// The visitor's network has as many newcomers, places or seats as it may.
    NetworkLimit, "network-limit", TOO_MANY_REQUESTS, "The visitor's network has as much of this room as it may", Some(30);
    /// The session makes more requests than its room allows.
    TooManyRequests, "too-many-requests", TOO_MANY_REQUESTS, "The session makes too many requests", Some(1);
    /// This instance has reached its limit of requests in flight.
    Overloaded, "overloaded", SERVICE_UNAVAILABLE, "The service is busy, try again shortly", Some(1);
    /// The shared state cannot be reached.
    RedisUnavailable, "redis-unavailable", SERVICE_UNAVAILABLE, "The shared state is unavailable, try again shortly", Some(2);
    /// The provider of the room's challenge cannot be asked.
    ChallengeUnavailable, "challenge-unavailable", SERVICE_UNAVAILABLE, "The challenge cannot be checked now, try again shortly", Some(5);
    /// Amazon SNS cannot be asked: for the certificate of a message, or to confirm a subscription.
    SnsUnavailable, "sns-unavailable", SERVICE_UNAVAILABLE, "Amazon SNS cannot be asked now, try again shortly", Some(5);
    /// A fault of this service. Its cause is in the log, never in the response.
    Internal, "internal", INTERNAL_SERVER_ERROR, "Something went wrong on our side", None;
}

/// The text is not the URI of a problem type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the URI of a problem type")]
pub struct UnknownProblemType;

// === impl ProblemType ===

impl FromStr for ProblemType {
    type Err = UnknownProblemType;

    fn from_str(uri: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|kind| kind.type_uri() == uri).ok_or(UnknownProblemType)
    }
}

impl Serialize for ProblemType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.type_uri())
    }
}

impl PartialSchema for ProblemType {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(Self::ALL.iter().map(|kind| kind.type_uri())))
            .description(Some("What went wrong, as a closed set"))
            .into()
    }
}

impl ToSchema for ProblemType {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_type_survives_the_round_trip_through_its_uri() {
        for &kind in ProblemType::ALL {
            assert_eq!(kind.type_uri().parse(), Ok(kind));
            assert_eq!(kind.type_uri(), format!("{PROBLEM_URI_PREFIX}{}", kind.code()));
        }
        assert_eq!("urn:vestibule:problem:nope".parse::<ProblemType>(), Err(UnknownProblemType));
        assert_eq!("internal".parse::<ProblemType>(), Err(UnknownProblemType));
    }

    #[test]
    fn codes_are_distinct_and_positions_match_the_table() {
        let codes: BTreeSet<_> = ProblemType::ALL.iter().map(|kind| kind.code()).collect();
        assert_eq!(codes.len(), ProblemType::COUNT);
        for (position, &kind) in ProblemType::ALL.iter().enumerate() {
            assert_eq!(kind as usize, position);
        }
    }

    #[test]
    fn whoever_is_told_to_go_away_for_now_is_told_for_how_long() {
        for kind in ProblemType::ALL {
            let temporary = matches!(kind.status().as_u16(), 429 | 503);
            assert_eq!(kind.default_retry_after().is_some(), temporary, "{}", kind.code());
            assert!(kind.status().is_client_error() || kind.status().is_server_error());
        }
    }

    #[test]
    fn the_schema_lists_every_uri() {
        let schema = serde_json::to_value(ProblemType::schema()).unwrap();
        assert_eq!(schema["enum"].as_array().unwrap().len(), ProblemType::COUNT);
        assert_eq!(schema["enum"][0], "urn:vestibule:problem:invalid-request");
    }
}
