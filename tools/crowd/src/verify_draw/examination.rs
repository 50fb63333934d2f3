//! What must hold in a record, one finding after the other.

use vestibule_domain::{
    draw::{BeaconOutcome, BeaconRecord, Draw, DrawRecord, to_hex},
    schedule::{Beacon, RoundClock, moment},
};
use vestibule_token::beacon;

/// What was found out about one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finding {
    /// It is as it should be.
    Holds(String),
    /// It is not.
    Broken(String),
    /// Nobody can tell, or nobody asked.
    Unchecked(String),
}

/// Everything that was found out.
#[derive(Debug)]
pub(super) struct Examination {
    /// In the order in which one thing builds on another.
    pub(super) findings: Vec<Finding>,
    /// What places may be computed with: nothing unless all that leads to it holds.
    pub(super) draw: Option<Draw>,
}

// === impl Finding ===

impl Finding {
    /// In a word, and in a sentence.
    pub(super) fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Holds(text) => ("ok", text),
            Self::Broken(text) => ("WRONG", text),
            Self::Unchecked(text) => ("-", text),
        }
    }
}

// === impl Examination ===

impl Examination {
    /// Examines everything but the single places. `noted` is the commitment that somebody wrote
    /// down before.
    pub(super) fn new(record: &DrawRecord, noted: Option<&str>) -> Self {
        let mut findings = Vec::new();
        findings.extend(noted.map(|noted| check_noted(record, noted)));
        let checked = record.check();
        match &checked {
            Ok(_) => findings.extend(sound(record)),
            Err(faults) => {
                findings.extend(faults.iter().map(|fault| Finding::Broken(fault.to_string())));
            }
        }
        findings.extend(record.beacon.as_ref().and_then(check_beacon));
        findings.extend(check_time(record));
        let mut examination = Self { findings, draw: None };
        examination.draw = checked.ok().filter(|_| examination.holds());
        examination
    }

    /// Whether nothing is broken.
    pub(super) fn holds(&self) -> bool {
        !self.findings.iter().any(|finding| matches!(finding, Finding::Broken(_)))
    }
}

fn check_noted(record: &DrawRecord, noted: &str) -> Finding {
    if record.commitment.eq_ignore_ascii_case(noted) {
        Finding::Holds("commitment: it is the one that you noted".to_owned())
    } else {
        Finding::Broken(format!("commitment: it is not the one that you noted, {noted}"))
    }
}

/// What [`DrawRecord::check`] found to be in order.
fn sound(record: &DrawRecord) -> [Finding; 3] {
    let seed = match record.beacon.as_ref().map(|beacon| &beacon.outcome) {
        Some(Some(BeaconOutcome::Verified { .. })) => {
            "seed: it is the SHA-256 of the committed seed and the beacon's randomness"
        }
        Some(_) => "seed: it is the committed one, as is said for a beacon that does not answer",
        None => "seed: it is the committed one; no beacon was named",
    };
    [
        Finding::Holds(format!("method: {}", record.method)),
        Finding::Holds("promise: the commitment is the SHA-256 of the committed seed".to_owned()),
        Finding::Holds(seed.to_owned()),
    ]
}

/// Whether the beacon's answer is genuine; nothing while there is none.
fn check_beacon(record: &BeaconRecord) -> Option<Finding> {
    let Beacon { round, public_key, url } = &record.asked;
    match record.outcome.as_ref()? {
        BeaconOutcome::Unanswered => Some(Finding::Unchecked(format!(
            "beacon: that round {round} was not to be had in time is only said; see {url}"
        ))),
        BeaconOutcome::Verified { signature, previous_signature, randomness } => {
            let previous = previous_signature.as_deref();
            let signed = beacon::verify(public_key, *round, signature, previous);
            Some(match signed.map(|signed| to_hex(&signed)) {
                Ok(signed) if signed.eq_ignore_ascii_case(randomness) => Finding::Holds(format!(
                    "beacon: round {round} is signed by the public key {public_key}"
                )),
                Ok(signed) => Finding::Broken(format!(
                    "beacon: the randomness of this signature would be {signed}"
                )),
                Err(error) => Finding::Broken(format!("beacon: {error}")),
            })
        }
    }
}

/// Whether the beacon's round came only when nobody could join the draw any more; nothing while it has not answered.
fn check_time(record: &DrawRecord) -> Option<Finding> {
    let BeaconRecord { asked, outcome } = record.beacon.as_ref()?;
    let Some(BeaconOutcome::Verified { .. }) = outcome else { return None };
    let (round, start) = (asked.round, told(record.event_start));
    let Some(published) = time_of_round(asked) else {
        return Some(Finding::Unchecked(format!(
            "time: when round {round} was published is not known here, see {}/info; the start was {start}",
            asked.url.trim_end_matches('/')
        )));
    };
    let times =
        format!("time: round {round} was published {}, the start was {start}", told(published));
    Some(if published < record.event_start {
        Finding::Unchecked(format!("{times}: it was public before nobody could join any more"))
    } else {
        Finding::Holds(times)
    })
}

/// When the round of a beacon is published, unix seconds, if its chain is one that everybody knows.
pub(super) fn time_of_round(beacon: &Beacon) -> Option<u64> {
    Some(RoundClock::of_key(&beacon.public_key)?.time_of(beacon.round))
}

/// A time as people read it.
pub(super) fn told(time: u64) -> String {
    moment::write(time).unwrap_or_else(|_| time.to_string())
}
