//! Sessions that are bound to their visitor, and sessions that last for a time at most.

use vestibule_domain::{Binding, Redemption, RoomSettings, SeatEnds, SessionNote};
use vestibule_store::{
    CallerBindings, Claim, ClaimOutcome, Departure, EndedAs, JoinMode, RedeemOutcome, SessionKind,
    Touch, Touched,
};

use crate::world::{World, limited, token};

crate::on_every_server!(
    a_session_is_its_callers_alone,
    one_that_is_not_bound_is_bound_by_the_first_who_comes,
    a_key_is_never_asked_for_in_vain,
    of_two_claims_in_one_call_the_first_binds,
    a_session_ends_at_its_age_however_busy,
    one_that_began_before_the_limit_counts_from_its_token,
    an_aws_style_session_is_no_longer_than_a_session_may_be,
    a_session_is_redeemed_once_and_goes_on,
    an_aws_style_session_is_redeemed_and_keeps_its_request_id,
);

fn binding(text: &str) -> Binding {
    text.parse().unwrap()
}

fn caller(texts: &[&str]) -> CallerBindings {
    CallerBindings::any_of(&texts.iter().map(|text| binding(text)).collect::<Vec<_>>())
}

async fn claims(world: &World, number: u64, caller: CallerBindings) -> ClaimOutcome {
    let claim = Claim { caller, ..world.claim_now(number).await };
    world.claims(claim).await
}

async fn touches(world: &World, number: u64, caller: CallerBindings) -> Touched {
    touches_with(world, Touch { caller, ..World::touch_for(number) }).await
}

async fn touches_with(world: &World, touch: Touch) -> Touched {
    let touch = Touch { reset_epoch: world.reset_epoch().await, ..touch };
    world.store.touch(&world.room, "k2", "https://issuer", &[touch]).await.unwrap().remove(0)
}

fn bound(touched: &Touched) -> Option<Binding> {
    touched.session.as_ref().and_then(|record| record.note.binding)
}

/// Somebody has entered by a claim as this caller.
async fn entered(world: &World, caller: CallerBindings) {
    world.open(limited(5)).await;
    world.join(1, JoinMode::Queue).await;
    world.tick(1).await;
    world.ripens();
    let record = token(claims(world, 1, caller.clone()).await);
    let again = token(claims(world, 1, caller).await);
    assert_eq!(again.note, record.note);
}

async fn a_session_is_its_callers_alone(world: World) {
    entered(&world, caller(&["n1"])).await;
    for stranger in [caller(&["n2"]), CallerBindings::unknown()] {
        assert_eq!(claims(&world, 1, stranger.clone()).await, ClaimOutcome::Stranger);
        let touched = touches(&world, 1, stranger).await;
        assert!(touched.is_stranger && touched.session.is_none());
    }
    let under_the_next_secret = touches(&world, 1, caller(&["n3", "n1"])).await;
    assert_eq!(bound(&under_the_next_secret), Some(binding("n3")), "and bound under it");
    assert!(touches(&world, 1, caller(&["n1"])).await.is_stranger);
    let elsewhere = touches(&world, 1, caller(&["u7"])).await;
    assert_eq!(bound(&elsewhere), Some(binding("u7")), "the room binds to something else now");
    let free = touches(&world, 1, CallerBindings::default()).await;
    assert_eq!((bound(&free), free.is_stranger), (None, false), "the room binds to nothing now");
}

async fn one_that_is_not_bound_is_bound_by_the_first_who_comes(world: World) {
    world.open(limited(5)).await;
    world.join(2, JoinMode::Enter).await;
    assert_eq!(bound(&touches(&world, 1, caller(&["n1"])).await), Some(binding("n1")));
    assert_eq!(claims(&world, 1, caller(&["n2"])).await, ClaimOutcome::Stranger);
    let claimed = token(claims(&world, 2, caller(&["n2"])).await);
    assert_eq!(claimed.note.binding, Some(binding("n2")));
    assert!(touches(&world, 2, caller(&["n1"])).await.is_stranger);
}

async fn a_key_is_never_asked_for_in_vain(world: World) {
    entered(&world, caller(&["k1", "n1"])).await;
    for stranger in [caller(&["n1"]), CallerBindings::default(), caller(&["k2", "n1"])] {
        assert!(touches(&world, 1, stranger).await.is_stranger);
    }
    assert_eq!(bound(&touches(&world, 1, caller(&["k1"])).await), Some(binding("k1")));
}

async fn of_two_claims_in_one_call_the_first_binds(world: World) {
    world.open(limited(5)).await;
    world.join(1, JoinMode::Queue).await;
    world.tick(1).await;
    world.ripens();
    let claim = world.claim_now(1).await;
    let of = |text| Claim { caller: caller(&[text]), ..claim.clone() };
    let replies =
        world.store.claim(&world.room, "k", &[of("n1"), of("n2"), of("n1")]).await.unwrap();
    let [first, second, third] = &replies.outcomes[..] else { panic!("{replies:?}") };
    assert!(matches!(first, ClaimOutcome::Entered(_)), "{first:?}");
    assert_eq!(*second, ClaimOutcome::Stranger);
    assert!(matches!(third, ClaimOutcome::Repeated(_)), "{third:?}");
}

async fn a_session_ends_at_its_age_however_busy(world: World) {
    let settings = RoomSettings { max_session_seconds: Some(400), ..limited(1) };
    world.open(settings).await;
    let joined = world.join_for(1, Some(400)).await;
    let began = joined.issued_at;
    let touch = || Touch { max_session_seconds: Some(400), ..World::touch_of(1, &joined) };
    let mut ends = Vec::new();
    for _ in 0..40 {
        world.seconds(10);
        let touched = touches_with(&world, touch()).await;
        let now = touched.now_ms / 1000;
        let Some(record) = touched.session else {
            assert_eq!(now, began + 410, "the second in which it expires is the last");
            break;
        };
        assert!(record.expires_at <= began + 400 && now <= began + 400, "{record:?} at {now}");
        assert_eq!(record.note, SessionNote { began: Some(began), ..SessionNote::default() });
        ends.push(record.expires_at);
    }
    ends.dedup();
    assert_eq!(ends, [began + 300, began + 400]);
    world.seconds(10);
    assert!(touches_with(&world, touch()).await.session.is_none());
    assert_eq!(world.snapshot().await.active, 0, "the seat is free");
}

async fn a_session_is_redeemed_once_and_goes_on(world: World) {
    world.open(limited(2)).await;
    let joined = world.join(2, JoinMode::Enter).await;
    let redeem = async |number, calls: &[u64]| {
        world.store.redeem(&world.room, joined.reset_epoch, number, calls).await.unwrap()
    };
    assert_eq!(redeem(1, &[7]).await, RedeemOutcome::Redeemed);
    let at = joined.issued_at;
    world.seconds(10);
    assert_eq!(redeem(1, &[7]).await, RedeemOutcome::Redeemed, "the same call");
    assert_eq!(redeem(1, &[8]).await, RedeemOutcome::Already(Redemption { at, call: 7 }));
    let under_the_next_secret = redeem(1, &[9, 7]).await;
    assert_eq!(under_the_next_secret, RedeemOutcome::Redeemed, "the same call, too");
    assert_eq!(redeem(2, &[]).await, RedeemOutcome::Redeemed);
    let again = redeem(2, &[]).await;
    let nameless = Redemption { at: at + 10, call: 0 };
    assert_eq!(again, RedeemOutcome::Already(nameless), "without a name it is another call");
    world.seconds(200);
    let renewed =
        touches_with(&world, Touch { caller: caller(&["n1"]), ..World::touch_of(1, &joined) })
            .await;
    let note = renewed.session.unwrap().note;
    assert_eq!(note.redeemed, Some(Redemption { at, call: 7 }), "renewed, and bound");
    assert_eq!(redeem(1, &[8]).await, RedeemOutcome::Already(Redemption { at, call: 7 }));
    assert_eq!(redeem(3, &[1]).await, RedeemOutcome::NoSession);
    let leaves = [Departure { number: 1, ended_as: EndedAs::Completed, seat: SeatEnds::AtOnce }];
    world.store.leave(&world.room, joined.reset_epoch, &leaves).await.unwrap();
    assert_eq!(redeem(1, &[7]).await, RedeemOutcome::NoSession, "it has ended");
    world.seconds(301);
    assert_eq!(redeem(2, &[]).await, RedeemOutcome::NoSession, "it has expired");
}

async fn an_aws_style_session_is_redeemed_and_keeps_its_request_id(world: World) {
    world.open(limited(1)).await;
    let joined = world.join(1, JoinMode::Queue).await;
    world.tick(1).await;
    world.ripens();
    let before = token(world.claim(1, SessionKind::AwsStyle).await);
    let redeemed = world.store.redeem(&world.room, joined.reset_epoch, 1, &[7]).await.unwrap();
    assert_eq!(redeemed, RedeemOutcome::Redeemed);
    let after = token(world.claim(1, SessionKind::AwsStyle).await);
    assert_eq!((after.issued_at, after.expires_at), (before.issued_at, before.expires_at));
    assert!(after.note.redeemed.is_some());
    world.seconds(3_601);
    assert_eq!(world.store.expired_tokens(&world.room).await.unwrap(), ["id-1"]);
}

async fn one_that_began_before_the_limit_counts_from_its_token(world: World) {
    world.open(limited(1)).await;
    let joined = world.join(1, JoinMode::Enter).await;
    world.seconds(100);
    let touch = || Touch { max_session_seconds: Some(350), ..World::touch_of(1, &joined) };
    let record = touches_with(&world, touch()).await.session.unwrap();
    assert_eq!(record.note.began, Some(joined.issued_at));
    world.seconds(100);
    let record = touches_with(&world, touch()).await.session.unwrap();
    assert_eq!(record.expires_at, joined.issued_at + 350);
    assert_eq!(record.note.began, Some(joined.issued_at), "not from its next token");
}

async fn an_aws_style_session_is_no_longer_than_a_session_may_be(world: World) {
    world.open(limited(1)).await;
    world.join(1, JoinMode::Queue).await;
    world.tick(1).await;
    world.ripens();
    let claim = World::claim_of(1, SessionKind::AwsStyle, 0, world.reset_epoch().await);
    let claim = Claim { max_session_seconds: Some(60), validity_seconds: Some(600), ..claim };
    let claim = Claim { place: world.claim_now(1).await.place, ..claim };
    let record = token(world.claims(claim).await);
    assert_eq!(record.expires_at - record.issued_at, 60);
    assert_eq!(record.note, SessionNote::default(), "its request id is no note");
}
