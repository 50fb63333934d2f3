//! A ticket that may be of after a reset, while Redis cannot be asked whether there was one.

use axum::{
    http::{
        HeaderMap, HeaderValue,
        header::{COOKIE, SET_COOKIE},
    },
    response::IntoResponse,
};
use vestibule_domain::OnRedisFailure;
use vestibule_runtime::problem::ProblemType;

use super::{ALL, World};
use crate::{
    extractors::PresentedTicket,
    flows::{RoomContext, Solution, Status},
    responses::VisitorReply,
};

/// Somebody's cookie of after a reset of which the admission has not heard.
async fn with_a_later_cookie(on_redis_failure: OnRedisFailure) -> (World, RoomContext, HeaderMap) {
    let world = World::with(&[("sale", on_redis_failure)]).await;
    let ticket = world.enter("sale").await;
    let mut room = world.room("sale");
    room.caller.https = false;
    let later = room.snapshot.reset_epoch + 1;
    let ciphers = world.admission.flows.ciphers.get(&room.snapshot.room, later);
    let cookie = format!("vestibule_sale={}", ciphers.tickets.seal(&ticket));
    let headers = HeaderMap::from_iter([(COOKIE, HeaderValue::try_from(cookie).unwrap())]);
    (world, room, headers)
}

#[tokio::test(start_paused = true)]
async fn who_may_have_a_place_enters_without_one_where_the_room_fails_open_and_keeps_it() {
    // Redis may answer again before the join.
    for comes_back in [false, true] {
        let (world, mut room, headers) = with_a_later_cookie(OnRedisFailure::Open).await;
        let flows = &world.admission.flows;
        world.model.take_away(&ALL);
        let presented = PresentedTicket::read(flows, &mut room, &headers).await.unwrap();
        assert!(presented.value().is_none());
        if comes_back {
            world.model.mend();
        }
        let response = flows.join(&room, presented.value(), Solution::NONE).await.unwrap();
        assert_eq!((response.status.status, response.status.queue_number), (Status::Admitted, 0));
        let reply = VisitorReply { room: &room, presented: &presented, response: &response };
        let answer = reply.into_response();
        assert!(!answer.headers().contains_key(SET_COOKIE), "{:?}", answer.headers());
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_is_told_that_a_ticket_is_void_which_cannot_be_opened_now() {
    let (world, mut room, headers) = with_a_later_cookie(OnRedisFailure::Open).await;
    world.model.take_away(&ALL);
    let presented = PresentedTicket::read(&world.admission.flows, &mut room, &headers).await;
    let refused = presented.unwrap().require().unwrap_err();
    assert_eq!(refused.kind(), ProblemType::RedisUnavailable);
    let (world, mut room, headers) = with_a_later_cookie(OnRedisFailure::Closed).await;
    world.model.take_away(&ALL);
    let flows = &world.admission.flows;
    let refused = PresentedTicket::read(flows, &mut room, &headers).await.unwrap_err();
    assert!(refused.is_temporary(), "{refused}");
}
