//! The harness of the black-box tests: a deployment of real programs over a real Redis, and
//! clients that speak to it as browsers, AWS-style clients and operators do.
//!
//! Nothing here links against the services. What a test knows is what they say over HTTP, what
//! they log, how they exit, and, where an invariant is about Redis, what lies there. Nothing waits
//! for a fixed time: see [`eventually`].
#![expect(clippy::missing_errors_doc, reason = "every error here is a failed test, with its story")]

mod aws;
pub mod browser;
mod deployment;
mod docker;
mod fleet;
pub mod gateway;
mod instance;
mod operator;
mod ports;
mod process;
mod programs;
mod redis_server;
mod reply;
mod site_visitor;
mod tokens;
mod visitor;
mod wait;

pub use self::{
    aws::Aws,
    deployment::{Builder, Deployment},
    fleet::Fleet,
    instance::Service,
    operator::Operator,
    process::{Exited, Process},
    programs::ours,
    redis_server::{Flavor, Redis},
    reply::Reply,
    site_visitor::SiteVisitor,
    tokens::{Claims, Verifier, claims_of},
    visitor::{Carries, Visitor},
    wait::eventually,
};
