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

/// What a newcomer has shown, if anything: a solution or a pass, unread.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Solution<'a>(pub(crate) Option<&'a str>);

// === impl Flows ===

impl Flows {
    /// Lets a newcomer through to a place, or not.
    ///
    /// # Errors
    /// [`FlowError::ChallengeRequired`] with what it has to solve; [`FlowError::ProviderAway`]; or the store's.
    pub(super) async fn challenge(
        &self,
        room: &RoomContext,
        solution: Solution<'_>,
    ) -> Result<(), FlowError> {
        let settings = &room.snapshot.settings;
        if !settings.challenge.is_on() || settings.suspended {
            return Ok(());
        }
        let outcome = self.outcome(room, solution).await?;
        let name = &room.snapshot.room;
        self.challenges.counter.count(name, outcome);
        if outcome.passes() {
            self.challenges.count_passed(room.known.now_ms());
            return Ok(());
        }
        if settings.challenge.mode == ChallengeMode::Log {
            tracing::debug!(room = %name, ?outcome, "a newcomer would be challenged");
            return Ok(());
        }
        match (outcome, settings.challenge.on_provider_failure) {
            (Outcome::ProviderFailed, OnProviderFailure::Admit) => Ok(()),
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

    async fn outcome(
        &self,
        room: &RoomContext,
        Solution(solution): Solution<'_>,
    ) -> Result<Outcome, FlowError> {
        let Some(text) = solution.filter(|text| !text.is_empty()) else {
            return Ok(Outcome::Missing);
        };
        let challenge = &room.snapshot.settings.challenge;
        let now = room.known.now_ms() / 1000;
        let checked = room.ciphers.challenges.check(text, now);
        match (checked, challenge.provider) {
            (Ok(Shown::Pass(None)), _) => Ok(Outcome::Pass),
            (Ok(Shown::Pass(Some(mark))), _) => self.spend(room, mark, Outcome::Pass).await,
            (Ok(Shown::Solution(mark)), ChallengeProvider::ProofOfWork) => {
                self.spend(room, mark, Outcome::Solved).await
            }
            (Err(ChallengeError::Expired), _) => Ok(Outcome::Expired),
            (_, ChallengeProvider::ProofOfWork) => Ok(Outcome::Wrong),
            (_, provider) => {
                let site_key = challenge.site_key.as_deref().unwrap_or_default();
                match self.challenges.providers.verify(provider, site_key, text).await {
                    Verdict::Passed => {
                        let mark = Mark::of(text, now + TOKEN_SECONDS);
                        self.spend(room, mark, Outcome::Solved).await
                    }
                    Verdict::Refused => Ok(Outcome::Refused),
                    Verdict::Failed => Ok(Outcome::ProviderFailed),
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
    ) -> Result<Outcome, FlowError> {
        let is_first = self.spends.spend(&room.snapshot.room, mark).await?;
        Ok(if is_first { first } else { Outcome::Used })
    }
}
