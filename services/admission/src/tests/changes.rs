//! What operators have changed while a shard was away from this service.

use vestibule_domain::{OnRedisFailure, SeatEnds};
use vestibule_store::{Revocation, Revoked};

use super::{SEATS, World};
use crate::flows::{Solution, Status};

#[tokio::test(start_paused = true)]
async fn a_revocation_that_could_not_be_read_is_not_said_to_be_applied() {
    let rooms = [("here", OnRedisFailure::Closed), ("there", OnRedisFailure::Closed)];
    let world = World::with(&rooms).await;
    let (feed, store) = (&world.admission.feed, &world.admission.store);
    feed.take_in_changes(|| ()).await.unwrap();
    for _ in 0..SEATS {
        world.enter("here").await;
    }
    let waits =
        world.admission.flows.join(&world.room("here"), None, Solution::NONE).await.unwrap();
    assert_eq!(waits.status.status, Status::Waiting);
    let (number, here) = (waits.status.queue_number, "here".parse().unwrap());
    let known = feed.room("here").unwrap();
    let reset_epoch = known.snapshot().reset_epoch;
    let seat = SeatEnds::AtOnce;
    let revocation = Revocation { reset_epoch, number, position: Some(number), draws: 0, seat };
    assert_eq!(store.revoke(&here, revocation).await.unwrap(), Revoked::Place);
    let first = store.note_change(&here).await.unwrap();
    let second = store.note_change(&"there".parse().unwrap()).await.unwrap();

    world.model.take_away(&["here"]);
    for _ in 0..2 {
        feed.take_in_changes(|| ()).await.unwrap();
        assert_eq!(store.lagging(first).await.unwrap().len(), 1);
        assert!(!known.was_revoked(reset_epoch, number));
    }
    world.model.mend();
    feed.take_in_changes(|| ()).await.unwrap();
    assert!(known.was_revoked(reset_epoch, number));
    assert!(store.lagging(second).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_room_that_cannot_be_read_keeps_no_other_rooms_change_waiting() {
    let rooms = [("here", OnRedisFailure::Closed), ("there", OnRedisFailure::Closed)];
    let world = World::with(&rooms).await;
    let (feed, store) = (&world.admission.feed, &world.admission.store);
    feed.take_in_changes(|| ()).await.unwrap();
    world.model.write_foreign("here", "draws");
    store.note_change(&"here".parse().unwrap()).await.unwrap();
    let last = store.note_change(&"there".parse().unwrap()).await.unwrap();
    assert_eq!(store.lagging(last).await.unwrap().len(), 1);
    feed.take_in_changes(|| ()).await.unwrap();
    assert!(store.lagging(last).await.unwrap().is_empty());
}
