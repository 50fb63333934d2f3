//! A session that Redis has lost: nobody has a record of it, and its number alone is known.

use vestibule_domain::{
    OnRedisFailure,
    reconciliation::{Evidence, Finding, Testimony, UNSEEN_NUMBERS},
};
use vestibule_store::{EndedAs, Round};

use super::World;
use crate::{flows::Status, state::Admission};

/// The term of the leader who puts the room together anew.
const LEADER: u64 = 2;

impl World {
    /// Redis loses everything, and the room is put together anew by what `admission` has seen of its counters.
    async fn lose_all(&self, admission: &Admission, name: &str) {
        let (store, seen) = (&admission.store, admission.flows.room(name).unwrap().snapshot);
        let room = &seen.room;
        let config = store.read_config(room).await.unwrap().unwrap();
        self.model.lose_all();
        let testimony = Testimony {
            stamp: seen.stamp(),
            last: (*seen).clone(),
            queue_counter: seen.queue_counter,
            serving_counter: seen.serving_counter,
            served_at: seen.stamp().age(),
            admitted: seen.admitted,
            known_upto: 0,
        };
        let round = Round { room, name: "r", epoch: LEADER };
        let called = store.call_witnesses(room, LEADER, "r").await.unwrap();
        let evidence = Evidence {
            stored: called.stored.as_ref(),
            is_partial: called.is_partial,
            testimonies: &[testimony],
            is_one_silent: false,
            is_one_gone: false,
            gap: UNSEEN_NUMBERS,
            unseen: called.unseen,
            buried: 0,
        };
        let Finding::IsBehind(to) = evidence.find() else { panic!("nothing was lost") };
        assert!(store.reconcile(round, &to, &config).await.unwrap());
        assert!(store.rebuild(round, to.latest.reset_epoch, &[], &[], Some).await.unwrap());
        assert!(store.reopen(round, Some(&to), &[]).await.unwrap());
        hear(admission, name).await;
    }
}

/// The admission hears of the room as it is.
async fn hear(admission: &Admission, name: &str) {
    let room = &admission.flows.room(name).unwrap().snapshot.room;
    let snapshot = admission.store.read_snapshot(room).await.unwrap().unwrap();
    admission.feed.receive(snapshot).await;
}

#[tokio::test(start_paused = true)]
async fn whoever_has_left_a_seat_of_which_no_record_is_left_does_not_come_back() {
    let world = World::with(&[("sale", OnRedisFailure::Closed)]).await;
    let ticket = world.enter("sale").await;
    let other = world.another().await;
    world.lose_all(&other, "sale").await;
    let (flows, room) = (&other.flows, || other.flows.room("sale").unwrap());
    assert_eq!(room().snapshot.unconfirmed, 1);
    flows.leave(&room(), ticket, EndedAs::Revoked).await.unwrap();
    let after = flows.check_in(&room(), ticket).await.unwrap();
    assert_eq!(after.status.status, Status::Closed);
    hear(&other, "sale").await;
    let left = room().snapshot;
    assert_eq!((left.active, left.unconfirmed), (0, 0), "its seat is free");
}
