//! An admission that stood still, or was heard by nobody: visitors could not check in with it meanwhile.

use tokio::time::Duration;
use vestibule_domain::{Announcement, OnRedisFailure};
use vestibule_token::Ticket;

use super::{SEATS, World};
use crate::flows::{Solution, Status};

/// Longer than a room keeps the place of somebody who does not check in.
const AWAY: Duration = Duration::from_secs(400);

impl World {
    /// The ticket of somebody who waits, since others have the seats.
    async fn waits(&self, room: &str) -> Ticket {
        for _ in 0..SEATS {
            self.enter(room).await;
        }
        let flows = &self.admission.flows;
        let joined = flows.join(&self.room(room), None, Solution::NONE).await.unwrap();
        assert_eq!(joined.status.status, Status::Waiting);
        *joined.cookie.ticket().unwrap()
    }

    /// The admission announces itself where a controller does.
    async fn announces_itself(&self) {
        let controller = self.another().await.store;
        let said = Announcement::default;
        // It is heard once a controller has announced itself after it.
        for _ in 0..2 {
            controller.announce("controller-a", said()).await.unwrap();
            self.admission.store.announce("admission-a", said()).await.unwrap();
            self.pass(1).await;
        }
    }

    async fn says(&self, room: &str, ticket: Ticket) -> Status {
        let checked_in = self.admission.flows.check_in(&self.room(room), ticket).await;
        checked_in.unwrap().status.status
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_could_have_checked_in_loses_its_place() {
    let world = World::with(&[("sale", OnRedisFailure::Closed)]).await;
    let ticket = world.waits("sale").await;
    for _ in 0..AWAY.as_secs() / 5 {
        world.announces_itself().await;
        world.pass(5).await;
    }
    assert_eq!(world.says("sale", ticket).await, Status::Expired);
}

#[tokio::test(start_paused = true)]
async fn whoever_could_not_check_in_while_an_admission_stood_still_keeps_its_place() {
    let world = World::with(&[("sale", OnRedisFailure::Closed)]).await;
    let ticket = world.waits("sale").await;
    world.announces_itself().await;
    world.pass(AWAY.as_secs()).await;
    assert_eq!(world.says("sale", ticket).await, Status::Waiting, "at once");
    world.announces_itself().await;
    world.pass(5).await;
    assert_eq!(world.says("sale", ticket).await, Status::Waiting, "and once it is heard again");
}
