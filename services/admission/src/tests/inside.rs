//! Whoever is inside, while Redis is away, or a part of it.

use tokio::time::Instant;
use vestibule_domain::OnRedisFailure;
use vestibule_store::EndedAs;

use super::{ALL, World, model::TIMEOUT};
use crate::flows::Status;

/// Longer than a session is taken for alive without asking Redis, and shorter than it lasts, seconds.
const DUE: u64 = 40;

#[tokio::test(start_paused = true)]
async fn who_is_inside_a_room_that_answers_is_asked_after_while_another_room_is_away() {
    for away in [&["here"][..], &["here", "deployment"]] {
        let rooms = [("here", OnRedisFailure::Closed), ("there", OnRedisFailure::Closed)];
        let world = World::with(&rooms).await;
        let flows = &world.admission.flows;
        let ticket = world.enter("there").await;
        world.pass(DUE).await;
        world.model.take_away(away);
        world.admission.feed.refresh().await.unwrap_err();
        assert!(
            !flows.is_inside(&world.room("there"), &ticket),
            "{away:?}: its session is renewed"
        );
        let answer = flows.check_in(&world.room("there"), ticket).await.unwrap();
        assert_eq!((answer.status.status, answer.status.stale), (Status::Admitted, false));
        assert!(world.admission.feed.is_away(&world.room("here").known));
    }
}

#[tokio::test(start_paused = true)]
async fn whose_session_had_ended_before_a_service_started_is_out_there_too() {
    let rooms = [("here", OnRedisFailure::Closed)];
    let world = World::with(&rooms).await;
    let (ended, inside) = (world.enter("here").await, world.enter("here").await);
    let later = world.another().await;
    assert!(later.flows.is_inside(&later.flows.room("here").unwrap(), &ended));
    world.admission.flows.leave(&world.room("here"), ended, EndedAs::Completed).await.unwrap();
    let later = world.another().await;
    let here = later.flows.room("here").unwrap();
    assert!(!later.flows.is_inside(&here, &ended));
    assert!(later.flows.is_inside(&here, &inside));
}

#[tokio::test(start_paused = true)]
async fn while_redis_is_away_those_inside_wait_for_one_time_out_and_then_for_none() {
    let rooms = [("here", OnRedisFailure::Closed), ("there", OnRedisFailure::Closed)];
    let world = World::with(&rooms).await;
    let flows = &world.admission.flows;
    let tickets = [world.enter("here").await, world.enter("there").await];
    world.pass(DUE).await;
    world.admission.feed.refresh().await.unwrap();
    world.model.take_away(&ALL);
    let begun = Instant::now();
    let answer = flows.check_in(&world.room("here"), tickets[0]).await.unwrap();
    assert_eq!((answer.status.status, begun.elapsed()), (Status::Admitted, TIMEOUT));
    assert!(answer.status.stale);
    assert!(flows.is_inside(&world.room("here"), &tickets[0]), "nobody else need find out");
    assert!(!flows.is_inside(&world.room("there"), &tickets[1]), "its Redis may be another");
    world.pass(DUE).await;
    world.admission.feed.refresh().await.unwrap_err();
    assert!(flows.is_inside(&world.room("there"), &tickets[1]), "nothing is heard of it, either");
    world.model.mend();
    world.admission.feed.refresh().await.unwrap();
    for (room, ticket) in ["here", "there"].iter().zip(&tickets) {
        assert!(!flows.is_inside(&world.room(room), ticket), "{room}: Redis can be asked again");
    }
}
