//! A room as an OpenID Connect provider: to log in is to wait. A site sends its visitor to `/oidc/{room}/authorize`; the
//! visitor waits on the room's page, which leads to `/oidc/{room}/resume` when its turn has come; from there it goes back
//! to the site with a code, which the site exchanges at `/oidc/{room}/token`.

mod begin_login;
mod exchange_code;
mod get_configuration;
mod get_provider_keys;
mod get_user_info;
mod login;
mod provider;
mod resume_login;

pub(crate) use begin_login::*;
pub(crate) use exchange_code::*;
pub(crate) use get_configuration::*;
pub(crate) use get_provider_keys::*;
pub(crate) use get_user_info::*;
pub(crate) use resume_login::*;
