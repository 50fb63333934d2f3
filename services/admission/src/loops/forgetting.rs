//! Forgets what this instance keeps by room, if nobody will ask for it again: of rooms that the feed does not know any
//! more, and batchers that have nothing to do. What is kept of rooms that are there is not bounded here.

use std::time::Duration;

use tokio::time::sleep;
use vestibule_domain::RoomId;

use crate::state::Admission;

/// How often. What is forgotten too early is only made, or read, once more.
const EVERY: Duration = Duration::from_mins(1);

/// Forgets now and then, for as long as the service runs.
pub(crate) async fn run(admission: &Admission) {
    loop {
        sleep(EVERY).await;
        forget_rooms(admission);
        drop_idle_batchers(admission);
    }
}

/// A room that Redis has lost is still known to the feed; only a deleted one is not.
fn forget_rooms(Admission { feed, flows, pages, draws, .. }: &Admission) {
    let is_there = |room: &RoomId| feed.room(room.as_str()).is_some();
    flows.ciphers.retain_rooms(is_there);
    flows.joins.retain_rooms(is_there);
    flows.check_ins.retain_rooms(is_there);
    pages.brandings.retain_rooms(is_there);
    draws.retain_rooms(is_there);
}

/// Also of rooms that are there: some batchers are of one reset epoch.
fn drop_idle_batchers(Admission { flows, .. }: &Admission) {
    flows.joins.drop_idle();
    flows.held_claims.drop_idle();
    flows.touches.drop_idle();
    flows.leaves.drop_idle();
    flows.places.drop_idle();
    flows.claim_windows.drop_idle();
    flows.spends.drop_idle();
}
