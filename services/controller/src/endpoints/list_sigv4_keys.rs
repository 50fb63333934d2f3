//! `GET /v1/sigv4-keys`

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use vestibule_runtime::{Problem, extract::Json};

use super::{create_sigv4_key::ListedSigV4Key, create_token::token_problem};
use crate::{endpoints::responses::Refusals, state::Controller};

/// The keys by which requests may be signed, without their secrets.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SigV4KeyList {
    /// First those that the option gives to this controller, then those that were made by calls, by name.
    keys: Vec<ListedSigV4Key>,
}

/// Lists the keys by which requests may be signed. Secrets are not told.
#[utoipa::path(
    get, path = "/v1/sigv4-keys", tag = "tokens",
    responses((status = 200, description = "The keys", body = SigV4KeyList), Refusals)
)]
pub(crate) async fn list_sigv4_keys(
    State(controller): State<Arc<Controller>>,
) -> Result<Json<SigV4KeyList>, Problem> {
    let made = controller.tokens.made_signers().await.map_err(token_problem)?;
    let made = made.iter().map(|(signer, temporary)| ListedSigV4Key::new(signer, *temporary));
    let given = controller.tokens.given_signers().map(ListedSigV4Key::from);
    Ok(Json(SigV4KeyList { keys: given.chain(made).collect() }))
}
