//! Whoever was inside a room that fails open.

use vestibule_domain::OnRedisFailure;
use vestibule_store::EndedAs;

use super::{ALL, World};
use crate::flows::{CookieChange, Solution, Status};

/// Longer than a session lasts, seconds.
const OVER: u64 = 301;

#[tokio::test(start_paused = true)]
async fn whose_session_has_run_out_enters_like_anybody_where_the_room_fails_open() {
    let rooms = [("closed", OnRedisFailure::Closed), ("open", OnRedisFailure::Open)];
    let world = World::with(&rooms).await;
    let flows = &world.admission.flows;
    let (closed, open) = (world.enter("closed").await, world.enter("open").await);
    world.pass(OVER).await;
    world.model.take_away(&ALL);
    let kept = [
        flows.check_in(&world.room("open"), open).await.unwrap(),
        flows.enter(&world.room("open"), Some(open), Solution::NONE).await.unwrap(),
    ];
    for answer in kept {
        assert_eq!((answer.status.status, answer.status.queue_number), (Status::Admitted, 0));
        assert_eq!(answer.cookie, CookieChange::Keep(open));
    }
    let refused = flows.check_in(&world.room("closed"), closed).await.unwrap_err();
    assert!(refused.is_temporary(), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn whose_session_was_ended_is_told_so_where_the_room_fails_open() {
    let world = World::with(&[("open", OnRedisFailure::Open)]).await;
    let (flows, ticket) = (&world.admission.flows, world.enter("open").await);
    flows.leave(&world.room("open"), ticket, EndedAs::Completed).await.unwrap();
    world.pass(OVER).await;
    world.model.take_away(&ALL);
    let answer = flows.check_in(&world.room("open"), ticket).await.unwrap();
    assert_eq!(answer.status.status, Status::Closed);
}
