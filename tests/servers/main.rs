//! Whole services over every kind of server that there is: behind Sentinels, on a Cluster, with TLS, with
//! replicas that are waited for, with the least rights; and what breaks in between.
//!
//! The links alone are tested in `shared/store/tests/links`.

mod clusters;
mod connections;
mod findings;
mod hangs;
mod people;
mod pushes;
mod replicas;
mod rights;
mod sentinels;
mod shards;

use std::time::Duration;

/// How long anything may take on a machine that is busy with other tests.
const SOON: Duration = Duration::from_secs(30);
