//! Those who come to the door while others are held there.

use futures_util::future::join_all;
use tokio::time::{Duration, sleep};
use vestibule_domain::{OnRedisFailure, Place};
use vestibule_issuance::Claims;
use vestibule_store::{CallerBindings, Claim, ClaimOutcome, JoinMode, SessionKind, StoreError};

use super::{SEATS, START_MS, World};

/// So many come.
const COME: u64 = 200;

impl World {
    /// What Redis says to the claim of this number, which is held for so long.
    async fn claims(&self, number: u64, held_ms: u64) -> Result<ClaimOutcome, StoreError> {
        let snapshot = self.room("here").snapshot;
        let claim = Claim {
            reset_epoch: snapshot.reset_epoch,
            place: Place { number, entered_at: u32::try_from(START_MS / 1000).unwrap(), region: 0 },
            position: Some(number),
            rank: number,
            draws: 0,
            won: false,
            kind: SessionKind::Visitor,
            held_ms,
            hold: false,
            request_id: String::new(),
            issuer: "https://wait.example".to_owned(),
            validity_seconds: None,
            network: None,
            max_session_seconds: None,
            caller: CallerBindings::default(),
        };
        let answered = self.admission.flows.held_claims.claim(&snapshot.room, claim).await;
        answered.map(|reply| reply.outcome)
    }
}

#[tokio::test(start_paused = true)]
async fn who_comes_to_the_door_while_others_are_asked_for_is_asked_for_next() {
    let world = World::with(&[("here", OnRedisFailure::Closed)]).await;
    for _ in 0..SEATS {
        world.enter("here").await;
    }
    let room = &world.room("here").snapshot.room;
    for _ in 0..COME {
        world.admission.flows.joins.join(room, JoinMode::Queue, None).await.unwrap();
    }
    world.admission.store.increment(room, i64::try_from(COME).unwrap()).await.unwrap();
    world.pass(3).await;
    world.model.slow_down(Duration::from_millis(20));
    let held = world.claims(SEATS + 1, 2_000);
    let come = join_all((2..COME).map(async |nth| {
        sleep(Duration::from_millis(100 + nth)).await;
        world.claims(SEATS + nth, 0).await
    }));
    let (held, come) = tokio::join!(held, come);
    assert!(matches!(held, Ok(ClaimOutcome::NoSeat)), "{held:?}");
    assert!(come.iter().all(|one| matches!(one, Ok(ClaimOutcome::NoSeat))), "{come:?}");
}
