//! The harness of the black-box tests: a deployment of real programs over a real Redis, and
//! clients that speak to it as browsers, AWS-style clients and operators do.
//!
//! Nothing here links against the services. What a test knows is what they say over HTTP, what
//! they log, how they exit, and, where an invariant is about Redis, what lies there. Nothing waits
//! for a fixed time: see [`eventually`].
#![expect(clippy::missing_errors_doc, reason = "every error here is a failed test, with its story")]

mod authority;
mod aws;
mod aws_signer;
mod backup;
pub mod browser;
mod cluster;
mod collector;
mod deployment;
mod docker;
pub mod exposition;
mod fleet;
mod frozen_proxy;
pub mod gateway;
mod instance;
mod node;
mod operator;
mod ports;
mod process;
mod programs;
mod prometheus;
mod prover;
mod puzzle;
mod receiver;
mod redis_server;
mod reply;
mod sentinels;
mod signers;
mod site_visitor;
mod sns;
mod terminal;
mod tokens;
mod visitor;
mod wait;

pub use self::{
    authority::Authority,
    aws::Aws,
    aws_signer::AwsSigner,
    backup::{backup, restore},
    cluster::Cluster,
    collector::{Collector, TracedSpan},
    deployment::{Builder, Deployment},
    fleet::Fleet,
    frozen_proxy::FrozenProxy,
    instance::Service,
    node::Node,
    operator::Operator,
    ports::free as free_port,
    process::{Exited, Process},
    programs::{ours, previous_release},
    prometheus::Prometheus,
    prover::Prover,
    puzzle::solve,
    receiver::{Answers, Attempt, Receiver},
    redis_server::{Flavor, Redis},
    reply::Reply,
    sentinels::{Sentinels, Switches},
    signers::Signers,
    site_visitor::SiteVisitor,
    sns::SnsTopic,
    terminal::{Said, Terminal},
    tokens::{Claims, Verifier, claims_of},
    visitor::{Carries, Visitor},
    wait::eventually,
};
