//! Nights in which rooms limit what one network may have and bind sessions, and in which hoarders and sharers come:
//! nothing breaks in them, and mistakes that are put into the scripts by hand are found.

use vestibule_simulation::{BrokenNight, FaultKind, Nights, Selection, Shape};

use crate::defects::is_said;

/// How many short nights.
const NIGHTS: u64 = 60;
/// In how many nights each mistake must be found.
const FOUND_WITHIN: u64 = 1_000;

/// A mistake: its name, the first night in which it is found, what the scripts say, what they do instead, and what breaks.
type Defect = (&'static str, u64, (&'static str, &'static str), &'static str);

const DEFECTS: [Defect; 7] = [
    (
        "a network's seats are not counted",
        1,
        ("local is_new = redis.call('ZADD', key, until_ms, number) == 1", "local is_new = false"),
        "network-seats",
    ),
    (
        "newcomers of a network are not counted",
        0,
        ("network.come + 1, network.placed + 1, true", "network.come, network.placed + 1, true"),
        "network-joins",
    ),
    (
        "one place too many",
        1,
        ("places_of(network) >= limits.places", "places_of(network) > limits.places"),
        "network-places",
    ),
    (
        "a place that is given back counts on",
        6,
        ("if given_up[i] then gone[#gone + 1] = place end", ""),
        "network-refusals",
    ),
    (
        "a place that is used counts on",
        3,
        ("NETWORKS.leave_line_now(entering)", ""),
        "network-refusals",
    ),
    (
        "whoever is only counted is turned away",
        0,
        ("refused[i] = not limits.only_logs and over", "refused[i] = over"),
        "network-refusals",
    ),
    (
        "a session is whoever's has its ticket",
        7,
        (
            "not string.find(caller, bound, 1, true) then return false end",
            "false then return false end",
        ),
        "bound-sessions",
    ),
];

/// Nights of everything that failed once, with limits in some rooms, and what was wrong then.
const FAILED_ONCE: [(u64, &str); 30] = [
    (802_569, "who sent a join again was told of a session that had been revoked since"),
    (
        802_137,
        "the judge forgot who had joined after a reset of which the other side of a split told",
    ),
    (
        1_013_871,
        "a seat that had been free for long went to whose instance asked first, past others by a moment",
    ),
    (
        1_101_447,
        "an ended session came back that was renewed on the other side of a split, for longer than its end was known",
    ),
    (
        1_101_671,
        "the judge missed a key of which only a controller knew that was killed with Redis",
    ),
    (1_108_155, "the judge called somebody overtaken who shared a place that had been given up"),
    (1_219_836, "the judge wanted a seat for somebody who shared a place that had been given up"),
    (
        1_251_497,
        "a browser took its seat before an AWS-style client ahead of it, and somebody late the one left for that",
    ),
    (1_302_404, "the judge did not know that the servers had lost who was at the door"),
    (
        1_314_191,
        "the judge took somebody for one at the door whose instance was frozen while it asked",
    ),
    (
        1_316_340,
        "the judge did not know that settings may be in force that only the other side knew of before a split",
    ),
    (1_317_833, "the judge did not know that whoever joined, and never heard of it, may be inside"),
    (
        1_319_755,
        "the judge did not know that a room may be another one after it was deleted on one side",
    ),
    (1_324_906, "the judge missed the end of a session of which nobody knew any more who ran"),
    (1_328_822, "the judge missed a key while Redis refused all writes"),
    (1_329_410, "a change of settings was lost to a reset on the other side of a split"),
    (
        1_336_266,
        "the judge took a seat for kept from somebody that was left to it, and taken by one before it",
    ),
    (1_336_695, "what those apart had left out counted as people once they were heard again"),
    (
        1_414_536,
        "the judge did not know that a join may have been carried out with the limits of before",
    ),
    (
        1_425_931,
        "a browser passed somebody silent before an AWS-style client ahead of it that asked in the same call",
    ),
    (
        1_601_165,
        "the judge did not know with which ceiling a join was carried out that was asked again in the same second",
    ),
    (5_503_702, "who alone knew of lost rooms stopped, and for the next one they did not exist"),
    (5_504_723, "the judge took an end for known that only somebody silent knew of"),
    (
        7_003_827,
        "the judge called those overtaken whom a hold kept out, a moment after somebody behind them had entered",
    ),
    (
        7_106_492,
        "the judge did not know that somebody was inside who had entered on the other side of a split before its place \
         was given back here",
    ),
    (7_120_156, "the judge missed a key while all who knew it were on the other side of a split"),
    (
        7_160_407,
        "who had a place in a room made anew was told by an instance that had been frozen that there is none",
    ),
    (
        7_162_229,
        "who started while Redis was full, after its clock jumped, took those for absent who could not tell the time",
    ),
    (7_166_537, "the judge missed a key while nobody could read the ring"),
    (7_198_010, "the judge called somebody overtaken whose network had its seats when it came"),
];

/// Nights with limits in each, and everything that the services withstand.
fn nights(seeds: std::ops::Range<u64>) -> Nights {
    let shape = Shape { limited: 1.0, faults: FaultKind::withstood(), ..Shape::default() };
    let only = Selection::default();
    Nights { seeds, shape, skipped: Vec::new(), defect: None, only }
}

/// Whether `invariant` breaks in the night of `seed` by the defect, and not without it.
fn breaks(&(_, _, (instead_of, does), invariant): &Defect, seed: u64) -> bool {
    let is_broken = |defect| {
        let nights = Nights { defect, ..nights(seed..seed + 1) };
        let broken = nights.play(&nights.scenario(seed), false).unwrap().broken;
        broken.iter().any(|one| one.invariant == invariant)
    };
    is_broken(Some((instead_of.to_owned(), does.to_owned()))) && !is_broken(None)
}

#[test]
fn nothing_breaks_in_nights_with_limits_per_network() {
    let nights = nights(0..NIGHTS);
    let tally = nights.play_all(&false.into(), |_| ()).unwrap();
    assert!(tally.entries > NIGHTS, "people enter");
    if let Some(seed) = tally.first_broken() {
        panic!("{}", BrokenNight::find(&nights, seed, false).unwrap().unwrap());
    }
}

#[test]
fn what_failed_once_does_not_fail_again() {
    for (seed, why) in FAILED_ONCE {
        let nights = Nights { shape: Shape::default(), ..nights(seed..seed + 1) };
        let broken = nights.play(&nights.scenario(seed), false).unwrap().broken;
        assert!(broken.is_empty(), "{seed}: {why}: {broken:?}");
    }
}

#[test]
fn every_mistake_about_networks_is_found_in_its_night() {
    for (name, _, (instead_of, _), _) in DEFECTS {
        assert!(is_said(instead_of), "{name}: no script says it");
    }
    let is_missed = |defect: &&Defect| !breaks(defect, defect.1);
    let missed: Vec<_> = DEFECTS.iter().filter(is_missed).map(|one| (one.0, one.1)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
#[ignore = "takes minutes"]
fn every_mistake_about_networks_is_found_within_a_thousand_nights() {
    let found = |defect: &Defect| {
        let found = (0..FOUND_WITHIN).find(|seed| breaks(defect, *seed));
        println!("{}: {found:?}", defect.0);
        found.is_some()
    };
    let missed: Vec<_> = DEFECTS.iter().filter(|one| !found(one)).map(|one| one.0).collect();
    assert!(missed.is_empty(), "{missed:?}");
}
