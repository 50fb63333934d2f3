//! Answers that many calls share, as the OpenAPI document describes them.

use vestibule_runtime::shared_responses;

shared_responses! {
    /// Answers of every call.
    pub(crate) Busy {
        problem_response "503": "Busy, or the store is away: see Retry-After",
    }

    /// Answers of calls that are limited per network.
    pub(crate) OverLimit {
        problem_response "429": "The caller's network has as many newcomers, places or seats as it may: see Retry-After",
    }

    /// Answers of calls of a room that is to be an OpenID Connect provider.
    pub(crate) ProviderRefusals {
        problem_response "404": "There is no such room, or it has no oidc_clients",
        problem_response "503": "Busy, or the store is away: see Retry-After",
    }

    /// Answers of calls with a body.
    pub(crate) BodyRefusals {
        problem_response "408": "The body does not arrive within 10 seconds",
        problem_response "413": "The body is longer than 64 KiB",
    }

    /// Answers of calls about a room.
    pub(crate) RoomRefusals {
        problem_response "400": "A parameter is wrong, or the ticket is of before a reset",
        problem_response "401": "A proof (`DPoP`) is not good, or there is none of the key that the session is bound to",
        problem_response "403": "A page of another origin sent the visitor's cookie: see the room's cors_origins",
        problem_response "404": "There is no such room",
        problem_response "503": "Busy, or the store is away: see Retry-After",
    }

    /// Answers of calls that need a ticket.
    pub(crate) TicketRefusals {
        problem_response "400": "There is no ticket, or not one of this room; or the name is not a room's",
        problem_response "401": "A proof (`DPoP`) is not good, or there is none of the key that the session is bound to",
        problem_response "403": "A page of another origin sent the visitor's cookie: see the room's cors_origins",
        problem_response "404": "There is no such room",
        problem_response "503": "Busy, or the store is away: see Retry-After",
    }

    /// Answers to gateways.
    pub(crate) GatewayRefusals {
        problem_response "400": "A parameter or header is missing, there twice, or wrong",
        problem_response "403": "The caller is not a trusted proxy",
    }
}
