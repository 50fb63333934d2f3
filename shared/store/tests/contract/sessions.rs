//! Sessions: how long they live, to the second, and what stays of them.

use vestibule_domain::{QueueingMethod, RoomSettings, SeatEnds};
use vestibule_store::{
    CallerBindings, Claim, ClaimOutcome, Departure, EndedAs, Ending, Join, JoinMode, Round,
    SessionKind, Store, Touch, Touched,
};

use crate::world::{World, limited, newcomers, token};

crate::on_every_server!(
    an_aws_style_session_lives_as_long_as_its_token,
    an_idle_visitor_loses_its_seat_and_a_seen_one_keeps_it,
    a_token_never_outlives_its_session,
    a_left_seat_is_free_at_once,
    a_seat_outlasts_its_session_as_long_as_the_token,
    an_aws_style_token_keeps_its_seat_and_a_visitors_own_does_not,
    all_seats_that_outlast_their_sessions_are_counted,
    a_seat_that_outlasts_its_session_does_so_after_everybody_has_told,
    a_join_that_is_sent_again_tells_of_no_session_that_has_ended_since,
    a_revoked_seat_is_free_at_once_and_not_taken_again,
    without_renewal_a_session_ends_at_its_time_however_busy,
    renewal_can_be_switched_while_people_are_inside,
    when_renewal_ends_a_session_ends_with_its_token,
    a_revoked_number_never_enters_again_by_any_route,
);

async fn an_aws_style_session_lives_as_long_as_its_token(world: World) {
    world.open(limited(5)).await;
    world.join(1, JoinMode::Queue).await;
    let first = token(world.claim(1, SessionKind::AwsStyle).await);
    world.seconds(3600);
    assert_eq!(world.snapshot().await.active, 1, "expires >= now still counts");
    assert_eq!(world.store.expired_tokens(&world.room).await.unwrap(), [""; 0]);
    world.seconds(1);
    assert_eq!(world.snapshot().await.active, 0);
    assert_eq!(world.store.expired_tokens(&world.room).await.unwrap(), ["id-1"]);
    world.tick(1).await;
    assert_eq!(token(world.claim(1, SessionKind::AwsStyle).await), first, "the same, expired");
    assert_eq!(world.snapshot().await.active, 0, "and no seat for it");
    world.seconds(24 * 3600);
    world.tick(1).await;
    assert_eq!(world.claim(1, SessionKind::AwsStyle).await, ClaimOutcome::SessionEnded);
}

async fn touch(world: &World, number: u64, seconds: (u64, u64), generation: u32) -> Touched {
    let touch = Touch {
        reset_epoch: world.reset_epoch().await,
        number,
        position: number,
        generation,
        issued_at: seconds.0,
        expires_at: seconds.1,
        max_session_seconds: None,
        caller: CallerBindings::default(),
    };
    world.store.touch(&world.room, "k2", "https://issuer", &[touch]).await.unwrap().remove(0)
}

async fn an_idle_visitor_loses_its_seat_and_a_seen_one_keeps_it(world: World) {
    world.open(limited(5)).await;
    let joined = world.join(2, JoinMode::Enter).await;
    let times = (joined.issued_at, joined.expires_at);
    for _ in 0..10 {
        world.seconds(100);
        assert!(touch(&world, 2, times, 1).await.session.is_some());
    }
    assert_eq!(world.snapshot().await.active, 1, "number 1 was never seen again");
    assert_eq!(touch(&world, 1, times, 1).await.session, None);
    world.seconds(300);
    assert!(touch(&world, 2, times, 1).await.session.is_some(), "not yet over");
    world.seconds(301);
    assert_eq!(touch(&world, 2, times, 1).await.session, None);
}

async fn a_token_never_outlives_its_session(world: World) {
    world.open(limited(5)).await;
    let joined = world.join(1, JoinMode::Enter).await;
    let times = (joined.issued_at, joined.expires_at);
    let mut renewed = 0;
    let mut last = joined.expires_at;
    for _ in 0..20 {
        world.seconds(40);
        let token = touch(&world, 1, times, 1).await.session.unwrap();
        renewed += u32::from(token.expires_at != last);
        last = token.expires_at;
    }
    assert!((3..=6).contains(&renewed), "renewed in the second half of its life: {renewed}");
    // Idle until the token has expired: the session outlasts it.
    world.seconds(last - world.clock.now_ms() / 1000);
    assert_eq!(world.snapshot().await.active, 1);
}

async fn a_left_seat_is_free_at_once(world: World) {
    world.open(limited(1)).await;
    world.join(1, JoinMode::Enter).await;
    let departure = Departure { number: 1, ended_as: EndedAs::Completed, seat: SeatEnds::AtOnce };
    let epoch = world.reset_epoch().await;
    world.store.leave(&world.room, epoch, &[departure]).await.unwrap();
    assert_eq!(world.join(1, JoinMode::Enter).await.seated, 1);
    assert_eq!(world.claim(1, SessionKind::Visitor).await, ClaimOutcome::SessionEnded);
}

/// A gateway that verifies tokens by itself lets in whoever has left, until its token ends.
async fn a_seat_outlasts_its_session_as_long_as_the_token(world: World) {
    world.open(limited(1)).await;
    let joined = world.join(1, JoinMode::Enter).await;
    // Renewed, the session outlives the token.
    world.seconds(100);
    let times = (joined.issued_at, joined.expires_at);
    assert_eq!(touch(&world, 1, times, 1).await.session.unwrap().expires_at, joined.expires_at);
    let departure =
        Departure { number: 1, ended_as: EndedAs::Abandoned, seat: SeatEnds::WithToken };
    let epoch = world.reset_epoch().await;
    let leave = async || world.store.leave(&world.room, epoch, &[departure]).await.unwrap();
    assert_eq!((leave().await, leave().await), (vec![true], vec![false]), "once is enough");

    // The session is over, whatever comes.
    assert_eq!(touch(&world, 1, times, 1).await.session, None);
    assert_eq!(world.claim(1, SessionKind::Visitor).await, ClaimOutcome::SessionEnded);
    // Its seat is taken, for all that counts.
    let seats = async || {
        (world.snapshot().await.active, world.store.kept_seats(&world.room).await.unwrap())
    };
    assert_eq!(seats().await, (1, 1));
    assert_eq!(world.join(1, JoinMode::Enter).await.seated, 0);
    world.tick(1).await;
    world.at(joined.expires_at * 1000 + 999);
    assert_eq!(seats().await, (1, 1), "to the end of the second in which the token expires");
    world.clock.advance_ms(1);
    assert_eq!(seats().await, (0, 0));
    token(world.claim_served(2).await);
    world.tick(1).await;
    assert_eq!(seats().await, (1, 0));
}

async fn an_aws_style_token_keeps_its_seat_and_a_visitors_own_does_not(world: World) {
    world.open(limited(5)).await;
    world.join(1, JoinMode::Enter).await;
    world.join(1, JoinMode::Queue).await;
    let aws = token(world.claim(2, SessionKind::AwsStyle).await);
    let departures = [1, 2].map(|number| Departure {
        number,
        ended_as: EndedAs::Completed,
        seat: SeatEnds::WithAwsStyleToken,
    });
    let epoch = world.reset_epoch().await;
    assert_eq!(world.store.leave(&world.room, epoch, &departures).await.unwrap(), [true, true]);
    assert_eq!(world.snapshot().await.active, 1);
    assert_eq!(world.store.kept_seats(&world.room).await.unwrap(), 1);
    assert_eq!(world.claim(2, SessionKind::AwsStyle).await, ClaimOutcome::SessionEnded);
    world.at((aws.expires_at + 1) * 1000);
    assert_eq!(world.snapshot().await.active, 0);
}

/// More than a page of them.
async fn all_seats_that_outlast_their_sessions_are_counted(world: World) {
    world.open(limited(2_000)).await;
    world.join(1_201, JoinMode::Enter).await;
    let leaving = |number| Departure {
        number,
        ended_as: EndedAs::Completed,
        seat: if number % 3 == 0 { SeatEnds::AtOnce } else { SeatEnds::WithToken },
    };
    let departures: Vec<_> = (1..=1_200).map(leaving).collect();
    let epoch = world.reset_epoch().await;
    world.store.leave(&world.room, epoch, &departures).await.unwrap();
    assert_eq!(world.store.kept_seats(&world.room).await.unwrap(), 800);
    assert_eq!(world.snapshot().await.active, 801);
}

/// Whoever tells late that a session has ended, of which it is known, frees no seat that lasts with its token.
async fn a_seat_that_outlasts_its_session_does_so_after_everybody_has_told(world: World) {
    world.open(limited(1)).await;
    let joined = world.join(1, JoinMode::Enter).await;
    let departure = Departure { number: 1, ended_as: EndedAs::Revoked, seat: SeatEnds::WithToken };
    let epoch = world.reset_epoch().await;
    world.store.leave(&world.room, epoch, &[departure]).await.unwrap();
    let late = Round { room: &world.room, name: "", epoch: 1 };
    let ending = Ending::of_session(1, joined.expires_at);
    assert!(world.store.rebuild(late, epoch, &[], &[ending], Some).await.unwrap());
    assert_eq!(world.snapshot().await.active, 1);
    assert_eq!(world.store.kept_seats(&world.room).await.unwrap(), 1);
}

async fn a_revoked_seat_is_free_at_once_and_not_taken_again(world: World) {
    world.open(limited(2)).await;
    world.join(1, JoinMode::Enter).await;
    world.join(1, JoinMode::Queue).await;
    token(world.claim(2, SessionKind::AwsStyle).await);
    let revoke = [1, 2, 3].map(|number| Departure {
        number,
        ended_as: EndedAs::Revoked,
        seat: SeatEnds::AtOnce,
    });
    let epoch = world.reset_epoch().await;
    let leave = || world.store.leave(&world.room, epoch, &revoke);
    assert_eq!(leave().await.unwrap(), [true, true, false]);
    assert_eq!(leave().await.unwrap(), [false, false, false], "once is enough");
    assert_eq!(world.snapshot().await.active, 0);
    assert_eq!(world.claim(1, SessionKind::Visitor).await, ClaimOutcome::SessionEnded);
    assert_eq!(world.claim(2, SessionKind::AwsStyle).await, ClaimOutcome::SessionEnded);
}

/// Touched, and claimed again, every second.
async fn without_renewal_a_session_ends_at_its_time_however_busy(world: World) {
    let fixed = RoomSettings { disable_session_renewal: true, ..limited(5) };
    world.open(fixed).await;
    let joined = world.join(2, JoinMode::Enter).await;
    let times = (joined.issued_at, joined.expires_at);
    assert_eq!(times.1 - times.0, 300);
    for _ in 0..300 {
        world.seconds(1);
        let session = touch(&world, 1, times, 1).await.session.unwrap();
        assert_eq!((session.issued_at, session.expires_at), times);
        let again = token(world.claim(2, SessionKind::Visitor).await);
        assert_eq!((again.issued_at, again.expires_at), times);
    }
    world.at(times.1 * 1000 + 999);
    assert_eq!(
        world.snapshot().await.active,
        2,
        "the second in which its token expires is its last"
    );
    world.clock.advance_ms(1);
    assert_eq!(world.snapshot().await.active, 0);
    assert_eq!(touch(&world, 1, times, 1).await.session, None);
    assert_eq!(world.claim(2, SessionKind::Visitor).await, ClaimOutcome::SessionEnded);
    world.tick(1).await;
    assert_eq!(touch(&world, 1, times, 1).await.session, None);
    assert_eq!(world.claim(2, SessionKind::Visitor).await, ClaimOutcome::SessionEnded);
}

async fn renewal_can_be_switched_while_people_are_inside(world: World) {
    world.open(limited(5)).await;
    let joined = world.join(1, JoinMode::Enter).await;
    let times = (joined.issued_at, joined.expires_at);
    world.seconds(200);
    let renewed = touch(&world, 1, times, 1).await.session.unwrap();
    assert_eq!(renewed.expires_at, times.1 + 200);
    world.put(RoomSettings { disable_session_renewal: true, ..limited(5) }).await;
    world.seconds(290);
    assert_eq!(touch(&world, 1, times, 1).await.session.unwrap(), renewed, "no further");
    world.put(limited(5)).await;
    let again = touch(&world, 1, times, 1).await.session.unwrap();
    assert_eq!(again.expires_at, times.1 + 490);
}

/// In the first half of a token's life its session alone is renewed.
async fn when_renewal_ends_a_session_ends_with_its_token(world: World) {
    world.open(limited(5)).await;
    let joined = world.join(1, JoinMode::Enter).await;
    let times = (joined.issued_at, joined.expires_at);
    world.seconds(100);
    assert_eq!(touch(&world, 1, times, 1).await.session.unwrap().expires_at, times.1);
    world.put(RoomSettings { disable_session_renewal: true, ..limited(5) }).await;
    assert_eq!(touch(&world, 1, times, 1).await.session.unwrap().expires_at, times.1);
    world.at(times.1 * 1000 + 999);
    assert_eq!(world.snapshot().await.active, 1);
    world.clock.advance_ms(1);
    assert_eq!(world.snapshot().await.active, 0);
    assert_eq!(touch(&world, 1, times, 1).await.session, None);
}

async fn a_revoked_number_never_enters_again_by_any_route(world: World) {
    world.open(limited(1)).await;
    let joined = world.join(2, JoinMode::Enter).await;
    let epoch = joined.reset_epoch;
    let revoke = [Departure { number: 1, ended_as: EndedAs::Revoked, seat: SeatEnds::AtOnce }];
    assert_eq!(world.store.leave(&world.room, epoch, &revoke).await.unwrap(), [true]);
    token(world.claim_served(2).await);
    let revoke = [Departure { number: 2, ended_as: EndedAs::Revoked, seat: SeatEnds::AtOnce }];
    assert_eq!(world.store.leave(&world.room, epoch, &revoke).await.unwrap(), [true]);
    assert_eq!(world.snapshot().await.active, 0, "the seat is free at once");
    let open = RoomSettings { queueing_method: QueueingMethod::Passthrough, ..limited(1) };
    for settings in [limited(1), open] {
        world.put(settings).await;
        for number in [1, 2] {
            for won in [false, true] {
                let claim = Claim { won, ..world.claim_now(number).await };
                assert_eq!(world.claims(claim).await, ClaimOutcome::SessionEnded);
            }
            let times = (joined.issued_at, joined.expires_at);
            assert_eq!(touch(&world, number, times, 1).await.session, None);
        }
    }
    assert_eq!(world.snapshot().await.admitted, 2);
}

/// Whoever was ended between the two would be inside again otherwise; the others find their sessions by their numbers.
async fn a_join_that_is_sent_again_tells_of_no_session_that_has_ended_since(world: World) {
    world.open(limited(3)).await;
    let first = Join { call: "a", ..newcomers("here", 4, JoinMode::Enter) };
    // Nobody writes down the answers that were lost.
    let lost = world.server.store(&world.clock);
    let again = Join { again: true, ..first };
    let seated = async |store: &Store, join: &Join<'_>| {
        let joined = store.join(&world.room, join).await.unwrap();
        (joined.first, joined.seated)
    };
    assert_eq!((seated(&lost, &first).await, seated(&lost, &again).await), ((1, 3), (1, 3)));
    world.leave(2).await;
    assert_eq!(seated(&world.store, &again).await, (1, 0));
    world.ripens();
    for (number, is_inside) in [(1, true), (2, false), (3, true)] {
        let claimed = world.claim_served(number).await;
        assert_eq!(
            matches!(claimed, ClaimOutcome::Repeated(_)),
            is_inside,
            "{number}: {claimed:?}"
        );
    }
}
