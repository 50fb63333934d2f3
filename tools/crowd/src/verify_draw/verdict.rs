//! What the findings are worth, in words: what is proven, and what nobody can prove this way.

use vestibule_domain::draw::{BeaconOutcome, DrawRecord};

use super::examination::{Examination, time_of_round, told};
use crate::report::layout::Section;

/// What a commitment proves that was noted in time, and one that was not.
const KEPT: &str = "The operator could not exchange the committed seed after you noted its hash.";
const KEPT_IF_NOTED: &str = "The operator could not exchange the committed seed after its hash was \
    published: compare the commitment with one that was noted before the pre-queue.";

/// How the final seed came about.
enum Chance {
    /// From the operator alone: there was no beacon, or its answer is not in the seed.
    Operators,
    /// From the operator, and it is said that the beacon did not answer.
    Fallback,
    /// From the operator and a beacon's round.
    Mixed(u64),
    /// The same, but the round was public at this time already, before the start.
    MixedEarly(u64, u64),
}

/// The last part of the report, unless the record proves nothing. `noted`: whether the commitment
/// was compared with one that somebody wrote down before.
pub(super) fn sections(
    record: &DrawRecord,
    examination: &Examination,
    noted: bool,
) -> Option<[Section; 2]> {
    let draw = examination.draw.as_ref().filter(|_| examination.holds())?;
    let chance = chance(record);
    let point = |section: Section, text: String| section.row("-", "", text);
    let follows =
        "Every place follows from what is published; anyone who computes it gets the same.";
    let kept = if noted { KEPT } else { KEPT_IF_NOTED };
    let proves = [follows, kept].map(str::to_owned).into_iter().chain(chance.proves());
    let count = draw.count();
    let people = format!(
        "That {count} is how many came, that these were as many people, and whose the numbers were."
    );
    Some([
        proves.fold(Section::new("What this proves"), point),
        [chance.leaves_open(), people]
            .into_iter()
            .fold(Section::new("What it does not prove"), point),
    ])
}

fn chance(record: &DrawRecord) -> Chance {
    match &record.beacon {
        None => Chance::Operators,
        Some(beacon) => match beacon.outcome {
            Some(BeaconOutcome::Verified { .. }) => {
                let round = beacon.asked.round;
                match time_of_round(&beacon.asked) {
                    Some(time) if time < record.event_start => Chance::MixedEarly(round, time),
                    _ => Chance::Mixed(round),
                }
            }
            Some(BeaconOutcome::Unanswered) | None => Chance::Fallback,
        },
    }
}

// === impl Chance ===

impl Chance {
    fn proves(&self) -> Option<String> {
        let (Self::Mixed(round) | Self::MixedEarly(round, _)) = self else { return None };
        Some(format!(
            "Nobody, the operator included, could know a place before round {round} was signed."
        ))
    }

    fn leaves_open(&self) -> String {
        let text = match self {
            Self::MixedEarly(round, time) => {
                return format!(
                    "That the operator did not look: round {round} was public from {} on, before the start, and who \
                     knows the committed seed could work out from then on which queue numbers will be first.",
                    told(*time)
                );
            }
            Self::Operators => {
                "That the operator did not look: who knows the committed seed beforehand can \
                 work out which queue numbers will be first. A beacon would rule that out."
            }
            Self::Fallback => {
                "That the beacon did not answer in time: ask it for that round yourself. If it \
                 was to be had, the operator may have chosen to do without."
            }
            Self::Mixed(_) => {
                "That the public key is the beacon's, and that the round lay ahead when the \
                 commitment was published: compare both with what the beacon publishes."
            }
        };
        text.to_owned()
    }
}
