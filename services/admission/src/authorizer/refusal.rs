//! How a gateway wants to be answered when a visitor has to wait. Gateways differ in what they can
//! do with a response, so the query of the authorizer's address chooses.

use serde::Deserialize;

/// What a refusal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refusal {
    /// The response for the visitor: the waiting page, or JSON. For gateways that pass a refusal on.
    #[default]
    Page,
    /// A redirect to the waiting page at this service's own address.
    Redirect,
    /// 401 without a body. For gateways that then ask for the page themselves.
    Status,
}

/// The query of the authorizer's address.
#[derive(Debug, Clone, Copy, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RefusalQuery {
    /// `page` (default): a refusal is the waiting page itself, with a status that is not 2xx;
    /// `redirect`: 302 to the waiting page at this service's own address, which must be of the same host, or a browser
    /// would not show there the cookie that it gets here; `status`: 401 without a body.
    #[serde(default)]
    #[param(value_type = Option<Refusal>, inline)]
    pub(crate) refuse: Refusal,
}
