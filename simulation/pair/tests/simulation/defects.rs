//! Mistakes that are put into the scripts by hand, one at a time: the judge finds each of them within a
//! thousand short nights.

use vestibule_history::{Bounds, Invariant};
use vestibule_simulation::{FaultKind, Scenario, Seed, Shape, run};

use crate::bounds;

/// In how many nights each must be found.
const NIGHTS: u64 = 1_000;

/// A mistake: its name, a night in which it is found, what the scripts do instead of what they should, and what breaks.
struct Defect {
    name: &'static str,
    /// The first night in which it is found.
    seed: u64,
    instead_of: &'static str,
    does: &'static str,
    breaks: &'static [&'static str],
}

const DEFECTS: [Defect; 12] = [
    Defect {
        name: "no fence",
        seed: 65,
        instead_of: "if epoch < line.leader_epoch then",
        does: "if false then",
        breaks: &["stale leaders are refused"],
    },
    Defect {
        name: "no gap",
        seed: 653,
        instead_of: "local GAP = 10000",
        does: "local GAP = 0",
        breaks: &["unique-numbers"],
    },
    Defect {
        name: "one too many in a minute",
        seed: 10,
        instead_of: "local left = rate - rate_used(key, now)",
        does: "local left = rate + 1 - rate_used(key, now)",
        breaks: &["rate"],
    },
    Defect {
        name: "one seat too many",
        seed: 0,
        instead_of: "return math.max(settings.total_active_users - ",
        does: "return math.max(settings.total_active_users + 1 - ",
        breaks: &["ceiling"],
    },
    Defect {
        name: "claim without the entered bit",
        seed: 199,
        instead_of: "if is_over[claim.position] or is_gone[claim.number] then",
        does: "if false then",
        breaks: &["one-session", "ended-stays-ended"],
    },
    Defect {
        name: "leave says yes and does nothing",
        seed: 3,
        instead_of: "if not record or record.status ~= 0 then return false end",
        does: "do return true end",
        breaks: &["ended-stays-ended"],
    },
    Defect {
        name: "a batch gets one number too few",
        seed: 2,
        instead_of: "local after = redis.call('HINCRBY', keys.line, 'queue_counter', count)",
        does: "local after = line.queue_counter + count \
            redis.call('HSET', keys.line, 'queue_counter', math.max(after - 1, 1))",
        breaks: &["unique-numbers"],
    },
    Defect {
        name: "restored without the seats that are owed",
        seed: 4,
        instead_of: "'unconfirmed', args.unconfirmed,",
        does: "'unconfirmed', 0,",
        breaks: &["ceiling"],
    },
    Defect {
        name: "a token outlives its session",
        seed: 115,
        instead_of: "record.iat, record.exp, record.kid = now_s, now_s + settings",
        does: "record.iat, record.exp, record.kid = now_s, now_s + 2 * settings",
        breaks: &["ceiling"],
    },
    Defect {
        name: "reset keeps the epoch",
        seed: 0,
        instead_of: "local epoch = math.max(now, line.reset_epoch + 1)",
        does: "local epoch = line.reset_epoch",
        breaks: &["unique-numbers", "queue counter rises", "settings-survive"],
    },
    Defect {
        name: "settings change and their version does not",
        seed: 0,
        instead_of: "'version', version + 1",
        does: "'version', version",
        breaks: &["settings-survive"],
    },
    Defect {
        name: "a held seat is forgotten",
        seed: 10,
        instead_of: "if held_until and held_until >= now and not is_held(settings, line) then",
        does: "if false then",
        breaks: &["holds-kept"],
    },
];

/// Everything that the services withstand, and wipes.
fn shape() -> Shape {
    Shape {
        faults: vec![
            FaultKind::Kill,
            FaultKind::Freeze,
            FaultKind::PauseInTick,
            FaultKind::Cut,
            FaultKind::Weather,
            FaultKind::Wipe,
        ],
        most_faults: 4,
        hostile: 0.2,
        aws: 0.0,
        ..Shape::default()
    }
}

/// What breaks in the night of `seed` by the defect, and not without it.
fn breaks(defect: &Defect, seed: u64) -> Option<&'static str> {
    let bounds = Bounds { skipped: vec![Invariant::FifoOrder], ..bounds() };
    let sound = Scenario::draw(Seed(seed), &shape());
    let instead = (defect.instead_of.to_owned(), defect.does.to_owned());
    let scenario = Scenario { defect: Some(instead), ..sound.clone() };
    let broken = run(&scenario, &bounds, false).unwrap().broken;
    let broken = broken.iter().find(|one| defect.breaks.contains(&one.invariant))?;
    let anyway = run(&sound, &bounds, false).unwrap().broken;
    let is_new = anyway.iter().all(|one| one.invariant != broken.invariant);
    is_new.then_some(broken.invariant)
}

/// The first night in which the defect is found, and by what.
fn found(defect: &Defect) -> Option<(u64, &'static str)> {
    (0..NIGHTS).find_map(|seed| Some((seed, breaks(defect, seed)?)))
}

#[test]
fn every_defect_is_found_in_its_night() {
    for defect in &DEFECTS {
        assert!(breaks(defect, defect.seed).is_some(), "{}: seed {}", defect.name, defect.seed);
    }
}

#[test]
#[ignore = "takes minutes"]
fn every_defect_is_found_within_a_thousand_nights() {
    let search = |part: usize| {
        let defects = DEFECTS.iter().skip(part).step_by(2);
        let found = |defect| {
            let found = found(defect);
            println!("{}: {found:?}", defect.name);
            (defect.name, found)
        };
        defects.map(found).collect::<Vec<_>>()
    };
    let all = std::thread::scope(|scope| {
        let half = scope.spawn(|| search(1));
        [search(0), half.join().unwrap()].concat()
    });
    let missed: Vec<_> = all.iter().filter(|(_, found)| found.is_none()).collect();
    assert!(missed.is_empty(), "{missed:?}");
}
