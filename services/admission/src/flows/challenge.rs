//! Whether a newcomer may have a place in a room with a challenge: by a solution, which counts once, or by a
//! pass. Holders of a ticket are never asked.

use vestibule_domain::challenge::{
    ChallengeMode, ChallengeProvider, OnProviderFailure, max_number,
};
use vestibule_token::{ChallengeError, Mark, Shown};

use super::{FlowError, Flows, RoomContext};
use crate::challenges::{Demand, Outcome, Task, Verdict};

/// For how long a puzzle may be solved, in seconds: time for a slow device, and little for a hoard.
const PUZZLE_SECONDS: u64 = 600;
/// For how long the token of another provider is remembered, in seconds: longer than any of them accepts one.
const TOKEN_SECONDS: u64 = 600;

/// What a newcomer has shown, and how it came.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Solution<'a> {
    /// A solution or a pass, unread, if anything.
    pub(crate) shown: Option<&'a str>,
    /// How it came.
    pub(crate) sender: Sender,
}

/// Who sends a solution, or none, as far as that decides who is told of the challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Sender {
    /// An app, by the visitors' calls: it was to bring one.
    #[default]
    App,
    /// A browser, or what is passed on by a gateway, where browsers ask for more than pages: the page that would solve
    /// it may not have been seen yet.
    Browser,
    /// An AWS-style client: it lives by request ids, and those of the endless line do not open.
    AwsClient,
}

/// Where a newcomer gets to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Passage {
    /// To a place; `spent`: what was used up for it.
    Place { spent: Option<Mark> },
    /// To the endless line.
    EndlessLine,
}

// === impl Solution ===

impl Solution<'_> {
    /// None, of somebody who is told that there is to be one.
    pub(crate) const NONE: Self = Self { shown: None, sender: Sender::Browser };

    /// The same, by `sender`.
    pub(crate) fn by(self, sender: Sender) -> Self {
        Self { sender, ..self }
    }

    /// Whether there is one.
    pub(super) fn is_shown(&self) -> bool {
        self.shown.is_some_and(|text| !text.is_empty())
    }

    /// Whether whom it has got no further by `outcome` is not told so, where there is an endless line. Who has done
    /// its work, and was late or has sent it twice, is told.
    fn is_deceived(&self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Wrong => self.sender != Sender::AwsClient,
            // A browser's widget may be blocked.
            Outcome::Missing | Outcome::Refused => self.sender == Sender::App,
            Outcome::Solved
            | Outcome::Pass
            | Outcome::Expired
            | Outcome::Used
            | Outcome::ProviderFailed => false,
        }
    }
}

// === impl Flows ===

impl Flows {
    /// Lets a newcomer through to a place or to the endless line, or not at all.
    ///
    /// # Errors
    /// [`FlowError::ChallengeRequired`] with what it has to solve; [`FlowError::ProviderAway`]; or the store's.
    pub(super) async fn challenge(
        &self,
        room: &RoomContext,
        solution: Solution<'_>,
    ) -> Result<Passage, FlowError> {
        let settings = &room.snapshot.settings;
        if !settings.challenge.is_on() {
            return Ok(Passage::Place { spent: None });
        }
        let only_logs = settings.challenge.mode == ChallengeMode::Log;
        let (outcome, spent) = match self.outcome(room, solution).await {
            // Nobody is kept out because the provider cannot be asked.
            Err(FlowError::ProviderAway) if only_logs => (Outcome::ProviderFailed, None),
            outcome => outcome?,
        };
        let name = &room.snapshot.room;
        self.challenges.counter.count(name, outcome);
        if outcome.passes() {
            self.challenges.count_passed(room.known.now_ms());
            return Ok(Passage::Place { spent });
        }
        if only_logs {
            tracing::debug!(room = %name, ?outcome, "a newcomer would be challenged");
            return Ok(Passage::Place { spent: None });
        }
        if settings.challenge.mode == ChallengeMode::EndlessLine && solution.is_deceived(outcome) {
            return Ok(Passage::EndlessLine);
        }
        match (outcome, settings.challenge.on_provider_failure) {
            (Outcome::ProviderFailed, OnProviderFailure::Admit) => {
                Ok(Passage::Place { spent: None })
            }
            (Outcome::ProviderFailed, OnProviderFailure::Refuse) => Err(FlowError::ProviderAway),
            _ => Err(FlowError::ChallengeRequired(Box::new(self.demand(room, outcome.reason())))),
        }
    }

    /// What a newcomer of `room` has to solve. `refused`: why what it has shown does not count.
    pub(crate) fn demand(&self, room: &RoomContext, refused: Option<&'static str>) -> Demand {
        let challenge = &room.snapshot.settings.challenge;
        let now_ms = room.known.now_ms();
        let task = if challenge.provider == ChallengeProvider::ProofOfWork {
            let hardest = max_number(self.challenges.passed_per_second(now_ms));
            Task::Puzzle(room.ciphers.challenges.puzzle(hardest, now_ms / 1000 + PUZZLE_SECONDS))
        } else {
            Task::Widget { site_key: challenge.site_key.clone().unwrap_or_default() }
        };
        Demand { provider: challenge.provider, task, refused }
    }

    /// What becomes of what a newcomer has shown, and what was used up of it.
    async fn outcome(
        &self,
        room: &RoomContext,
        solution: Solution<'_>,
    ) -> Result<(Outcome, Option<Mark>), FlowError> {
        let as_it_is = |outcome| Ok((outcome, None));
        let Some(text) = solution.shown.filter(|text| !text.is_empty()) else {
            return as_it_is(Outcome::Missing);
        };
        let challenge = &room.snapshot.settings.challenge;
        let now = room.known.now_ms() / 1000;
        let checked = room.ciphers.challenges.check(text, now);
        match (checked, challenge.provider) {
            (Ok(Shown::Pass(None)), _) => as_it_is(Outcome::Pass),
            (Ok(Shown::Pass(Some(mark))), _) => self.spend(room, mark, Outcome::Pass).await,
            (Ok(Shown::Solution(mark)), ChallengeProvider::ProofOfWork) => {
                self.spend(room, mark, Outcome::Solved).await
            }
            (Err(ChallengeError::Expired), _) => as_it_is(Outcome::Expired),
            (_, ChallengeProvider::ProofOfWork) => as_it_is(Outcome::Wrong),
            (_, provider) => {
                let site_key = challenge.site_key.as_deref().unwrap_or_default();
                let network = room.caller.network;
                match self.challenges.providers.verify(provider, site_key, text, network).await {
                    Verdict::Passed => {
                        let mark = Mark::of(text, now + TOKEN_SECONDS);
                        self.spend(room, mark, Outcome::Solved).await
                    }
                    Verdict::Refused => as_it_is(Outcome::Refused),
                    Verdict::Used => as_it_is(Outcome::Used),
                    Verdict::Failed => as_it_is(Outcome::ProviderFailed),
                    Verdict::Busy => Err(FlowError::ProviderAway),
                }
            }
        }
    }

    /// `first`, unless `mark` was used before.
    async fn spend(
        &self,
        room: &RoomContext,
        mark: Mark,
        first: Outcome,
    ) -> Result<(Outcome, Option<Mark>), FlowError> {
        let is_first = self.spends.spend(&room.snapshot.room, mark.clone()).await?;
        Ok(if is_first { (first, Some(mark)) } else { (Outcome::Used, None) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_may_be_a_person_or_has_done_its_work_is_told() {
        let deceived = |sender| {
            let all = [
                Outcome::Missing,
                Outcome::Wrong,
                Outcome::Refused,
                Outcome::Expired,
                Outcome::Used,
                Outcome::ProviderFailed,
            ];
            all.map(|outcome| Solution::NONE.by(sender).is_deceived(outcome))
        };
        assert_eq!(deceived(Sender::App), [true, true, true, false, false, false]);
        assert_eq!(deceived(Sender::Browser), [false, true, false, false, false, false]);
        assert_eq!(deceived(Sender::AwsClient), [false; 6]);
    }
}
