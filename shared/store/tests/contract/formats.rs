//! Formats: every service says what it reads, and learns what all of them read.

use vestibule_domain::{Announcement, Formats};
use vestibule_store::StoreError;

use crate::world::{World, patient};

crate::on_every_server!(
    what_every_running_service_reads_is_known,
    a_service_that_runs_no_more_holds_nobody_back,
    a_snapshot_says_its_format,
    nobody_starts_beside_a_release_that_it_cannot_read,
    who_reads_no_keys_on_a_curve_is_named_while_it_runs,
);

const OLD: Formats = Formats { ticket: 3, snapshot: 1, request_id: 1 };
const NEW: Formats = Formats { ticket: 5, snapshot: 2, request_id: 2 };

fn reading(reads: Formats) -> Announcement {
    Announcement { reads, ..Announcement::default() }
}

async fn what_every_running_service_reads_is_known(world: World) {
    assert_eq!(world.store.announce("new", reading(NEW)).await.unwrap().formats, NEW);
    assert_eq!(world.store.announce("old", reading(OLD)).await.unwrap().formats, OLD);
    assert_eq!(world.store.announce("new", reading(NEW)).await.unwrap().formats, OLD);
    assert_eq!(
        world.store.announce("old", reading(NEW)).await.unwrap().formats,
        NEW,
        "it was upgraded"
    );
    let mut other = redis::cmd("HSET");
    other.arg("vestibule:{deployment}:formats").arg("other");
    other.arg(format!("{} no JSON", world.clock.now_ms()));
    world.server.ask::<u64>(&other).await;
    assert_eq!(
        world.store.announce("new", reading(NEW)).await.unwrap().formats,
        Formats::default()
    );
}

async fn a_service_that_runs_no_more_holds_nobody_back(world: World) {
    world.store.announce("old", reading(OLD)).await.unwrap();
    world.seconds(60);
    assert_eq!(world.store.announce("new", reading(NEW)).await.unwrap().formats, OLD);
    world.clock.advance_ms(1);
    assert_eq!(world.store.announce("new", reading(NEW)).await.unwrap().formats, NEW);
    let left = redis::cmd("HLEN").arg("vestibule:{deployment}:formats").to_owned();
    assert_eq!(world.server.ask::<u64>(&left).await, 1);
}

async fn a_snapshot_says_its_format(world: World) {
    world.open(patient(1)).await;
    assert_eq!(world.snapshot().await.format, Formats::WRITTEN.snapshot);
}

async fn who_reads_no_keys_on_a_curve_is_named_while_it_runs(world: World) {
    let named = async || world.store.reads_no_es256().await.unwrap();
    world.store.announce("like-us", Announcement::OURS).await.unwrap();
    assert_eq!(named().await, None);
    let older = Announcement { es256: false, ..Announcement::OURS };
    world.store.announce("older", older).await.unwrap();
    assert_eq!(named().await.as_deref(), Some("older"));
    world.store.announce_stop("older", true).await.unwrap();
    assert_eq!(named().await, None);
    world.store.announce("older", older).await.unwrap();
    world.seconds(61);
    assert_eq!(named().await, None, "it runs no more");
}

async fn nobody_starts_beside_a_release_that_it_cannot_read(world: World) {
    let ours = Announcement::OURS;
    world.store.announce("like-us", ours).await.unwrap();
    world.store.announce("older", reading(ours.reads)).await.unwrap();
    world.store.check_formats(ours).await.unwrap();
    let next = Formats { snapshot: ours.reads.snapshot + 1, ..ours.reads };
    // The next release reads both and writes as we do; the one after it writes what we cannot read.
    world.store.check_formats(Announcement { reads: next, ..ours }).await.unwrap();
    let after = Announcement { reads: next, writes: next, ..ours };
    let refused = world.store.check_formats(after).await.unwrap_err();
    let StoreError::Incompatible { instance, .. } = &refused else { panic!("{refused}") };
    assert_eq!(&**instance, "like-us", "{refused}");
    world.store.announce("a-future-one", after).await.unwrap();
    let refused = world.store.check_formats(ours).await.unwrap_err().to_string();
    assert!(refused.starts_with("a-future-one runs, and it writes snapshots"), "{refused}");
    world.store.announce_stop("a-future-one", true).await.unwrap();
    world.store.check_formats(ours).await.unwrap();
    world.store.announce("a-future-one", after).await.unwrap();
    world.seconds(61);
    world.store.check_formats(ours).await.unwrap();
}
