//! `POST /v1/rooms/{room}/redeem`: a site takes in what its visitor has shown, once.

use std::sync::Arc;

use axum::{
    extract::State,
    http::header::CACHE_CONTROL,
    response::{IntoResponse, Response},
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vestibule_domain::Redemption;
use vestibule_runtime::{
    extract::{IdempotencyKey, Json, NoName, Path},
    problem::{Problem, ProblemType},
};
use vestibule_store::RedeemOutcome;
use vestibule_token::TicketError;

use crate::{
    endpoints::responses::BodyRefusals,
    extractors::{self, RoomPath},
    flows::{Flows, Redeemer, RoomContext},
    state::Admission,
};

/// What the visitor has shown: one of the two.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shown {
    /// An access token, of the visitor's calls or of the AWS-style ones.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    access_token: Option<SecretString>,
    /// A ticket of somebody inside.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    ticket: Option<SecretString>,
}

/// Whose session was redeemed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RedeemedSession {
    /// The visitor's request id.
    request_id: String,
    /// Its queue number.
    queue_number: u64,
    /// When what was shown was issued, unix seconds.
    issued_at: u64,
    /// When it expires, unix seconds.
    expires_at: u64,
    /// Whether what was shown says that it is bound to a key or, as a ticket, to a network or browser. This call asks for
    /// no proof: it may have been a copy.
    bound: bool,
    /// Always true.
    redeemed: bool,
}

/// Redeem a session
///
/// For sites that let each admission be used once, by their server: an access token or a ticket is exchanged for who the
/// visitor is. A session is redeemed once, whatever of it is shown; the next call is answered 409. With
/// `Idempotency-Key` a call whose answer was lost may be sent again: under the same name it has the same answer for as
/// long as the session lives.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/redeem", operation_id = "redeem_session", tag = "sites",
    params(
        RoomPath,
        ("Idempotency-Key" = Option<String>, Header, description = "A name for this call: up to 64 letters, digits and `-._`"),
    ),
    request_body = Shown,
    responses(
        (status = 200, description = "Redeemed by this call", body = RedeemedSession),
        (status = 400, description = "There is nothing to redeem, or it is not of this room, or has expired", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such room, or the session is over", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "Redeemed before; the detail says when", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "Busy, or the store is away: see Retry-After", body = Problem, content_type = "application/problem+json"),
        BodyRefusals,
    )
)]
pub(crate) async fn redeem_session(
    State(admission): State<Arc<Admission>>,
    Path(RoomPath { room }): Path<RoomPath>,
    key: Result<IdempotencyKey, NoName>,
    Json(shown): Json<Shown>,
) -> Result<Response, Problem> {
    let flows = &admission.flows;
    let mut room = extractors::room(flows, room.as_str()).await?;
    let key = key?;
    let redeemer = shown.redeemer(flows, &mut room).await?;
    match flows.redeem(&room, &redeemer, key.name.as_deref()).await? {
        RedeemOutcome::Redeemed => Ok(answer(redeemer)),
        RedeemOutcome::Already(Redemption { at, .. }) => {
            Err(Problem::new(ProblemType::AlreadyRedeemed)
                .detail(format!("it was redeemed at {at}, unix seconds")))
        }
        RedeemOutcome::NoSession => Err(Problem::new(ProblemType::SessionNotFound)),
    }
}

fn answer(redeemer: Redeemer) -> Response {
    let Redeemer { request_id, number, issued_at, expires_at, is_bound } = redeemer;
    let body = RedeemedSession {
        request_id,
        queue_number: number,
        issued_at,
        expires_at,
        bound: is_bound,
        redeemed: true,
    };
    ([(CACHE_CONTROL, "no-store")], axum::Json(body)).into_response()
}

// === impl Shown ===

impl Shown {
    /// Whose it is. `room` is read again if it may be of after a reset that this instance has not heard of.
    async fn redeemer(&self, flows: &Flows, room: &mut RoomContext) -> Result<Redeemer, Problem> {
        match (&self.access_token, &self.ticket) {
            (Some(token), None) => of_token(flows, room, token.expose_secret()).await,
            (None, Some(ticket)) => of_ticket(flows, room, ticket.expose_secret()).await,
            _ => Err(Problem::new(ProblemType::InvalidRequest)
                .detail("send either access_token or ticket")),
        }
    }
}

async fn of_token(flows: &Flows, room: &mut RoomContext, token: &str) -> Result<Redeemer, Problem> {
    let invalid =
        |reason: String| Problem::new(ProblemType::InvalidToken).field("access_token", reason);
    let verified = flows.redeemer_of_token(room, token).await?;
    let redeemer = verified.map_err(|error| invalid(error.to_string()))?;
    // Its request id is of before a reset, if it does not open.
    let open =
        |ciphers: &vestibule_issuance::RoomCiphers| ciphers.request_ids.open(&redeemer.request_id);
    let place = flows.open(room, open).await?;
    match place {
        Ok(place) if place.number == redeemer.number => Ok(redeemer),
        _ => Err(invalid("it is of before a reset".to_owned())),
    }
}

async fn of_ticket(
    flows: &Flows,
    room: &mut RoomContext,
    ticket: &str,
) -> Result<Redeemer, Problem> {
    let invalid =
        |reason: &'static str| Problem::new(ProblemType::InvalidTicket).field("ticket", reason);
    let ticket = match flows.open(room, |ciphers| ciphers.tickets.open(ticket)).await? {
        Ok(ticket) => ticket,
        Err(TicketError::Malformed) => return Err(invalid("this is not a ticket")),
        Err(TicketError::Foreign) => {
            return Err(invalid("it is of another room or of before a reset, or it was altered"));
        }
    };
    let redeemer = Redeemer::of_ticket(room, &ticket)?;
    redeemer.ok_or_else(|| Problem::new(ProblemType::SessionNotFound))
}
