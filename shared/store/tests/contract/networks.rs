//! Limits per network: no network has more newcomers in a minute, places in line or seats than it may, whoever asks and
//! in whatever order, and no other network has less for it.

use std::{collections::BTreeMap, sync::Arc};

use vestibule_domain::{
    QueueingMethod, RoomSettings, SeatEnds,
    network_limits::{NetworkLimit, NetworkLimits},
    serving::Serving,
};
use vestibule_store::{
    Admittance, Claim, ClaimNetwork, ClaimOutcome, Departure, EndedAs, GivenUp, Join, JoinMode,
    Joined,
};

use crate::{
    crowd::Chances,
    world::{Leader, World, limited, newcomers},
};

crate::on_every_server!(
    nobody_comes_too_often_in_a_minute,
    newcomers_of_others_come_all_the_same,
    many_calls_at_once_give_no_more_than_one,
    a_place_counts_until_it_is_used_or_given_back_or_an_hour_is_over,
    what_networks_took_is_what_is_counted_by_hand,
    a_network_that_has_its_seats_waits_and_stops_nobody,
    a_network_that_had_its_seats_already_gets_none_among_others,
    where_everyone_enters_a_network_has_its_seats_all_the_same,
    nobody_waits_for_whom_its_network_keeps_out,
    no_claims_of_one_call_take_more_seats_than_there_are,
    seats_are_free_again_when_their_sessions_are_over,
    what_is_only_counted_stops_nobody,
    a_call_that_is_sent_again_is_answered_as_before,
    a_reset_forgets_what_networks_had,
    networks_without_number_share_counts_and_those_before_keep_theirs,
);

const HERE: u64 = u64::MAX - 1;
const THERE: u64 = 7;

fn limits(joins: u64, places: u64, seats: u64) -> NetworkLimits {
    let [joins_per_minute, places, seats] =
        [joins, places, seats].map(|limit| Some(limit).filter(|limit| *limit > 0));
    NetworkLimits { joins_per_minute, places, seats, only_logs: false }
}

async fn join(world: &World, networks: &[u64], limits: NetworkLimits) -> Joined {
    join_by(world, networks, limits, JoinMode::Enter).await
}

async fn join_by(world: &World, networks: &[u64], limits: NetworkLimits, mode: JoinMode) -> Joined {
    let join = Join { networks, limits, ..newcomers("here", networks.len() as u64, mode) };
    world.store.join(&world.room, &join).await.unwrap()
}

/// The numbers that newcomers were given; 0: they were turned away.
fn numbers(joined: &Joined) -> Vec<u64> {
    let number = |one: &Admittance| match one {
        Admittance::Place(nth) => joined.first + nth,
        Admittance::Over(_) => 0,
    };
    joined.admittances.iter().map(number).collect()
}

fn of(network: u64, seats: u64, claim: Claim) -> Claim {
    let network = ClaimNetwork { digest: network, seats: Some(seats), only_logs: false };
    Claim { network: Some(network), ..claim }
}

async fn nobody_comes_too_often_in_a_minute(world: World) {
    world.open(limited(1)).await;
    let limits = limits(3, 0, 0);
    assert_eq!(numbers(&join(&world, &[HERE; 2], limits).await), [1, 2]);
    world.seconds(25);
    let joined = join(&world, &[HERE; 3], limits).await;
    assert_eq!(numbers(&joined), [3, 0, 0]);
    assert_eq!(joined.admittances[1], Admittance::Over(NetworkLimit::Joins));
    assert_eq!((joined.beyond.joins, joined.beyond.places), (2, 0));
    assert!((35..=45).contains(&joined.wait_s), "two are a minute old then: {}", joined.wait_s);
    world.seconds(34);
    assert_eq!(numbers(&join(&world, &[HERE], limits).await), [0], "not a minute later");
    world.seconds(joined.wait_s - 34);
    assert_eq!(numbers(&join(&world, &[HERE; 3], limits).await), [4, 5, 0]);
}

async fn newcomers_of_others_come_all_the_same(world: World) {
    world.open(limited(1)).await;
    let crowd: Vec<u64> = (1..=300).flat_map(|other| [HERE, other]).collect();
    let joined = join(&world, &crowd, limits(10, 0, 0)).await;
    let numbers = numbers(&joined);
    let has_place = |network| {
        let of_network = crowd.iter().zip(&numbers).filter(move |(one, _)| **one == network);
        of_network.filter(|(_, number)| **number > 0).count()
    };
    assert_eq!(has_place(HERE), 10);
    assert!((1..=300).all(|other| has_place(other) == 1));
    let mut given: Vec<_> = numbers.into_iter().filter(|number| *number > 0).collect();
    assert!(given.is_sorted(), "in the order in which they came");
    given.dedup();
    assert_eq!((given.len(), given[309]), (310, 310), "without a gap");
    assert_eq!(world.snapshot().await.queue_counter, 310);
}

async fn many_calls_at_once_give_no_more_than_one(world: World) {
    world.open(limited(40)).await;
    let world = Arc::new(world);
    let calls = (0..60).map(|nth| {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            let networks = [HERE, THERE, HERE, nth + 100];
            join(&world, &networks, limits(30, 20, 15)).await
        })
    });
    let (mut here, mut there, mut others, mut seated) = (0, 0, 0, 0);
    for call in calls.collect::<Vec<_>>() {
        let joined = call.await.unwrap();
        let given = numbers(&joined);
        here += [given[0], given[2]].iter().filter(|number| **number > 0).count();
        there += usize::from(given[1] > 0);
        others += usize::from(given[3] > 0);
        let is_seated = |nth: usize| given[nth] > 0 && given[nth] < joined.first + joined.seated;
        seated += usize::from(is_seated(0)) + usize::from(is_seated(2));
    }
    assert_eq!(others, 60);
    assert!(here <= 30 && there <= 30, "{here} and {there} newcomers");
    assert!(here >= 20, "{here}: places that were used at once count no more");
    assert!(seated <= 15, "{seated} seats");
}

async fn a_place_counts_until_it_is_used_or_given_back_or_an_hour_is_over(world: World) {
    world.open(limited(1)).await;
    let limits = limits(0, 3, 0);
    assert_eq!(numbers(&join(&world, &[HERE; 5], limits).await), [1, 2, 3, 0, 0]);
    let joined = join(&world, &[HERE; 2], limits).await;
    assert_eq!(numbers(&joined), [4, 0], "the first is inside");
    assert_eq!(joined.admittances[1], Admittance::Over(NetworkLimit::Places));
    // One is used.
    let (epoch, left) = (
        joined.reset_epoch,
        Departure { number: 1, ended_as: EndedAs::Completed, seat: SeatEnds::AtOnce },
    );
    world.store.leave(&world.room, epoch, &[left]).await.unwrap();
    world.tick(1).await;
    world.ripens();
    let claim = of(HERE, 99, world.claim_now(2).await);
    assert!(matches!(world.claims(claim.clone()).await, ClaimOutcome::Entered(_)));
    assert!(matches!(world.claims(claim).await, ClaimOutcome::Repeated(_)));
    assert_eq!(numbers(&join(&world, &[HERE; 2], limits).await), [5, 0]);
    // One is given back, and given back again.
    for _ in 0..2 {
        let place = GivenUp { number: 3, position: Some(3), network: Some(HERE) };
        world.store.give_up(&world.room, (epoch, 0), &[place]).await.unwrap();
    }
    assert_eq!(numbers(&join(&world, &[HERE; 2], limits).await), [6, 0]);
    world.seconds(3_599);
    assert_eq!(numbers(&join(&world, &[HERE], limits).await), [0]);
    world.seconds(601);
    assert_eq!(numbers(&join(&world, &[HERE; 4], limits).await), [7, 8, 9, 0]);
}

/// What a network took, by the steps in which it did: the one under way counts, and six before it.
#[derive(Default)]
struct ByHand {
    joins: BTreeMap<u64, u64>,
    places: BTreeMap<u64, u64>,
}

impl ByHand {
    const LIMITS: (u64, u64) = (9, 14);

    /// What counts still.
    fn at(&mut self, now_ms: u64) -> &mut Self {
        self.joins.retain(|step, _| (step + 7) * 10_000 > now_ms);
        self.places.retain(|step, _| (step + 7) * 600_000 > now_ms);
        self
    }

    /// How many of `count` newcomers of this moment may join.
    fn join(&mut self, now_ms: u64, count: u64) -> u64 {
        let (joins, places) = (self.joins.values().sum::<u64>(), self.places.values().sum::<u64>());
        let left = (Self::LIMITS.0 - joins).min(Self::LIMITS.1 - places);
        *self.joins.entry(now_ms / 10_000).or_default() += left.min(count);
        *self.places.entry(now_ms / 600_000).or_default() += left.min(count);
        left.min(count)
    }

    fn give_back(&mut self) {
        if let Some(count) = self.places.values_mut().find(|count| **count > 0) {
            *count -= 1;
        }
    }
}

async fn what_networks_took_is_what_is_counted_by_hand(world: World) {
    const PAUSES_S: [u64; 7] = [0, 1, 4, 9, 31, 62, 601];
    world.open(RoomSettings { session_duration_seconds: 3_600, ..limited(1) }).await;
    let limits = limits(ByHand::LIMITS.0, ByHand::LIMITS.1, 0);
    let epoch = world.reset_epoch().await;
    let (mut by_hand, mut chances) = (BTreeMap::<u64, ByHand>::new(), Chances::new(7));
    let mut waiting = Vec::new();
    for step in 0..400 {
        world.seconds(PAUSES_S[usize::try_from(chances.below(7)).unwrap()]);
        let now_ms = world.clock.now_ms();
        if chances.below(4) == 0 && !waiting.is_empty() {
            let one = usize::try_from(chances.bits()).unwrap() % waiting.len();
            let (number, network) = waiting.swap_remove(one);
            let place = GivenUp { number, position: Some(number), network: Some(network) };
            world.store.give_up(&world.room, (epoch, 0), &[place]).await.unwrap();
            by_hand.entry(network).or_default().at(now_ms).give_back();
        } else {
            let (network, count) = (1 + chances.below(3), 1 + chances.below(5));
            let may = by_hand.entry(network).or_default().at(now_ms).join(now_ms, count);
            let newcomers = vec![network; usize::try_from(count).unwrap()];
            let joined = join_by(&world, &newcomers, limits, JoinMode::Queue).await;
            let given: Vec<_> = numbers(&joined).into_iter().filter(|number| *number > 0).collect();
            assert_eq!(given.len() as u64, may, "step {step}, network {network}");
            waiting.extend(given.into_iter().map(|number| (number, network)));
        }
    }
}

async fn a_network_that_has_its_seats_waits_and_stops_nobody(world: World) {
    world.open(limited(10)).await;
    let joined = join(&world, &[HERE, HERE, HERE, THERE, THERE], limits(0, 0, 2)).await;
    assert_eq!(joined.seated, 4);
    assert_eq!(numbers(&joined), [1, 2, 5, 3, 4], "whoever may sit comes first");
    world.ripens();
    let claim = of(HERE, 2, world.claim_now(5).await);
    for _ in 0..3 {
        assert_eq!(world.claims(claim.clone()).await, ClaimOutcome::NetworkFull);
    }
    let others = join(&world, &[THERE, 9], limits(0, 0, 3)).await;
    assert_eq!(others.seated, 2, "it does not stand at the door");
    let left = Departure { number: 1, ended_as: EndedAs::Completed, seat: SeatEnds::AtOnce };
    world.store.leave(&world.room, joined.reset_epoch, &[left]).await.unwrap();
    assert!(matches!(world.claims(claim).await, ClaimOutcome::Entered(_)));
}

async fn a_network_that_had_its_seats_already_gets_none_among_others(world: World) {
    world.open(limited(10)).await;
    assert_eq!(join(&world, &[HERE; 2], limits(0, 0, 2)).await.seated, 2);
    let joined = join(&world, &[HERE, 9, THERE, HERE], limits(0, 0, 2)).await;
    assert_eq!((joined.seated, numbers(&joined)), (2, vec![5, 3, 4, 6]));
}

async fn where_everyone_enters_a_network_has_its_seats_all_the_same(world: World) {
    world.open(RoomSettings { queueing_method: QueueingMethod::Passthrough, ..limited(1) }).await;
    let limits = limits(0, 0, 2);
    // Of the first three the last one stays before the counter, and those who come after it pass it.
    let joined = join(&world, &[HERE; 3], limits).await;
    assert_eq!((joined.seated, numbers(&joined)), (2, vec![1, 2, 3]));
    let joined = join(&world, &[HERE, THERE, HERE, THERE], limits).await;
    assert_eq!((joined.seated, numbers(&joined)), (2, vec![6, 4, 7, 5]));
}

async fn nobody_waits_for_whom_its_network_keeps_out(world: World) {
    world.open(limited(10)).await;
    let hoarders = join(&world, &[HERE; 9], limits(0, 0, 2)).await;
    assert_eq!(hoarders.seated, 2);
    let mut leader = Leader::new(1);
    let tick = leader.tick(&world).await;
    assert_eq!((tick.input.kept_out, tick.input.waiting(&Serving::default())), (7, 0));
    let others = join(&world, &[THERE; 8], limits(0, 0, 8)).await;
    assert_eq!(others.seated, 8, "the seats are theirs");
    let late = join(&world, &[9; 3], limits(0, 0, 0)).await;
    assert_eq!(late.seated, 0);
    let tick = leader.tick(&world).await;
    assert_eq!(
        tick.input.waiting(&Serving::default()),
        3,
        "none of the network, and who came after it"
    );
}

async fn no_claims_of_one_call_take_more_seats_than_there_are(world: World) {
    world.open(limited(20)).await;
    join_by(&world, &[HERE; 8], limits(0, 0, 3), JoinMode::Queue).await;
    world.ripens();
    let mut claims = Vec::new();
    for number in 1..=8 {
        claims.push(of(HERE, 3, world.claim_now(number).await));
    }
    let replies = world.store.claim(&world.room, "k", &claims).await.unwrap();
    let entered = |outcome: &&ClaimOutcome| matches!(outcome, ClaimOutcome::Entered(_));
    assert_eq!(replies.outcomes.iter().filter(entered).count(), 3, "{:?}", replies.outcomes);
    assert!(replies.outcomes[3..].iter().all(|outcome| *outcome == ClaimOutcome::NetworkFull));
    assert_eq!(replies.beyond_seats, [[false; 3].as_slice(), &[true; 5]].concat());
    assert_eq!(world.snapshot().await.active, 3);
}

async fn seats_are_free_again_when_their_sessions_are_over(world: World) {
    world.open(RoomSettings { session_duration_seconds: 100, ..limited(20) }).await;
    let joined = join(&world, &[HERE; 3], limits(0, 0, 3)).await;
    assert_eq!(joined.seated, 3);
    world.seconds(60);
    // The first goes on for a session length from now, and still counts after the others are over.
    world.store.touch(&world.room, "k", "i", &[World::touch_of(1, &joined)]).await.unwrap();
    world.seconds(60);
    world.store.join(&world.room, &newcomers("here", 1, JoinMode::Queue)).await.unwrap();
    let joined = join(&world, &[HERE; 3], limits(0, 0, 3)).await;
    assert_eq!(joined.admittances.len(), 3);
    world.tick(1).await;
    world.ripens();
    let mut inside = 0;
    for number in numbers(&joined) {
        let claim = of(HERE, 3, world.claim_now(number).await);
        inside += u32::from(matches!(
            world.claims(claim).await,
            ClaimOutcome::Entered(_) | ClaimOutcome::Repeated(_)
        ));
    }
    assert_eq!(inside, 2, "one of three seats is taken");
}

async fn what_is_only_counted_stops_nobody(world: World) {
    world.open(limited(10)).await;
    let limits = NetworkLimits { only_logs: true, ..limits(2, 3, 1) };
    let joined = join(&world, &[HERE; 4], limits).await;
    assert_eq!((numbers(&joined), joined.seated), (vec![1, 2, 3, 4], 4));
    assert_eq!((joined.beyond.joins, joined.beyond.places), (2, 0));
    world.join(1, JoinMode::Queue).await;
    world.ripens();
    let network = ClaimNetwork { digest: HERE, seats: Some(1), only_logs: true };
    let claim = Claim { network: Some(network), ..world.claim_now(5).await };
    let replies = world.store.claim(&world.room, "k", &[claim]).await.unwrap();
    assert!(matches!(replies.outcomes[0], ClaimOutcome::Entered(_)), "{:?}", replies.outcomes);
    assert_eq!(replies.beyond_seats, [true]);
}

async fn a_call_that_is_sent_again_is_answered_as_before(world: World) {
    world.open(limited(1)).await;
    let networks = [HERE; 3];
    let first = Join {
        call: "a",
        networks: &networks,
        limits: limits(2, 0, 0),
        ..newcomers("here", 3, JoinMode::Enter)
    };
    // Nobody writes down the answer that was lost.
    let lost = world.server.store(&world.clock);
    let answered = lost.join(&world.room, &first).await.unwrap();
    let again = world.store.join(&world.room, &Join { again: true, ..first }).await.unwrap();
    assert_eq!(again, answered);
    assert_eq!(world.snapshot().await.queue_counter, 2);
}

async fn a_reset_forgets_what_networks_had(world: World) {
    world.open(limited(1)).await;
    let limits = limits(1, 1, 1);
    assert_eq!(numbers(&join(&world, &[HERE; 2], limits).await), [1, 0]);
    world.store.reset(&world.room).await.unwrap();
    let joined = join(&world, &[HERE; 2], limits).await;
    assert_eq!((numbers(&joined), joined.seated), (vec![1, 0], 1));
}

/// So many networks are counted one by one in a period, as `lib/networks.lua` says.
const COUNTED_ALONE: u64 = 131_072;

async fn networks_without_number_share_counts_and_those_before_keep_theirs(world: World) {
    world.open(limited(1)).await;
    let limits = limits(2, 0, 0);
    for first in (0..COUNTED_ALONE).step_by(512) {
        let networks: Vec<u64> = (first..first + 512).map(|nth| 1_000_000 + nth).collect();
        join(&world, &networks, limits).await;
    }
    // These three end with the same five digits, and the fourth with others.
    let [one, two, three, other] = [7_000_012_345, 8_000_012_345, 9_000_012_345, 7_000_054_321];
    let first = COUNTED_ALONE + 1;
    let joined = join(&world, &[one, two, three, other, two], limits).await;
    assert_eq!(numbers(&joined), [first, first + 1, 0, first + 2, 0]);
    // Two that were counted before, each once, are counted alone still, though they end with the same digits.
    let [before, alike] = [1_000_000, 1_100_000];
    let joined = join(&world, &[before, alike, before, alike], limits).await;
    assert_eq!(numbers(&joined), [first + 3, first + 4, 0, 0]);
}
