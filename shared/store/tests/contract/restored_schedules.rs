//! What a room that is put together anew knows of its schedule: which phase is under way, and for which draw people wait.

use vestibule_domain::{reconciliation::Finding, schedule::Event};

use crate::{
    draws::{ENDS, collected, ms, sale},
    restoring::wipe_and_reconcile,
    world::{World, limited, testimony},
};

/// The term of the leader who puts rooms together.
const LEADER: u64 = 2;

crate::on_every_server!(
    a_pool_that_comes_back_after_its_event_waits_for_the_same_draw,
    a_pool_that_was_kept_waits_for_the_draw_that_is_on_record,
    a_room_that_is_put_together_anew_is_in_the_phase_that_has_begun,
);

/// The event is suspended when Redis loses everything.
async fn a_pool_that_comes_back_after_its_event_waits_for_the_same_draw(world: World) {
    collected(&world, limited(5), 8).await;
    world.schedule(limited(5), &[Event { suspended: true, ..sale() }]).await;
    assert_eq!(world.snapshot().await.event, None);
    wipe_and_reconcile(&world, |_| {}, &[]).await;
    let pool = world.try_begin(LEADER).await.unwrap().pool;
    assert_eq!((pool.first, pool.last, pool.draw_id.as_str()), (1, 8, "d1"));
}

/// The event is withdrawn, and then the room is put together anew.
async fn a_pool_that_was_kept_waits_for_the_draw_that_is_on_record(world: World) {
    collected(&world, limited(5), 8).await;
    world.schedule(limited(5), &[]).await;
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    let found = world.reconcile(&[seen], &["silent"], &config).await;
    assert!(matches!(found, Finding::IsBehind(_)), "{found:?}");
    let pool = world.try_begin(LEADER).await.unwrap().pool;
    assert_eq!((pool.first, pool.last, pool.draw_id.as_str()), (1, 8, "d1"));
}

/// Nobody leads from before the pre-queue until after the event.
async fn a_room_that_is_put_together_anew_is_in_the_phase_that_has_begun(world: World) {
    world.schedule(limited(5), &[sale()]).await;
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.at(ms(ENDS + 10));
    assert!(world.snapshot().await.event.is_some(), "the second phase that was written");
    let found = world.reconcile(&[seen], &["silent"], &config).await;
    assert!(matches!(found, Finding::IsBehind(_)), "{found:?}");
    let room = world.snapshot().await;
    assert_eq!((room.event, room.settings), (None, limited(5)));
}
