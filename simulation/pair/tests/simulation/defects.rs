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

const DEFECTS: [Defect; 17] = [
    Defect {
        name: "no fence",
        seed: 115,
        instead_of: "if epoch < line.leader_epoch then",
        does: "if false then",
        breaks: &["stale leaders are refused"],
    },
    Defect {
        name: "no gap",
        seed: 25,
        instead_of: "if args.gap > 0 then LEFT_OUT.skip(",
        does: "if false then LEFT_OUT.skip(",
        breaks: &["unique-numbers"],
    },
    Defect {
        name: "an older state is taken for the latest",
        seed: 9,
        instead_of: "return stamp.is_partial or is_closed() or is_rewound(seen) end",
        does: "return false end",
        breaks: &["unique-numbers", "ceiling", "serving-counter"],
    },
    Defect {
        name: "another server is not noticed",
        seed: 9,
        instead_of: "stamp.run_id ~= run_id then return true end",
        does: "stamp.run_id ~= run_id then return false end",
        breaks: &["unique-numbers", "ceiling", "serving-counter", "settings-survive"],
    },
    Defect {
        name: "a room comes back with the numbers that Redis remembers",
        seed: 0,
        instead_of: "local top, known = highest('queue_counter'),",
        does: "local top, known = counted and counted.queue_counter or 0,",
        breaks: &["unique-numbers"],
    },
    Defect {
        name: "of endings nothing is kept",
        seed: 5,
        instead_of: "redis.call('ZADD', keys.ended, 'GT', expires_at, number)",
        does: "",
        breaks: &["ended-stays-ended", "one-session"],
    },
    Defect {
        name: "the room follows a clock that was set",
        seed: 4,
        instead_of: "if about_ms > 0 and math.abs(at - about_ms) > CLOCK_TOLERANCE_MS then",
        does: "if false then",
        breaks: &["ceiling", "presence", "empty seats"],
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
        seed: 27,
        instead_of: "if is_over[claim.position] or is_gone[claim.number] then",
        does: "if false then",
        breaks: &["one-session", "ended-stays-ended"],
    },
    Defect {
        name: "leave says yes and does nothing",
        seed: 3,
        instead_of: "if not record or record.status ~= 0 then return nil end",
        does: "do return record and record.exp or 1 end",
        breaks: &["ended-stays-ended"],
    },
    Defect {
        name: "a batch gets one number too few",
        seed: 0,
        instead_of: "local after = redis.call('HINCRBY', keys.line, 'queue_counter', count)",
        does: "local after = line.queue_counter + count \
            redis.call('HSET', keys.line, 'queue_counter', math.max(after - 1, 1))",
        breaks: &["unique-numbers"],
    },
    Defect {
        name: "restored without the seats that are owed",
        seed: 988,
        instead_of: "'unconfirmed', owed(args.awaits and math.max(ceiling or 0, inside) or inside),",
        does: "'unconfirmed', 0,",
        breaks: &["ceiling"],
    },
    Defect {
        name: "a token outlives its session",
        seed: 115,
        instead_of: "record.iat, record.exp, record.kid = now_s, exp",
        does: "record.iat, record.exp, record.kid = now_s, exp + settings.session_duration_seconds",
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
        instead_of: "if held_until and held_until >= now and not enters_nobody then",
        does: "if false then",
        breaks: &["holds-kept"],
    },
];

/// Much of what the services withstand.
fn shape() -> Shape {
    Shape {
        faults: vec![
            FaultKind::Kill,
            FaultKind::Freeze,
            FaultKind::PauseInTick,
            FaultKind::Cut,
            FaultKind::Weather,
            FaultKind::Wipe,
            FaultKind::Rewind,
            FaultKind::Promote,
            FaultKind::Clock,
        ],
        most_faults: 4,
        hostile: 0.2,
        aws: 0.0,
        limited: 0.0,
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

/// Whether a script says this, so that it can be replaced by a mistake.
pub(crate) fn is_said(text: &str) -> bool {
    scripts().contains(text)
}

/// All scripts, as they are written.
fn scripts() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/store/src/scripts");
    let texts = [folder.to_owned(), format!("{folder}/lib")].into_iter().flat_map(|folder| {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|extension| extension == "lua"))
    });
    texts.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn every_defect_is_one_of_today_s_scripts() {
    for defect in DEFECTS {
        assert!(is_said(defect.instead_of), "{}: no script says it", defect.name);
    }
}

#[test]
fn every_defect_is_found_in_its_night() {
    let is_missed = |defect: &&Defect| breaks(defect, defect.seed).is_none();
    let missed: Vec<_> = DEFECTS.iter().filter(is_missed).map(|one| (one.name, one.seed)).collect();
    assert!(missed.is_empty(), "{missed:?}");
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
