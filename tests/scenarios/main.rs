//! Black-box scenarios: a deployment of several instances, a crowd, and something that goes wrong.
//!
//! One binary, one module per promise. What needs no deployment is tested beside its code.

mod aws_expiry;
mod aws_matrix;
mod aws_private;
mod bad_input;
mod ceiling;
mod claims;
mod counter;
mod crowd;
mod events;
mod failover;
mod fifo;
mod journey;
mod keys;
mod numbers;
mod outage;
mod rate;
mod rehearsal;
mod rooms;
mod secrets;
mod shutdown;
mod watch;
mod wipe;
