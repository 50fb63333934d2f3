//! Real gateways in front of a small site, each with the configuration that we offer for it.
//!
//! One script of steps for all of them: what a visitor meets must not depend on the gateway.

mod every;
mod first_answer;
mod getting_started;
mod hostile;
mod journey;
mod local;
mod logins;
mod open;
mod outage;
mod passed_on;
mod place;
mod plumbing;
mod session;
mod tls;
mod trust;
