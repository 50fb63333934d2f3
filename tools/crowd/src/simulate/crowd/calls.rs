//! The calls that visitors make: each goes to an admission of the visitor's region.

use std::sync::Arc;

use vestibule_simulation::{Answer, CallError, Carried, Door, Failure, Seed};

use super::Crowd;
use crate::crowd::{Call, number::index};

/// A call, before it is made.
#[derive(Debug)]
pub(super) struct Ask {
    id: u32,
    call: Call,
    room: Arc<str>,
    region: usize,
    carried: Option<Carried>,
    /// Which of the crowd's calls it is, and the crowd's seed: they decide which admission gets it.
    number: u64,
    seed: Seed,
}

/// A call that was made.
#[derive(Debug)]
pub(super) struct Made {
    /// Whose.
    pub(super) id: u32,
    /// Which.
    pub(super) call: Call,
    /// What came of it.
    pub(super) answer: Result<Answer, Failure>,
}

// === impl Ask ===

impl Ask {
    /// Makes the call.
    pub(super) async fn make(self, door: Door) -> Made {
        let Self { id, call, room, region, carried, number, seed } = self;
        let mut chance = seed.chance("call", number);
        let answer = door
            .visit_from(region, &mut chance, async |admission| {
                let ticket = carried.ok_or(CallError::InvalidTicket);
                match call {
                    Call::Join => admission.join(&room, carried).await,
                    Call::Status => admission.status(&room, ticket?).await,
                    Call::Claim => admission.claim(&room, ticket?).await,
                    Call::Leave => admission.leave(&room, ticket?).await,
                }
            })
            .await;
        Made { id, call, answer }
    }
}

// === impl Crowd ===

impl Crowd {
    /// What a visitor is about to ask. It is written down as sent.
    pub(super) fn ask(&mut self, id: u32, call: Call) -> Ask {
        let now = self.now();
        self.book.calls.count(call, index(now));
        match call {
            Call::Join => self.book.arrive(id, now),
            Call::Leave => self.book.leave(id, now),
            Call::Status | Call::Claim => {}
        }
        if matches!(call, Call::Join | Call::Claim) {
            self.spare.ask();
        }
        self.calls_made += 1;
        let visitor = &self.visitors[id as usize];
        Ask {
            id,
            call,
            room: Arc::clone(&self.room),
            region: visitor.region.into(),
            carried: visitor.carried,
            number: self.calls_made,
            seed: Seed(self.shape.seed),
        }
    }
}
