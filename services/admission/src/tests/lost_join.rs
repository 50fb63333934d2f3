//! A join whose answer is lost, and which is refused when it is sent again.

use vestibule_domain::OnRedisFailure;
use vestibule_store::{JoinMode, StoreError};

use super::World;
use crate::batching::JoinReply;

#[tokio::test(start_paused = true)]
async fn the_number_of_a_lost_answer_is_given_to_the_next_whatever_came_of_asking_again() {
    let world = World::with(&[("sale", OnRedisFailure::Closed)]).await;
    let room = &world.room("sale").snapshot.room;
    let join = async || world.admission.flows.joins.join(room, JoinMode::Enter, None).await;
    world.model.lose_one_and_refuse();
    let refused = join().await;
    assert!(matches!(refused, Err(StoreError::Rewound)), "{refused:?}");
    world.model.mend();
    let joined = join().await;
    let Ok(JoinReply::Joined(newcomer)) = joined else { panic!("{joined:?}") };
    assert_eq!(newcomer.place.number, 1, "the first one got it, and was never told");
    assert!(newcomer.token.is_some(), "and its seat");
}
