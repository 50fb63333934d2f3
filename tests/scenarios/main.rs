//! Black-box scenarios: a deployment of several instances, a crowd, and something that goes wrong.
//!
//! One binary, one module per promise. What needs no deployment is tested beside its code.

mod addresses;
mod authorizer;
mod authorizer_hostile;
mod aws_expiry;
mod aws_matrix;
mod aws_private;
mod bad_input;
mod ceiling;
mod claims;
mod cloudflare;
mod connections;
mod counter;
mod crowd;
mod custom_page;
mod documentation;
mod draw;
mod events;
mod failover;
mod fifo;
mod front;
mod guessing;
mod history;
mod journey;
mod keys;
mod leaks;
mod live;
mod methods;
mod moving;
mod numbers;
mod outage;
mod page;
mod presence;
mod rate;
mod regions;
mod rehearsal;
mod rollout;
mod rooms;
mod secrets;
mod sessions;
mod shutdown;
mod told;
mod turns;
mod watch;
mod wipe;
