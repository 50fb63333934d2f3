//! A pass for one place, shown for a join that comes to nothing.

use vestibule_domain::{
    OnRedisFailure, RoomSettings,
    challenge::{Challenge, ChallengeMode},
    schedule::RoomConfig,
};

use super::{START_MS, World};
use crate::flows::{FlowError, Sender, Solution};

#[tokio::test(start_paused = true)]
async fn a_pass_that_got_no_place_counts_still() {
    let world = World::with(&[]).await;
    let challenge = Challenge { mode: ChallengeMode::Challenge, ..Challenge::default() };
    let on_redis_failure = OnRedisFailure::Closed;
    let settings = RoomSettings { challenge, on_redis_failure, ..RoomSettings::default() };
    let config = RoomConfig { settings, ..RoomConfig::default() };
    let room = "sale".parse().unwrap();
    world.admission.store.put_config(&room, &config).await.unwrap();
    world.admission.feed.refresh().await.unwrap();
    let pass = world.room("sale").ciphers.challenges.pass(START_MS / 1000 + 600, true);
    let solution = Solution { shown: Some(&pass), sender: Sender::App };
    let join = async || world.admission.flows.join(&world.room("sale"), None, solution).await;
    world.model.refuse("enter");
    let refused = join().await.err();
    assert!(matches!(refused, Some(FlowError::Store(_))), "{refused:?}");
    world.model.mend();
    join().await.unwrap();
    let used = join().await.err();
    assert!(matches!(used, Some(FlowError::ChallengeRequired(_))), "{used:?}");
}
