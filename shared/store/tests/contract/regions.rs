//! Regions: where slots come from, and that none is kept from anyone.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use vestibule_domain::{
    RoomSettings,
    regions::{Grants, Shares, Taken, minute_of_history},
    tick::TickDecision,
};
use vestibule_store::{Departure, EndedAs, Join, JoinMode};

use crate::{
    crowd::Chances,
    world::{Leader, World, decided, patient},
};

crate::on_every_server!(
    slots_are_taken_as_the_rule_says,
    grants_are_shares_of_what_is_free,
    nobody_is_queued_while_a_slot_is_free_when_the_crowd_moves,
    limits_hold_exactly_with_three_regions_at_once,
);

const REGIONS: [&str; 5] = ["dublin", "nairobi", "san-jose", "delhi", "anywhere"];

async fn grant(world: &World, grants: &Grants) {
    let tick = world.begin(1).await;
    let decision = TickDecision { grants: grants.clone(), ..decided(&tick.input) };
    world.apply(1, &tick, &decision).await;
}

async fn granted(world: &World) -> Grants {
    let mut read = redis::cmd("HGETALL");
    let mut all: BTreeMap<String, u64> =
        world.server.ask(read.arg("vestibule:room:{sale}:grants")).await;
    let anywhere = all.remove("anywhere").unwrap_or(0);
    let name = |name: String| name.strip_prefix("r:").unwrap().to_owned();
    Grants {
        regions: all.into_iter().map(|(field, slots)| (name(field), slots)).collect(),
        anywhere,
    }
}

/// Random grants and newcomers: the script and `Grants::take` agree on every one.
async fn slots_are_taken_as_the_rule_says(world: World) {
    world.open(patient(1_000_000)).await;
    let mut chances = Chances::new(7);
    for case in 0..150 {
        let some = |chances: &mut Chances| chances.below(3) * chances.below(5);
        let regions = (0..chances.below(5))
            .map(|_| {
                let region = REGIONS[usize::try_from(chances.below(5)).unwrap()];
                (region.to_owned(), some(&mut chances))
            })
            .collect();
        let mut left = Grants { regions, anywhere: some(&mut chances) };
        grant(&world, &left).await;
        assert_eq!(granted(&world).await, left);
        for call in 0..6 {
            let region = REGIONS[usize::try_from(chances.below(5)).unwrap()];
            let wanted = 1 + chances.below(7);
            let before = left.clone();
            let mut expected = left.take(region, wanted);
            // What came free since the grants were made is anywhere's.
            expected.anywhere += wanted - expected.all();
            let joined = world.join_in(region, wanted).await;
            assert_eq!(joined.seated, wanted, "{case}.{call}");
            assert_eq!(joined.taken, expected, "{case}.{call}: {wanted} in {region} of {before:?}");
            assert_eq!(granted(&world).await, left, "{case}.{call}");
        }
    }
}

async fn grants_are_shares_of_what_is_free(world: World) {
    world.open(RoomSettings { new_users_per_minute: Some(200), ..patient(200) }).await;
    world.join_in("san-jose", 20).await;
    world.join_in("london", 30).await;
    world.seconds(120);
    let mut leader = Leader::new(1);
    let minute = minute_of_history(world.clock.now_ms() / 60_000);
    let history = world.store.history(&world.room, minute, minute).await.unwrap();
    leader.tick_state.divide_by(Shares::from_newcomers(&history[&minute].arrivals, Some(200)));
    leader.tick(&world).await;
    let regions = [("london".to_owned(), 22), ("san-jose".to_owned(), 15)];
    assert_eq!(granted(&world).await, Grants { regions: regions.into(), anywhere: 113 });
    let joined = world.join_in("san-jose", 16).await;
    assert_eq!(joined.taken, Taken { own: 15, anywhere: 1, lent: 0 });
    leader.tick(&world).await;
    assert_eq!(granted(&world).await.left(), 134, "a tick grants what is free by then");
    world.put(RoomSettings { queue_all: true, ..patient(200) }).await;
    leader.tick(&world).await;
    assert_eq!(granted(&world).await.left(), 0, "nothing is free in a room that is held");
}

/// From one minute to the next nine of ten newcomers come from another region.
async fn nobody_is_queued_while_a_slot_is_free_when_the_crowd_moves(world: World) {
    world.open(patient(100)).await;
    let mut leader = Leader::new(1);
    let mut chances = Chances::new(11);
    let mut inside: VecDeque<(u64, u64)> = VecDeque::new();
    let (mut lent, mut minute) = (0, 0);
    for step in 0..240_u64 {
        world.seconds(1);
        let now = world.clock.now_ms() / 60_000;
        if now != minute {
            minute = now;
            let past = minute_of_history(now);
            let history = world.store.history(&world.room, past, past).await.unwrap();
            let arrivals = history.get(&past).map(|minute| minute.arrivals.clone());
            leader
                .tick_state
                .divide_by(Shares::from_newcomers(&arrivals.unwrap_or_default(), None));
        }
        let gone: Vec<Departure> = (0..inside.partition_point(|(_, until)| *until <= step))
            .filter_map(|_| inside.pop_front())
            .map(|(number, _)| Departure { number, ended_as: EndedAs::Completed })
            .collect();
        let epoch = world.reset_epoch().await;
        if !gone.is_empty() {
            world.store.leave(&world.room, epoch, &gone).await.unwrap();
        }
        leader.tick(&world).await;
        // Eight newcomers a second, who stay for twelve: 96 of 100 seats.
        for _ in 0..8 {
            let (most, few) = if step < 180 { ("dublin", "delhi") } else { ("delhi", "dublin") };
            let region = if chances.below(10) < 9 { most } else { few };
            let joined = world.join_in(region, 1).await;
            assert_eq!(joined.seated, 1, "{region} at {step} s, {:?}", granted(&world).await);
            lent += joined.taken.lent;
            inside.push_back((joined.first, step + 12));
        }
    }
    assert!(lent > 20, "delhi borrowed {lent} of dublin's");
}

async fn limits_hold_exactly_with_three_regions_at_once(world: World) {
    world.open(RoomSettings { new_users_per_minute: Some(150), ..patient(150) }).await;
    let newcomers: BTreeMap<String, u64> = [("dublin".into(), 80), ("delhi".into(), 20)].into();
    let mut leader = Leader::new(1);
    leader.tick_state.divide_by(Shares::from_newcomers(&newcomers, Some(150)));
    leader.tick(&world).await;
    let world = Arc::new(world);
    for ceiling in [150, 60] {
        world.put(RoomSettings { new_users_per_minute: Some(ceiling), ..patient(150) }).await;
        world.seconds(61);
        let before = world.snapshot().await;
        let arrivals = ["dublin", "nairobi", "delhi"].map(|region| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                let store = world.another_store();
                let mut taken = BTreeMap::from([("seated", 0), ("counted", 0)]);
                for count in (1..=4).cycle().take(100) {
                    let join = Join {
                        call: "",
                        again: false,
                        region,
                        count,
                        mode: JoinMode::Enter,
                        key_id: "k",
                        issuer: "https://issuer",
                        max_session_seconds: None,
                    };
                    let joined = store.join(&world.room, &join).await.unwrap();
                    *taken.get_mut("seated").unwrap() += joined.seated;
                    *taken.get_mut("counted").unwrap() += joined.taken.all();
                }
                taken
            })
        });
        let mut seated = 0;
        for arrival in arrivals {
            let taken = arrival.await.unwrap();
            assert_eq!(taken["seated"], taken["counted"], "every seat came from somewhere");
            seated += taken["seated"];
        }
        let after = world.snapshot().await;
        assert_eq!(seated, ceiling, "every slot, and not one more");
        assert_eq!(after.admitted - before.admitted, ceiling);
        assert_eq!(after.admitted_last_minute, ceiling);
        let end = |number| Departure { number, ended_as: EndedAs::Completed };
        let everyone: Vec<Departure> = (1..=after.queue_counter).map(end).collect();
        world.store.leave(&world.room, after.reset_epoch, &everyone).await.unwrap();
        // The line behind is served, so that the next newcomers find nobody waiting.
        let rest = i64::try_from(after.queue_counter).unwrap() - after.serving_counter;
        world.store.increment(&world.room, rest).await.unwrap();
    }
}
