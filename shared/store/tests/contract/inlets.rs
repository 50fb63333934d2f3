//! Inlets: what moves the counter on by itself does so once, by the right number, and never too far.

use vestibule_domain::{
    RoomSettings, SeatEnds,
    inlet::{AlarmState, Period},
};
use vestibule_store::{
    Departure, EndedAs, Feed, InletAlarm, JoinMode, LetIn, PeriodDecision, Replaced, Replacing,
    SessionKind, StoreError,
};

use crate::{
    lost_answers::LosesAnswers,
    restoring::wipe_and_reconcile,
    world::{World, limited, testimony, token},
};

crate::on_every_server!(
    a_period_lets_people_in_once_whoever_leads,
    a_raised_alarm_stops_the_periods_until_it_is_told_that_all_is_well,
    what_is_told_of_an_earlier_moment_changes_no_alarm,
    an_alarm_outlives_a_reset_and_goes_with_its_room,
    who_noted_an_alarm_tells_of_the_latest,
    of_alarms_that_are_put_back_the_latest_counts,
    an_alarm_that_is_lost_alone_is_missed_and_put_back_by_whoever_remembers,
    where_nobody_can_enter_or_limits_decide_a_period_lets_nobody_in,
    as_many_are_served_as_left_and_there_is_room_for,
    three_reports_in_a_row_do_not_serve_too_many,
    those_who_are_served_ahead_of_the_line_count,
    whoever_does_not_come_is_replaced_once_its_time_is_over,
    a_seat_that_outlasts_its_session_counts_no_more,
    reports_at_the_same_time_serve_no_more_than_one_after_the_other,
    a_report_that_comes_again_counts_once,
    a_report_whose_answer_is_lost_counts_once,
    a_long_report_that_was_broken_off_goes_on,
    numbers_that_nobody_holds_are_not_waited_for,
    the_longest_report_counts_as_one,
);

fn period(nth: u64) -> Period {
    Period { name: format!("0-60-{nth}"), increment: 10, kept_seconds: 720 }
}

impl World {
    async fn let_in(&self, nth: u64, leader_epoch: u64) -> Result<PeriodDecision, StoreError> {
        self.store.let_in(&self.room, LetIn { period: &period(nth), leader_epoch }).await
    }

    /// By how much a period moves the counter.
    async fn lets_in(&self, nth: u64) -> u64 {
        self.let_in(nth, 1).await.unwrap().by
    }

    async fn replace(&self, call: &str, exited: u64, gone: &[u64]) -> Replaced {
        self.replace_at(call, exited, gone, SeatEnds::AtOnce).await
    }

    /// A report to an inlet that lets ten people be inside.
    async fn replace_at(&self, call: &str, exited: u64, gone: &[u64], seat: SeatEnds) -> Replaced {
        let leave =
            |number: &u64| Departure { number: *number, ended_as: EndedAs::Completed, seat };
        let departures: Vec<_> = gone.iter().map(leave).collect();
        let reset_epoch = self.reset_epoch().await;
        let replacing = Replacing { reset_epoch, departures: &departures, exited, max_size: 10 };
        self.store.replace_gone(&self.room, call, replacing).await.unwrap()
    }

    async fn enter(&self, numbers: std::ops::RangeInclusive<u64>) {
        for number in numbers {
            token(self.claim(number, SessionKind::AwsStyle).await);
        }
    }
}

async fn a_period_lets_people_in_once_whoever_leads(world: World) {
    world.open(RoomSettings::default()).await;
    let first = world.let_in(1, 1).await.unwrap();
    assert_eq!((first.serving_counter, first.by, first.again), (10, 10, false));
    let again = world.let_in(1, 2).await.unwrap();
    assert_eq!((again.serving_counter, again.by, again.again), (10, 10, true));
    let stale = world.let_in(2, 1).await;
    assert!(matches!(stale, Err(StoreError::Fenced { epoch: 2 })), "{stale:?}");
    world.store.reset(&world.room).await.unwrap();
    assert!(world.let_in(1, 2).await.unwrap().again, "not even after a reset");
    assert_eq!(world.let_in(2, 2).await.unwrap().serving_counter, 10);
    assert_eq!(world.snapshot().await.serving_counter, 10);
}

async fn a_raised_alarm_stops_the_periods_until_it_is_told_that_all_is_well(world: World) {
    world.open(RoomSettings::default()).await;
    assert_eq!(world.store.inlet_alarm(&world.room).await.unwrap(), None);
    let note = async |alarm| {
        world.clock.advance_ms(1);
        let noted = world.store.note_alarm(&world.room, alarm, None).await.unwrap();
        assert_eq!(world.store.inlet_alarm(&world.room).await.unwrap(), Some(noted));
        assert_eq!(noted.alarm, alarm);
    };
    note(AlarmState::Alarm).await;
    assert_eq!(world.lets_in(1).await, 0);
    note(AlarmState::Ok).await;
    assert_eq!(world.lets_in(1).await, 0, "the period was decided");
    assert_eq!(world.lets_in(2).await, 10);
    note(AlarmState::InsufficientData).await;
    assert_eq!(world.lets_in(3).await, 10);
    assert_eq!(world.snapshot().await.serving_counter, 20);
}

async fn what_is_told_of_an_earlier_moment_changes_no_alarm(world: World) {
    world.open(RoomSettings::default()).await;
    let note = async |alarm, at_ms| {
        world.store.note_alarm(&world.room, alarm, Some(at_ms)).await.unwrap().alarm
    };
    assert_eq!(note(AlarmState::Ok, 2_000).await, AlarmState::Ok);
    assert_eq!(note(AlarmState::Alarm, 1_999).await, AlarmState::Ok);
    assert_eq!(note(AlarmState::Alarm, 2_000).await, AlarmState::Alarm);
}

async fn an_alarm_outlives_a_reset_and_goes_with_its_room(world: World) {
    world.open(RoomSettings::default()).await;
    world.store.note_alarm(&world.room, AlarmState::Alarm, None).await.unwrap();
    world.store.reset(&world.room).await.unwrap();
    assert_eq!(world.lets_in(1).await, 0);
    world.store.delete_room(&world.room, None).await.unwrap();
    world.clock.advance_ms(1);
    world.open(RoomSettings::default()).await;
    assert_eq!(world.store.inlet_alarm(&world.room).await.unwrap(), None);
}

async fn who_noted_an_alarm_tells_of_the_latest(world: World) {
    world.open(RoomSettings::default()).await;
    let store = world.another_store();
    let feed = Feed::new(store.clone(), "a".to_owned());
    feed.refresh().await.unwrap();
    for (alarm, at_ms) in [(AlarmState::Ok, 1_000), (AlarmState::Alarm, 2_000)] {
        store.note_alarm(&world.room, alarm, Some(at_ms)).await.unwrap();
    }
    store.note_alarm(&world.room, AlarmState::Ok, Some(1_500)).await.unwrap();
    world.store.call_witnesses(&world.room, 1, "r").await.unwrap();
    feed.testify(&world.room).await.unwrap();
    let told = world.store.accounts(&world.room).await.unwrap()["a"].alarm;
    assert_eq!(told, Some(InletAlarm { alarm: AlarmState::Alarm, at_ms: 2_000 }));
}

async fn of_alarms_that_are_put_back_the_latest_counts(world: World) {
    world.open(RoomSettings::default()).await;
    wipe_and_reconcile(&world, |_| {}, &[]).await;
    let alarm = |alarm, at_ms| InletAlarm { alarm, at_ms };
    let latest = alarm(AlarmState::Alarm, 2_000);
    for seen in [alarm(AlarmState::Ok, 1_999), latest, alarm(AlarmState::Ok, 1_000)] {
        world.store.restore_alarm(&world.room, seen).await.unwrap();
    }
    assert_eq!(world.store.inlet_alarm(&world.room).await.unwrap(), Some(latest));
    assert_eq!(world.let_in(1, 2).await.unwrap().by, 0, "the inlet stands still");
}

async fn an_alarm_that_is_lost_alone_is_missed_and_put_back_by_whoever_remembers(world: World) {
    world.open(RoomSettings::default()).await;
    let alarm = world.store.note_alarm(&world.room, AlarmState::Alarm, None).await.unwrap();
    assert_eq!(world.lets_in(1).await, 0);
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    for (nth, epoch) in [(2, 1), (3, 2)] {
        let lost = redis::cmd("DEL").arg("vestibule:room:{sale}:inlet").to_owned();
        world.server.ask::<()>(&lost).await;
        let missed = world.let_in(nth, epoch).await;
        assert!(matches!(missed, Err(StoreError::Rewound)), "{missed:?}");
        world.reconcile(std::slice::from_ref(&seen), &[], &config).await;
        // The second time nobody remembers.
        if nth == 2 {
            world.store.restore_alarm(&world.room, alarm).await.unwrap();
            assert_eq!(world.let_in(nth, 2).await.unwrap().by, 0, "the inlet stands still");
        }
    }
    assert_eq!(world.let_in(3, 2).await.unwrap().by, 10);
}

async fn where_nobody_can_enter_or_limits_decide_a_period_lets_nobody_in(world: World) {
    let open = RoomSettings::default();
    let held = RoomSettings { queue_all: true, ..open.clone() };
    let off = RoomSettings { suspended: true, ..open.clone() };
    for (nth, settings) in (1..).zip([held, off, limited(5)]) {
        world.put(settings.clone()).await;
        assert_eq!(world.lets_in(nth).await, 0, "{settings:?}");
    }
    assert_eq!(world.replace("limited", 5, &[]).await.by, 0, "the ceiling lets people in");
    world.put(open).await;
    assert_eq!(world.lets_in(9).await, 10);
}

async fn as_many_are_served_as_left_and_there_is_room_for(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(40, JoinMode::Queue).await;
    let first = world.replace("first", 50, &[]).await;
    assert_eq!((first.by, first.serving_counter), (10, 10), "the room is empty");
    world.enter(1..=10).await;
    let full = world.replace("full", 5, &[]).await;
    assert_eq!((full.active, full.awaited, full.by), (10, 0, 0));
    let gone = world.replace("gone", 0, &[1, 2, 2, 77]).await;
    assert_eq!((gone.completed, gone.active, gone.by), (2, 8, 2));
    assert_eq!(gone.ended, [true, true, false, false]);
    world.enter(11..=12).await;
    let more = world.replace("more", 1, &[3, 4, 5]).await;
    assert_eq!((more.completed, more.by), (3, 1), "the site says that one has left");
    let equal = world.replace("equal", 2, &[]).await;
    assert_eq!((equal.active, equal.awaited, equal.by), (7, 1, 2), "exactly as many as fit");
    assert_eq!(world.replace("none", 0, &[]).await.by, 0);
    assert_eq!(world.snapshot().await.serving_counter, 15);
}

async fn three_reports_in_a_row_do_not_serve_too_many(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(40, JoinMode::Queue).await;
    let mut moved = Vec::new();
    for call in ["a", "b", "c"] {
        moved.push(world.replace(call, 5, &[]).await.by);
    }
    assert_eq!(moved, [5, 5, 0]);
    world.enter(1..=10).await;
    world.store.increment(&world.room, 3).await.unwrap();
    world.enter(11..=13).await;
    let over = world.replace("over", 5, &[]).await;
    assert_eq!(
        (over.active, over.by),
        (13, 0),
        "an operator has let more in than there is room for"
    );
}

async fn those_who_are_served_ahead_of_the_line_count(world: World) {
    world.open(RoomSettings::default()).await;
    assert_eq!(world.replace("a", 8, &[]).await.by, 8);
    let ahead = world.replace("b", 8, &[]).await;
    assert_eq!((ahead.awaited, ahead.by), (8, 2));
    world.join(4, JoinMode::Queue).await;
    world.enter(1..=4).await;
    let some = world.replace("c", 8, &[]).await;
    assert_eq!((some.active, some.awaited, some.by), (4, 6, 0));
    world.store.increment(&world.room, -20).await.unwrap();
    let back = world.replace("d", 8, &[]).await;
    assert_eq!((back.active, back.awaited, back.by), (4, 0, 6), "the counter was taken back");
}

async fn whoever_does_not_come_is_replaced_once_its_time_is_over(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(40, JoinMode::Queue).await;
    world.replace("first", 10, &[]).await;
    world.enter(1..=4).await;
    assert_eq!(world.replace("early", 6, &[]).await.awaited, 6);
    world.seconds(902);
    world.tick(1).await;
    let late = world.replace("late", 20, &[]).await;
    assert_eq!((late.active, late.awaited, late.by), (4, 0, 6));
}

async fn a_seat_that_outlasts_its_session_counts_no_more(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(40, JoinMode::Queue).await;
    world.replace("first", 10, &[]).await;
    world.enter(1..=10).await;
    let gone = world.replace_at("gone", 0, &[1, 2, 3], SeatEnds::WithToken).await;
    assert_eq!((gone.active, gone.by), (7, 3));
    let next = world.replace_at("next", 0, &[4], SeatEnds::WithToken).await;
    assert_eq!((next.active, next.awaited, next.by), (6, 3, 1));
    assert_eq!(world.snapshot().await.active, 10, "their tokens open gateways still");
}

async fn reports_at_the_same_time_serve_no_more_than_one_after_the_other(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(40, JoinMode::Queue).await;
    let calls = ["a", "b", "c", "d"];
    let all = calls.map(|call| world.replace(call, 4, &[]));
    let moved: u64 = futures_util::future::join_all(all).await.iter().map(|one| one.by).sum();
    assert_eq!(moved, 10);
    assert_eq!(world.snapshot().await.serving_counter, 10);
}

async fn a_report_that_comes_again_counts_once(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(40, JoinMode::Queue).await;
    world.replace("first", 4, &[]).await;
    world.enter(1..=4).await;
    let gone = world.replace("gone", 0, &[1, 2]).await;
    let again = world.replace("gone", 0, &[1, 2]).await;
    assert_eq!((again.again, again.by, again.completed), (true, gone.by, gone.completed));
    assert_eq!(world.snapshot().await.serving_counter, 6);
}

async fn a_report_whose_answer_is_lost_counts_once(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(40, JoinMode::Queue).await;
    world.replace("loads", 1, &[]).await;
    let (store, link) = LosesAnswers::of(&world);
    let reset_epoch = world.reset_epoch().await;
    let replacing = Replacing { reset_epoch, departures: &[], exited: 4, max_size: 10 };
    let call = async |name| store.replace_gone(&world.room, name, replacing).await;
    // What is read first, and then both times that it is sent.
    link.lose_after(1, 2);
    assert!(matches!(call("mine").await, Err(StoreError::Unavailable(_))));
    assert!(call("mine").await.unwrap().again);
    assert_eq!(world.snapshot().await.serving_counter, 5);
    // And only the first time.
    link.lose_after(1, 1);
    let first = call("first").await.unwrap();
    assert_eq!((first.by, first.again), (4, false), "it was this very call's first attempt");
}

async fn numbers_that_nobody_holds_are_not_waited_for(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(4, JoinMode::Queue).await;
    let before = world.snapshot().await;
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    world.join(4, JoinMode::Queue).await;
    assert!(world.snapshot().await.skipped > 0, "a gap above {}", before.queue_counter);
    let first = world.replace("first", 6, &[]).await;
    assert_eq!((first.by, first.awaited), (6, 0));
    let second = world.replace("second", 6, &[]).await;
    assert_eq!((second.by, second.awaited), (4, 6), "the counter has skipped the gap");
}

/// Ten are inside, of whom five are told of in the first part of this report, and five in the last.
async fn a_report_in_parts(world: &World) -> Vec<u64> {
    world.open(RoomSettings::default()).await;
    world.join(1_000, JoinMode::Queue).await;
    world.replace("first", 10, &[]).await;
    world.enter(1..=10).await;
    [1, 2, 3, 4, 5].into_iter().chain(11..=995).chain(6..=10).collect()
}

/// No script may keep Redis from others for long: that none does is measured in the bench.
async fn the_longest_report_counts_as_one(world: World) {
    let all = a_report_in_parts(&world).await;
    let gone = world.replace("all", 0, &all).await;
    assert_eq!((gone.completed, gone.active, gone.awaited, gone.by), (10, 0, 0, 10));
    let ended: Vec<_> =
        (1..).zip(&gone.ended).filter(|(_, ended)| **ended).map(|(n, _)| n).collect();
    assert_eq!(ended, [1, 2, 3, 4, 5, 991, 992, 993, 994, 995]);
    world.enter(11..=12).await;
    let again = world.replace("all", 0, &all).await;
    assert_eq!((again.again, again.completed, again.by), (true, 10, 10));
    assert_eq!(again.ended.iter().filter(|ended| **ended).count(), 0, "a report is taken in once");
    assert_eq!(world.snapshot().await.active, 2);
}

async fn a_long_report_that_was_broken_off_goes_on(world: World) {
    let all = a_report_in_parts(&world).await;
    let (store, link) = LosesAnswers::of(&world);
    let reset_epoch = world.reset_epoch().await;
    let (ended_as, seat) = (EndedAs::Completed, SeatEnds::AtOnce);
    let departures: Vec<_> =
        all.iter().map(|number| Departure { number: *number, ended_as, seat }).collect();
    let replacing = Replacing { reset_epoch, departures: &departures, exited: 0, max_size: 10 };
    let call = async || store.replace_gone(&world.room, "mine", replacing).await;
    // Both times that the first part is sent.
    link.lose_after(0, 2);
    assert!(matches!(call().await, Err(StoreError::Unavailable(_))));
    let gone = call().await.unwrap();
    assert_eq!((gone.again, gone.completed, gone.by), (false, 10, 10));
    assert_eq!(gone.ended.len(), 995);
}
