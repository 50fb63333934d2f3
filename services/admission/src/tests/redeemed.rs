//! A token that was redeemed is shown again and again.

use vestibule_domain::{OnRedisFailure, Redemption};
use vestibule_store::RedeemOutcome;

use super::{START_MS, World};
use crate::flows::Redeemer;

#[tokio::test(start_paused = true)]
async fn of_a_session_that_was_redeemed_redis_is_asked_once() {
    let world = World::with(&[("sale", OnRedisFailure::Closed)]).await;
    let ticket = world.enter("sale").await;
    let (flows, room) = (&world.admission.flows, world.room("sale"));
    let redeemer = Redeemer::of_ticket(&room, &ticket).unwrap().unwrap();
    let redeem = async |call| flows.redeem(&room, &redeemer, call).await;
    assert_eq!(redeem(Some("order-1")).await.unwrap(), RedeemOutcome::Redeemed);
    let Ok(RedeemOutcome::Already(before)) = redeem(None).await else { panic!("not by this one") };
    assert_eq!(before, Redemption { at: START_MS / 1000, ..before });
    let asked = world.admission.store.calls();
    for call in [None, Some("order-2"), Some("order-3")] {
        assert_eq!(redeem(call).await.unwrap(), RedeemOutcome::Already(before));
    }
    assert_eq!(world.admission.store.calls(), asked, "it is known");
    assert_eq!(redeem(Some("order-1")).await.unwrap(), RedeemOutcome::Redeemed, "its own call");
}
