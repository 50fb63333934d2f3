//! Runs a test on a server of its own.
//!
//! A test is boxed: otherwise the compiler would make a program of each test for each server, which takes it minutes.

use std::pin::Pin;

use tokio::runtime::Builder;
use vestibule_redis_model::Dialect;
use vestibule_tests::Flavor;

use crate::{server::Server, world::World};

/// Makes a test of a world.
pub(crate) type Test = fn(World) -> Boxed;
type Boxed = Pin<Box<dyn Future<Output = ()>>>;

pub(crate) fn on_the_model(test: Test) {
    run(Box::pin(async move { test(World::on(Server::model(Dialect::Redis7))).await }));
}

pub(crate) fn on(flavor: Flavor, test: Test) {
    if !flavor.is_left_out() {
        run(Box::pin(async move { test(World::on(Server::real(flavor).await)).await }));
    }
}

fn run(test: Boxed) {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(test);
}
