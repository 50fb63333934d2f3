//! The binding of a room to a site: which requests the room covers, which of them bypass it, the
//! attributes of its cookies, and the checks of addresses and cookies that visitors send.
//!
//! This crate is below `vestibule-domain` and knows neither rooms nor queues: callers name a room
//! by a text. It has no I/O and no HTTP types: callers pass the parts of a request ([`Request`],
//! [`Headers`]).

mod branding;
mod bypass;
mod client_network;
mod colour;
mod cookie;
mod coverage;
mod errors;
mod host;
mod ipv4_within;
mod local_text;
mod oidc_client;
mod origin;
mod path;
mod request;
mod return_address;
mod route;
mod seat_ends;
mod spelling;
mod url;

use serde::{Deserialize, Serialize};

pub use self::{
    branding::{Branding, Logo},
    bypass::{BypassRule, ClientTest, Condition, NamedTest, Network, TextTest, Verdict},
    client_network::{ClientNetwork, NetworkPrefixes},
    colour::{Colour, ColourError},
    cookie::{CookieAttributes, CookieKind, SameSite, Secure, WrittenAttributes, cookie_pairs},
    coverage::{Conflict, Coverage},
    errors::{
        FieldError, LANGUAGES, MAX_ORIGINS, MAX_ROUTES, MAX_RULES, QUEUEING_STATUS_CODES, is_token,
    },
    host::{Host, HostError},
    local_text::{LocalText, TextBounds},
    oidc_client::{MAX_CLIENTS, OidcClient},
    origin::{Origin, OriginError},
    path::{PathError, RequestPath},
    request::{Headers, Request},
    return_address::{MAX_RETURN_ADDRESS, ReturnAddress},
    route::Route,
    seat_ends::{SeatEnds, SeatsEndWith},
    url::{UrlParts, encode_path, without_parameter, without_port},
};

/// Everything an operator decides about a room's place in front of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct SiteBinding {
    /// Hosts and paths that the room covers; of several rooms the most specific one does: an exact
    /// host before a wildcard, then the longer path. No two rooms have the same one.
    pub routes: Vec<Route>,
    /// Covered requests that pass uncounted; the first rule that matches wins.
    pub bypass_rules: Vec<BypassRule>,
    /// The header in which the gateway tells the visitor's country; null: none does.
    pub country_header: Option<String>,
    /// How a browser is asked to keep the ticket.
    pub cookie: CookieAttributes,
    /// Whether a browser is also given the access token, as the cookie
    /// `vestibule_token_{suffix or room}`: for gateways that verify it by themselves.
    pub access_token_cookie: bool,
    /// Until when a seat is taken whose visitor leaves, or whose session is ended, before its time: until the `session`
    /// ends, or its last `token`. Null: until the token ends, where `access_token_cookie` is set or there are
    /// `oidc_clients`, and for AWS-style tokens, since whoever verifies by itself lets them in until then; otherwise
    /// until the session ends.
    pub seats_end_with: Option<SeatsEndWith>,
    /// What the site may order by a header of its answers.
    pub origin_commands: Vec<OriginCommand>,
    /// Origins whose pages may call this service with the visitor's cookie: `https://shop.example`. Pages of all
    /// other origins may call it only with the ticket in a header.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, max_items = 100, example = json!(["https://shop.example"])))]
    pub cors_origins: Vec<Origin>,
    /// Origins that the waiting page may lead back to, besides its own and those of the covered hosts at the usual
    /// ports: `https://shop.example:8443`.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, max_items = 100, example = json!(["https://shop.example:8443"])))]
    pub return_origins: Vec<Origin>,
    /// Sites and gateways that log their visitors in here by OpenID Connect, where to log in is to wait. None: the room is
    /// no provider.
    #[cfg_attr(feature = "openapi", schema(max_items = 20))]
    pub oidc_clients: Vec<OidcClient>,
    /// The HTTP status of the waiting page: 200, 202, 429 or 503. Where 2xx would let the request
    /// pass, 503 is sent instead.
    #[cfg_attr(feature = "openapi", schema(schema_with = errors::status_code_schema))]
    pub queueing_status_code: u16,
    /// The language of the waiting page for visitors who prefer none that there is: one of `en`,
    /// `de`, `fr`, `es`, `pt`, `it`, `nl`, `pl`, `ja`, `zh`, `ko`, `ar`.
    pub default_language: String,
    /// The colour of buttons, links and figures on the default page: `#rrggbb`. Its contrast on the light page must be
    /// 4.5:1; for the dark one a lighter shade of it is made. Null: the page's own.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, pattern = "^#[0-9A-Fa-f]{6}$", example = "#8a1c4a"))]
    pub accent_colour: Option<Colour>,
    /// What the logo says, for those who do not see it: at most 200 characters, for all languages or by language.
    /// Null: nothing, since the title or the host stands beside it.
    pub logo_alt: Option<LocalText>,
    /// The operator's own page and logo, which have calls of their own in the API.
    #[serde(skip_serializing_if = "Branding::is_default")]
    #[cfg_attr(feature = "openapi", schema(ignore))]
    pub branding: Branding,
}

/// What a site may order by a header of its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OriginCommand {
    /// `Vestibule-Command: revoke` ends the visitor's session.
    Revoke,
}

// === impl SiteBinding ===

impl Default for SiteBinding {
    fn default() -> Self {
        Self {
            routes: Vec::new(),
            bypass_rules: Vec::new(),
            country_header: None,
            cookie: CookieAttributes::default(),
            access_token_cookie: false,
            seats_end_with: None,
            origin_commands: Vec::new(),
            cors_origins: Vec::new(),
            return_origins: Vec::new(),
            oidc_clients: Vec::new(),
            queueing_status_code: 200,
            default_language: "en".into(),
            accent_colour: None,
            logo_alt: None,
            branding: Branding::default(),
        }
    }
}

#[cfg(test)]
mod tests;
