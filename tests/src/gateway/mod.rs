//! Real gateways in front of a small site, each with the configuration that `deploy/gateways/`
//! offers: those very files, with addresses put in.

mod browser;
mod certificate;
mod config;
mod found;
mod kind;
mod replay;
mod running;
mod site;

pub use self::{
    browser::{Browser, Tunnel},
    config::{Addresses, Scheme, deployed},
    kind::Kind,
    replay::Documented,
    running::Gateway,
    site::Site,
};

/// The name of the site, as visitors know it.
pub const SITE_HOST: &str = "shop.example";

/// A port of 127.0.0.1 on which nobody listens, for a listener of Vestibule.
#[must_use]
pub fn free_port() -> u16 {
    crate::ports::free()
}
