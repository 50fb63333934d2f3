//! `GET /v1/tokens`

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use vestibule_runtime::{Problem, extract::Json};

use super::create_token::{Token, token_problem};
use crate::{endpoints::responses::Refusals, state::Controller};

/// The tokens of the deployment, without what is shown.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenList {
    /// First those that options give to this controller, then those that were made by calls, by name.
    tokens: Vec<Token>,
}

/// Lists the tokens. What callers show is kept nowhere.
#[utoipa::path(
    get, path = "/v1/tokens", tag = "tokens",
    responses((status = 200, description = "The tokens", body = TokenList), Refusals)
)]
pub(crate) async fn list_tokens(
    State(controller): State<Arc<Controller>>,
) -> Result<Json<TokenList>, Problem> {
    let made = controller.tokens.made().await.map_err(token_problem)?;
    let given = controller.tokens.given().map(Token::from);
    Ok(Json(TokenList { tokens: given.chain(made.iter().map(Token::from)).collect() }))
}
