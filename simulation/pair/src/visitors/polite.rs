//! A person with a browser: joins, asks again when told to, enters when it is its turn, looks around,
//! and leaves.

use vestibule_admission::in_process::Status;
use vestibule_history::Act;

use super::{Call, Told, Visitor, person::Person};

/// After how long a page asks again that got no answer, ms.
const AFTER_NO_ANSWER_MS: u64 = 2_000;
/// How often a hidden tab may do anything that is throttled, ms.
const HIDDEN_MS: u64 = 60_000;
/// How likely it is that somebody whose tab is hidden looks at it before it asks once more at the door.
const LOOKS: f64 = 0.4;
/// How often a person inside looks at another page, ms, about.
const PAGES_MS: f64 = 8_000.0;
/// How often a person tries to come back whose place or session was lost.
const ATTEMPTS: usize = 3;

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    Inside,
    TabClosed,
    Lost,
}

// === impl Visitor ===

impl Visitor {
    /// Comes, waits, enters and leaves.
    pub(super) async fn be_polite(mut self, person: Person) {
        self.wait_ms(person.arrives_ms).await;
        let mut patience_ms = person.patience_ms;
        for _ in 0..ATTEMPTS {
            let waited = self.wait_for_a_seat(&person, patience_ms).await;
            match waited {
                Wait::Inside => {
                    self.stay(&person).await;
                    return;
                }
                Wait::TabClosed => {
                    self.close_tab(&person).await;
                    let Some(ms) = person.returns_after_ms else { return };
                    self.wait_ms(ms).await;
                    self.act_now(Act::CameBack);
                    // It has learnt to wait.
                    patience_ms = None;
                }
                Wait::Lost => self.wait_ms(AFTER_NO_ANSWER_MS).await,
            }
        }
    }

    /// Waits until it is inside, in as many tabs as it has: they share the cookie.
    async fn wait_for_a_seat(&mut self, person: &Person, patience_ms: Option<u64>) -> Wait {
        let until_ms = patience_ms.map(|ms| self.stage.history.now_ms() + ms);
        let mut told = self.call(Call::Join).await;
        loop {
            let next_ms = match told {
                Told::Stands(Status::Admitted, _) | Told::Passes => return Wait::Inside,
                Told::Stands(Status::Expired, _) | Told::Worthless => {
                    self.carried = None;
                    return Wait::Lost;
                }
                // The room lets nobody in: whoever has a place keeps it.
                Told::Stands(Status::Closed, _) if self.carried.is_none() => return Wait::Lost,
                Told::Stands(Status::YourTurn, next_ms) => next_ms.min(1_000),
                Told::Stands(_, next_ms) => next_ms.max(200),
                Told::Nothing => AFTER_NO_ANSWER_MS + self.chance.within(0..500),
            };
            let is_turn = matches!(told, Told::Stands(Status::YourTurn, _));
            let is_throttled = person.throttled && !is_turn;
            let pause_ms = if is_throttled { next_ms.max(HIDDEN_MS) } else { next_ms };
            let now_ms = self.stage.history.now_ms();
            if until_ms.is_some_and(|until_ms| now_ms + pause_ms >= until_ms) {
                self.wait_ms(until_ms.unwrap_or(now_ms).saturating_sub(now_ms)).await;
                return Wait::TabClosed;
            }
            self.wait_ms(pause_ms).await;
            told = self.ask_in_some_tab(person, is_turn).await;
        }
    }

    /// Asks as told: claims if it is its turn. Further tabs ask with the same cookie, a little later.
    async fn ask_in_some_tab(&mut self, person: &Person, is_turn: bool) -> Told {
        let call = match self.carried {
            None => Call::Join,
            // Nobody looks at it, so a seat is held, until somebody does.
            Some(_) if is_turn && person.hidden && !self.chance.happens(LOOKS) => Call::Hold,
            Some(_) if is_turn => Call::Claim,
            Some(_) => Call::Status,
        };
        let mut told = self.call(call).await;
        for _ in 1..person.tabs {
            if matches!(told, Told::Stands(Status::Admitted, _)) {
                return told;
            }
            if self.carried.is_some() {
                told = self.call(Call::Status).await;
            }
        }
        told
    }

    /// Closes the tab, or gives its place up first, if it is somebody who says goodbye.
    async fn close_tab(&mut self, person: &Person) {
        if person.says_goodbye
            && self.carried.is_some()
            && let Told::Stands(Status::Closed, _) = self.call(Call::Leave).await
        {
            self.act_now(Act::GaveUp);
        } else {
            self.act_now(Act::ClosedTab);
        }
    }

    /// Stays inside for a while, and leaves.
    async fn stay(&mut self, person: &Person) {
        let until_ms = self.stage.history.now_ms() + person.stays_ms;
        loop {
            let left_ms = until_ms.saturating_sub(self.stage.history.now_ms());
            let pause_ms = if person.browses {
                super::as_ms(self.chance.spread(PAGES_MS) / 1000.0)
            } else {
                person.stays_ms / 3
            };
            if left_ms <= pause_ms {
                self.wait_ms(left_ms).await;
                break;
            }
            self.wait_ms(pause_ms).await;
            let call = if person.browses { Call::Page } else { Call::Status };
            match self.call(call).await {
                Told::Passes | Told::Stands(Status::Admitted, _) | Told::Nothing => {}
                // The session ran out, or was ended.
                Told::Stands(..) | Told::Worthless => return,
            }
        }
        if person.says_goodbye
            && self.carried.is_some()
            && let Told::Stands(..) = self.call(Call::Leave).await
        {
            self.act_now(Act::Left);
        }
    }
}
