//! Those at the door and those inside: seats are claimed, the lowest ranks first, held and left.

use vestibule_domain::poll;
use vestibule_store::{Claim, ClaimOutcome};

use super::{Crowd, State};
use crate::{number::real64, record::Ending};

/// How many at the door claim together.
const AT_ONCE: usize = 64;
/// Who was called too early asks again after this, ms.
const ASK_AGAIN_MS: u64 = 1_000;

impl Crowd {
    /// The lowest ranks claim together, until one of them finds no seat.
    pub(super) async fn claim(&mut self) -> anyhow::Result<()> {
        loop {
            let asking: Vec<_> = self.door.iter().take(AT_ONCE).copied().collect();
            if asking.is_empty() {
                return Ok(());
            }
            let claims: Vec<_> = asking.iter().map(|&(_, id)| self.claim_of(id)).collect();
            let outcomes = self.world.claim(&claims).await?;
            let full = outcomes.contains(&ClaimOutcome::NoSeat);
            for (place, outcome) in asking.into_iter().zip(outcomes) {
                self.after_claim(place, &outcome);
            }
            if full {
                return Ok(());
            }
        }
    }

    fn claim_of(&self, id: u32) -> Claim {
        let visitor = &self.visitors[id as usize];
        let won = poll::has_won(self.world.snapshot(), &visitor.waiter, visitor.win_threshold);
        self.world.claim_of(visitor.waiter.place, won)
    }

    fn after_claim(&mut self, place: (u64, u32), outcome: &ClaimOutcome) {
        if *outcome == ClaimOutcome::NoSeat {
            return;
        }
        self.door.remove(&place);
        let id = place.1;
        match outcome {
            ClaimOutcome::Entered(token)
            | ClaimOutcome::Repeated(token)
            | ClaimOutcome::Uncounted(token) => {
                let lease = self.visitors[id as usize].waiter.lease.take();
                self.exchange(lease, None);
                self.enter(id, token.expires_at);
            }
            ClaimOutcome::NotServed | ClaimOutcome::NoSeat => {
                self.visitors[id as usize].state = State::Waiting;
                self.put(id, ASK_AGAIN_MS);
            }
            ClaimOutcome::PositionExpired => self.finish(id, Ending::Expired),
            ClaimOutcome::SessionEnded => self.finish(id, Ending::Closed),
            ClaimOutcome::Foreign => self.finish(id, Ending::Failed),
        }
    }

    pub(super) fn enter(&mut self, id: u32, expires_at: u64) {
        let now_ms = self.world.now_ms();
        // A session lives through the whole second in which its token expires.
        let session_ms = (expires_at * 1000 + 1000).saturating_sub(now_ms);
        let now = self.now();
        self.book.enter(id, now, now + real64(session_ms) / 1000.0);
        self.spare.enter(now_ms);
        let visitor = &mut self.visitors[id as usize];
        let stay_ms = u64::from(visitor.stay_ms);
        visitor.state = if stay_ms < session_ms { State::Inside } else { State::Staying };
        self.put(id, stay_ms.min(session_ms));
    }

    pub(super) async fn leave(&mut self, ids: &[u32]) -> anyhow::Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let number = |id: &u32| self.visitors[*id as usize].waiter.place.number;
        self.world.leave(ids.iter().map(number)).await?;
        for &id in ids {
            self.spare.leave();
            self.finish(id, Ending::Left);
        }
        Ok(())
    }
}
