//! Everybody's own bit: scripts and rules set the same one, and counts are those of a list. How it
//! looks to a crowd is in `presence`.

use std::collections::BTreeMap;

use tokio::time::Instant;
use vestibule_domain::{
    QueueingMethod, RoomSettings,
    presence::{
        Band, Spot,
        band::GENERATIONS,
        chunk::{BLOCK_PLACES, BLOCKS, CHUNK_PLACES, block_of, chunk_of},
        tally::{BlockBits, ChunkCount},
    },
    roll::{Chunks, Counted},
};
use vestibule_store::{Claim, ClaimOutcome, GivenUp, JoinMode};

use crate::{
    crowd::Chances,
    events::{event, moment},
    world::{START_MS, World, limited, patient, people, token},
};

crate::on_every_server!(
    check_ins_and_newcomers_set_the_bits_that_the_rules_name,
    counts_are_those_of_a_list,
    a_bit_counts_until_its_generation_is_over,
    whoever_says_it_twice_counts_once,
    whoever_has_entered_counts_no_more_whatever_it_says,
    a_place_is_given_back_once,
    a_place_of_before_a_reset_is_not_given_back,
    who_waits_for_a_draw_gives_its_place_back_too,
);
mod expiring {
    use super::bits_expire_when_they_count_no_more;

    crate::on_real_servers!(bits_expire_when_they_count_no_more);
}

const SHORTEST: Band = Band::ALL[0];

/// The key of somebody's bit, by the rules.
fn key_of(spot: Spot, band: Band, now_ms: u64) -> String {
    let line = spot.pool().map_or_else(|| "line".to_owned(), |draw| format!("pool{draw}"));
    let (generation, chunk) = (band.generation(now_ms), chunk_of(spot.place()));
    format!("vestibule:room:{{sale}}:there:{line}:{}:{generation}:{chunk}", band.index())
}

/// Places about the borders of bytes, blocks and chunks, and some others, up to `last`.
fn place(chances: &mut Chances, last: u64) -> u64 {
    let border = [0, 8, BLOCK_PLACES, 2 * BLOCK_PLACES, CHUNK_PLACES, last + 1];
    let border = border[usize::try_from(chances.below(7) % 6).unwrap()];
    let about = border.saturating_sub(4) + chances.below(8);
    let place = if chances.below(5) == 0 { chances.below(last) } else { about };
    place.clamp(1, last)
}

fn band(chances: &mut Chances) -> Band {
    Band::ALL[usize::try_from(chances.below(5)).unwrap()]
}

async fn check_in(world: &World, check_ins: impl IntoIterator<Item = (Spot, Band)>) {
    let epoch = world.reset_epoch().await;
    world.store.check_in(&world.room, epoch, check_ins).await.unwrap().unwrap();
}

/// Bits by key: the highest bit of a byte comes first.
#[derive(Default)]
struct Bits(BTreeMap<String, Vec<u8>>);

impl Bits {
    fn set(&mut self, spot: Spot, band: Band, now_ms: u64) {
        let bytes = self.0.entry(key_of(spot, band, now_ms)).or_default();
        let bit = usize::try_from(spot.place() % CHUNK_PLACES).unwrap();
        bytes.resize(bytes.len().max(bit / 8 + 1), 0);
        bytes[bit / 8] |= 0x80 >> (bit % 8);
    }

    /// Those of the server. Empty bytes at the end mean nothing.
    async fn on(world: &World) -> BTreeMap<String, Vec<u8>> {
        let mut held = BTreeMap::new();
        let pattern = "vestibule:room:{sale}:there:*";
        let keys: Vec<String> = world.server.ask(redis::cmd("KEYS").arg(pattern)).await;
        for key in keys {
            let mut bytes: Vec<u8> = world.server.ask(redis::cmd("GET").arg(&key)).await;
            bytes.truncate(bytes.iter().rposition(|byte| *byte > 0).map_or(0, |last| last + 1));
            held.insert(key, bytes);
        }
        held
    }
}

async fn check_ins_and_newcomers_set_the_bits_that_the_rules_name(world: World) {
    world.open(limited(3)).await;
    let (mut chances, mut bits) = (Chances::new(3), Bits::default());
    for count in [1, 6, 1, 8_150, 5, 40, 122_354, 2, 7_000] {
        world.clock.advance_ms(chances.below(40_000));
        let (joined, now_ms) = (world.join(count, JoinMode::Enter).await, world.clock.now_ms());
        let last = joined.first + count - 1;
        for number in joined.first + joined.seated..=last {
            bits.set(Spot::Position(number), SHORTEST, now_ms);
        }
        world.clock.advance_ms(chances.below(40_000));
        let spot = |chances: &mut Chances, number| match chances.below(4) {
            0 => Spot::Pool { draw: u32::from(number % 2 == 0), number },
            _ => Spot::Position(number),
        };
        let check_ins: Vec<(Spot, Band)> = (0..30)
            .map(|_| {
                let number = place(&mut chances, last);
                (spot(&mut chances, number), band(&mut chances))
            })
            .collect();
        check_in(&world, check_ins.iter().copied()).await;
        for (spot, band) in check_ins {
            bits.set(spot, band, world.clock.now_ms());
        }
    }
    let nobody = [0, 137_560, u64::MAX >> 12].map(|place| (Spot::Position(place), SHORTEST));
    check_in(&world, nobody).await;
    let held = Bits::on(&world).await;
    assert!(held.keys().eq(bits.0.keys()), "{:?}\n{:?}", held.keys(), bits.0.keys());
    assert!(held == bits.0, "all keys are as the rules say, and some bits are not");
}

/// A line as a list: who is who, and when it checked in.
#[derive(Default)]
struct List(Vec<Listed>);

#[derive(Default, Clone)]
struct Listed {
    is_unattended: bool,
    is_over: bool,
    /// Of each band the last generation in which it checked in.
    heard: [Option<u64>; 5],
}

impl Listed {
    fn hear(&mut self, band: Band, now_ms: u64) {
        self.heard[usize::from(band.index())] = Some(band.generation(now_ms));
    }

    fn has_checked_in(&self, now_ms: u64) -> bool {
        Band::ALL.iter().zip(self.heard).any(|(band, heard)| {
            heard.is_some_and(|heard| heard + GENERATIONS > band.generation(now_ms))
        })
    }
}

impl List {
    fn join(&mut self, count: u64, mode: JoinMode, now_ms: u64) {
        let mut newcomer = Listed { is_unattended: mode == JoinMode::Queue, ..Listed::default() };
        if mode == JoinMode::Enter {
            newcomer.hear(SHORTEST, now_ms);
        }
        let length = self.0.len() + usize::try_from(count).unwrap();
        self.0.resize(length, newcomer);
    }

    fn at(&mut self, place: u64) -> &mut Listed {
        &mut self.0[usize::try_from(place).unwrap() - 1]
    }

    /// Its last place.
    fn last(&self) -> u64 {
        self.0.len() as u64
    }

    fn places(&self) -> impl Iterator<Item = (u64, &Listed)> {
        (1..).zip(&self.0)
    }

    fn count(&self, chunk: u64, now_ms: u64) -> ChunkCount {
        let last = (self.last() - chunk * CHUNK_PLACES).min(CHUNK_PLACES - 1);
        let nobody = vec![0; usize::try_from(last / BLOCK_PLACES + 1).unwrap()];
        let [there, unattended, polling, over] = [0; 4].map(|_| nobody.clone());
        let mut count = ChunkCount { chunk, there, unattended, polling, over };
        for (place, listed) in self.places().filter(|(place, _)| chunk_of(*place) == chunk) {
            let block = usize::try_from(block_of(place) % BLOCKS).unwrap();
            let (over, checked_in) = (listed.is_over, listed.has_checked_in(now_ms));
            count.over[block] += u64::from(over);
            count.there[block] += u64::from(checked_in && !over);
            let unattended = listed.is_unattended && !over;
            count.polling[block] += u64::from(unattended && checked_in);
            count.unattended[block] += u64::from(unattended && !checked_in);
        }
        count
    }

    fn bits(&self, block: u64, now_ms: u64) -> BlockBits {
        let mut bits = BlockBits { block, ..BlockBits::default() };
        for (place, listed) in self.places().filter(|(place, _)| block_of(*place) == block) {
            let set = |bytes: &mut Vec<u8>, is_set: bool| {
                let bit = usize::try_from(place % BLOCK_PLACES).unwrap();
                bytes.resize(bytes.len().max(bit / 8 + 1), 0);
                bytes[bit / 8] |= (0x80 >> (bit % 8)) * u8::from(is_set);
            };
            set(&mut bits.checked_in, listed.has_checked_in(now_ms));
            set(&mut bits.unattended, listed.is_unattended && !listed.is_over);
            set(&mut bits.over, listed.is_over);
        }
        trimmed(bits)
    }
}

/// Without empty bytes at the ends, which mean nothing.
fn trimmed(mut bits: BlockBits) -> BlockBits {
    for bytes in [&mut bits.checked_in, &mut bits.unattended, &mut bits.over] {
        bytes.truncate(bytes.iter().rposition(|byte| *byte > 0).map_or(0, |last| last + 1));
    }
    bits
}

/// Checks in, enters or gives up, by chance.
async fn act(world: &World, list: &mut List, chances: &mut Chances) {
    let (place, now_ms) = (place(chances, list.last()), world.clock.now_ms());
    match chances.below(8) {
        0 => {
            let claim = Claim { won: true, ..world.claim_now(place).await };
            let is_over = std::mem::replace(&mut list.at(place).is_over, true);
            let outcome =
                world.store.claim(&world.room, "k", &[claim]).await.unwrap().outcomes.remove(0);
            assert_eq!(matches!(outcome, ClaimOutcome::Entered(_)), !is_over);
        }
        1 => {
            let epoch = world.reset_epoch().await;
            let back = GivenUp { number: place, position: Some(place), network: None };
            let given_up = world.store.give_up(&world.room, (epoch, 0), &[back]).await.unwrap();
            assert_eq!(given_up, [!list.at(place).is_over]);
            list.at(place).is_over = true;
        }
        _ => {
            let band = band(chances);
            check_in(world, [(Spot::Position(place), band)]).await;
            list.at(place).hear(band, now_ms);
        }
    }
}

async fn counts_are_those_of_a_list(world: World) {
    let random = QueueingMethod::Random;
    world.open(RoomSettings { queueing_method: random, ..patient(0) }).await;
    let (mut chances, mut list) = (Chances::new(5), List::default());
    let joins = [(30_u64, JoinMode::Enter), (8_160, JoinMode::Queue), (8_140, JoinMode::Enter)];
    let late = [(114_217, JoinMode::Queue), (700, JoinMode::Enter), (25, JoinMode::Queue)];
    for (nth, (count, mode)) in joins.into_iter().chain(late).enumerate() {
        for count in [count / 2, count.div_ceil(2)] {
            world.join(count, mode).await;
            list.join(count, mode, world.clock.now_ms());
            // More come only where a leader sees it.
            world.try_begin(1).await.unwrap();
        }
        let wide = RoomSettings { queueing_method: random, ..patient(100_000) };
        world.put(wide).await;
        // So that other blocks are near.
        let by = [0, 8_157, 1, 1, 114_000, 6_900][nth];
        world.store.increment(&world.room, by).await.unwrap();
        for _ in 0..25 {
            world.clock.advance_ms(chances.below(60_000) * chances.below(3) / 2);
            for _ in 0..5 {
                act(&world, &mut list, &mut chances).await;
            }
        }
        compare(&world, &list).await;
    }
}

async fn compare(world: &World, list: &List) {
    let (now_ms, end) = (world.clock.now_ms(), chunk_of(list.last()));
    let chunks = Chunks { line: (0..=end + 1).collect(), pool: Vec::new() };
    let report = world.store.begin_tick(&world.room, &chunks, 1).await.unwrap();
    let Counted { mut line, near, .. } = report.counted;
    line.sort_unstable_by_key(|count| count.chunk);
    let expected: Vec<ChunkCount> = (0..=end).map(|chunk| list.count(chunk, now_ms)).collect();
    assert_eq!(line, expected);
    let next = u64::try_from(report.counters.serving_counter).unwrap() + 1;
    let (before, first) = (block_of(next.saturating_sub(BLOCK_PLACES / 4)), block_of(next));
    let blocks: Vec<u64> = near.iter().map(|bits| bits.block).collect();
    assert_eq!(blocks, (before..=block_of(list.last()).min(first + 1)).collect::<Vec<_>>());
    for bits in near {
        let block = bits.block;
        assert!(trimmed(bits) == list.bits(block, now_ms), "block {block}");
    }
}

async fn a_bit_counts_until_its_generation_is_over(world: World) {
    world.open(patient(0)).await;
    world.join(100, JoinMode::Queue).await;
    let mut place = 0;
    let seen_at = async |place: u64, ms: u64| {
        world.at(ms);
        people(&world.begin(1).await.input.there, place - 1, place) == 1
    };
    for band in Band::ALL {
        let half_ms = band.length_ms() / 2;
        for into_ms in [0, 1, half_ms / 3, half_ms - 1] {
            place += 1;
            let generation = band.generation(world.clock.now_ms()) + 1;
            let said_at = generation * half_ms + into_ms;
            world.at(said_at);
            check_in(&world, [(Spot::Position(place), band)]).await;
            let over = (generation + GENERATIONS) * half_ms;
            assert!(over >= said_at + band.length_ms());
            assert!(over <= said_at + band.length_ms() * 3 / 2);
            assert!(seen_at(place, said_at).await);
            assert!(seen_at(place, over - 1).await, "{band:?}");
            assert!(!seen_at(place, over).await, "{band:?}");
        }
    }
}

/// By the server's clock, which need not show the room's time.
async fn bits_expire_when_they_count_no_more(world: World) {
    world.open(limited(0)).await;
    let mut set_at = vec![(world.clock.now_ms(), Instant::now())];
    world.join(200_000, JoinMode::Enter).await;
    for band in Band::ALL {
        world.seconds(77);
        set_at.push((world.clock.now_ms(), Instant::now()));
        let places = [3, CHUNK_PLACES];
        check_in(&world, places.map(|place| (Spot::Position(place), band))).await;
        check_in(&world, places.map(|number| (Spot::Pool { draw: 1, number }, band))).await;
    }
    let pattern = "vestibule:room:{sale}:there:*";
    let keys: Vec<String> = world.server.ask(redis::cmd("KEYS").arg(pattern)).await;
    assert_eq!(keys.len(), 2 + 4 * Band::ALL.len());
    for key in keys {
        let mut end: Vec<&str> = key.rsplit(':').skip(1).take(2).collect();
        let [generation, band] = [end.remove(0), end.remove(0)].map(|n| n.parse::<u64>().unwrap());
        let half_ms = Band::ALL[usize::try_from(band).unwrap()].length_ms() / 2;
        let left_ms: u64 = world.server.ask(redis::cmd("PTTL").arg(&key)).await;
        let over_ms = (generation + GENERATIONS) * half_ms;
        let is_right = |(at_ms, at): &(u64, Instant)| {
            let whole_ms = over_ms - at_ms;
            let passed_ms = u64::try_from(at.elapsed().as_millis()).unwrap() + 1;
            left_ms <= whole_ms && whole_ms <= left_ms + passed_ms
        };
        assert!(set_at.iter().any(is_right), "{key}: {left_ms} ms are left");
    }
}

/// How many are there, and how many AWS-style visitors are not known to be.
async fn counted(world: &World) -> (u64, u64) {
    let input = world.begin(1).await.input;
    (people(&input.there, 0, 1_000), people(&input.unknown, 0, 1_000))
}

async fn whoever_says_it_twice_counts_once(world: World) {
    world.open(patient(0)).await;
    world.join(9, JoinMode::Queue).await;
    assert_eq!(counted(&world).await, (0, 9));
    let said: Vec<(Spot, Band)> = [2, 5].map(|place| (Spot::Position(place), SHORTEST)).to_vec();
    for again in 0..5 {
        check_in(&world, said.iter().chain(&said).copied()).await;
        check_in(&world, [(Spot::Position(5), Band::ALL[again])]).await;
        world.seconds(20);
        assert_eq!(counted(&world).await, (2, 7));
    }
    let other = world.store.check_in(&world.room, 7, [(Spot::Position(3), SHORTEST)]).await;
    assert_eq!(other.unwrap(), None, "of before a reset");
    assert_eq!(counted(&world).await, (2, 7));
}

async fn whoever_has_entered_counts_no_more_whatever_it_says(world: World) {
    world.open(limited(2)).await;
    world.join(1, JoinMode::Enter).await;
    world.join(3, JoinMode::Queue).await;
    check_in(&world, [1, 2, 4].map(|place| (Spot::Position(place), SHORTEST))).await;
    assert_eq!(counted(&world).await, (2, 1), "1 was seated as it came");
    token(world.claims(world.claim_now(2).await).await);
    assert_eq!(counted(&world).await, (1, 1));
    check_in(&world, [2, 4].map(|place| (Spot::Position(place), Band::ALL[2]))).await;
    assert_eq!(counted(&world).await, (1, 1));
    world.seconds(301);
    check_in(&world, [(Spot::Position(2), SHORTEST)]).await;
    let input = world.begin(1).await.input;
    assert_eq!(people(&input.there, 0, 3), 0, "nor when its session has ended");
}

async fn give_up(world: &World, epoch: u64, places: &[(u64, Option<u64>)]) -> Vec<bool> {
    let places: Vec<GivenUp> = places
        .iter()
        .map(|&(number, position)| GivenUp { number, position, network: None })
        .collect();
    world.store.give_up(&world.room, (epoch, 0), &places).await.unwrap()
}

async fn a_place_is_given_back_once(world: World) {
    world.open(patient(1)).await;
    world.join(5, JoinMode::Enter).await;
    world.join(3, JoinMode::Queue).await;
    assert_eq!(counted(&world).await, (4, 3));
    let epoch = world.reset_epoch().await;
    let all = [1, 3, 7, 3, 0, 9].map(|number| (number, Some(number)));
    let back = [false, true, true, false, false, false];
    assert_eq!(give_up(&world, epoch, &all).await, back, "1 is inside, and nobody is 0 or 9");
    assert_eq!(give_up(&world, epoch, &all).await, [false; 6]);
    assert_eq!(counted(&world).await, (3, 2));
    check_in(&world, [3, 7].map(|place| (Spot::Position(place), SHORTEST))).await;
    assert_eq!(counted(&world).await, (3, 2), "it does not come back");
    let room = world.snapshot().await;
    assert_eq!((room.left, room.active), (2, 1));
    assert_eq!(room.numbers_waiting(room.progress()), 5);
    world.store.increment(&world.room, 5).await.unwrap();
    let claim = world.claim_now(3).await;
    let late = world.store.claim(&world.room, "k", &[claim]).await.unwrap();
    assert_eq!(late.outcomes, [ClaimOutcome::SessionEnded]);
}

async fn a_place_of_before_a_reset_is_not_given_back(world: World) {
    world.open(patient(0)).await;
    world.join(5, JoinMode::Enter).await;
    let before = world.reset_epoch().await;
    world.seconds(1);
    let after = world.store.reset(&world.room).await.unwrap();
    world.join(5, JoinMode::Queue).await;
    assert_eq!(counted(&world).await, (0, 5), "the bits of before are gone with it");
    assert_eq!(give_up(&world, before, &[(2, Some(2))]).await, [false]);
    assert_eq!(counted(&world).await, (0, 5));
    assert_eq!(give_up(&world, after, &[(2, Some(2))]).await, [true]);
    assert_eq!(counted(&world).await, (0, 4));
}

async fn who_waits_for_a_draw_gives_its_place_back_too(world: World) {
    let sale = vestibule_domain::schedule::Event {
        prequeue_start: Some(moment(60)),
        draw: true,
        draw_id: "d".into(),
        ..event("sale", 600, 900)
    };
    world.schedule(patient(0), &[sale]).await;
    world.join(3, JoinMode::Enter).await;
    world.at(START_MS + 61_000);
    world.join(4, JoinMode::Enter).await;
    assert_eq!(counted(&world).await, (7, 0));
    let epoch = world.reset_epoch().await;
    assert_eq!(give_up(&world, epoch, &[(5, None), (5, None)]).await, [true, false], "once");
    assert_eq!(give_up(&world, epoch, &[(2, Some(2))]).await, [true]);
    assert_eq!(counted(&world).await, (5, 0));
    check_in(&world, [(Spot::Pool { draw: 0, number: 5 }, SHORTEST)]).await;
    assert_eq!(counted(&world).await, (5, 0), "it does not come back");
    assert_eq!(world.snapshot().await.left, 1, "its place comes with the draw");
    let bits = async || -> Vec<String> {
        world.server.ask(redis::cmd("KEYS").arg("vestibule:room:{sale}:entered:*")).await
    };
    assert_eq!(bits().await.len(), 2, "its own bit, and that of 2");
    world.store.reset(&world.room).await.unwrap();
    assert_eq!(bits().await, [""; 0], "the number is another's now");
}
