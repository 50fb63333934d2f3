//! The network of whoever sends a request, for calls that take no [`super::VisitorRequest`].

use std::{convert::Infallible, sync::Arc};

use axum::{extract::FromRequestParts, http::request::Parts};
use vestibule_site::ClientNetwork;

use crate::state::Admission;

/// The caller's network, if it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallerNetwork(pub(crate) Option<ClientNetwork>);

impl FromRequestParts<Arc<Admission>> for CallerNetwork {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        admission: &Arc<Admission>,
    ) -> Result<Self, Self::Rejection> {
        Ok(Self(admission.clients.network_of(&parts.extensions, &parts.headers)))
    }
}
