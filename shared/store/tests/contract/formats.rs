//! Formats: every service says what it reads, and learns what all of them read.

use vestibule_domain::Formats;

use crate::world::{World, patient};

crate::on_every_server!(
    what_every_running_service_reads_is_known,
    a_service_that_runs_no_more_holds_nobody_back,
    a_snapshot_says_its_format,
);

const OLD: Formats = Formats { ticket: 3, snapshot: 1 };
const NEW: Formats = Formats { ticket: 5, snapshot: 2 };

async fn what_every_running_service_reads_is_known(world: World) {
    assert_eq!(world.store.announce("new", NEW).await.unwrap(), NEW);
    assert_eq!(world.store.announce("old", OLD).await.unwrap(), OLD);
    assert_eq!(world.store.announce("new", NEW).await.unwrap(), OLD);
    assert_eq!(world.store.announce("old", NEW).await.unwrap(), NEW, "it was upgraded");
    let mut other = redis::cmd("HSET");
    other.arg("vestibule:{deployment}:formats").arg("other");
    other.arg(format!("{} no JSON", world.clock.now_ms()));
    world.server.ask::<u64>(&other).await;
    assert_eq!(world.store.announce("new", NEW).await.unwrap(), Formats::default());
}

async fn a_service_that_runs_no_more_holds_nobody_back(world: World) {
    world.store.announce("old", OLD).await.unwrap();
    world.seconds(60);
    assert_eq!(world.store.announce("new", NEW).await.unwrap(), OLD);
    world.clock.advance_ms(1);
    assert_eq!(world.store.announce("new", NEW).await.unwrap(), NEW);
    assert_eq!(world.server.keys().await, 1);
}

async fn a_snapshot_says_its_format(world: World) {
    world.open(patient(1)).await;
    assert_eq!(world.snapshot().await.format, Formats::KNOWN.snapshot);
}
