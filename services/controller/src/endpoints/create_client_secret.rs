//! `POST /v1/rooms/{room}/oidc_clients/{client}/secret`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use vestibule_domain::{RoomId, schedule::RoomConfig};
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Path},
};
use vestibule_token::ClientSecret;

use crate::{
    access::Caller,
    api_types::{invalid_room, refuse},
    audit::Trail,
    endpoints::responses::{Busy, InvalidRequest, NoSuchClient, Refusals},
    rooms::Rollout,
    state::Controller,
};

/// Which client of which room.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct ClientAddress {
    /// The room's name.
    #[param(inline)]
    room: RoomId,
    /// The client's id.
    client: String,
}

/// A client's new secret.
#[derive(Serialize, ToSchema)]
pub(crate) struct NewClientSecret {
    /// The client's id.
    client_id: String,
    /// What it shows to exchange codes. It is told this once.
    #[schema(example = "vcs_…")]
    client_secret: String,
    /// What the room's `oidc_clients` have of it.
    secret_hash: String,
}

/// Makes a secret for a client of OpenID Connect.
///
/// It is told in this answer and never again: the room's `oidc_clients` have its hash, behind those that the client has
/// already, which go on being good. Once the client uses the new one, take the old hash out of the room. A client may
/// have four.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/oidc_clients/{client}/secret", tag = "rooms", params(ClientAddress),
    responses(
        (status = 201, description = "The secret", body = NewClientSecret),
        Busy, InvalidRequest, NoSuchClient, Refusals,
    )
)]
pub(crate) async fn create_client_secret(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Path(ClientAddress { room, client }): Path<ClientAddress>,
) -> Result<(StatusCode, Rollout, Json<NewClientSecret>), Problem> {
    trail.name_subject("client", &client);
    let secret = ClientSecret::random();
    let change = |config: &mut RoomConfig| {
        let mut clients = config.binding.oidc_clients.iter_mut();
        let known = clients.find(|known| known.id == client);
        let known = known.ok_or_else(|| Problem::new(ProblemType::OidcClientNotFound))?;
        known.secret_hashes.get_or_insert_default().push(secret.hash());
        refuse(invalid_room(), config.binding.errors())
    };
    let ((), rollout) = controller.configs.change(&caller, &trail, &room, change).await?;
    let made = NewClientSecret {
        client_id: client,
        client_secret: secret.expose_secret().to_owned(),
        secret_hash: secret.hash(),
    };
    Ok((StatusCode::CREATED, rollout, Json(made)))
}
