//! Sharers: several clients with one ticket. The first one joins and enters in its turn, as a visitor does; then each of
//! the others asks with its ticket, one after the other, whether it is inside. After that the first one leaves when its
//! stay is over.

use std::time::Duration;

use rand::rngs::SmallRng;

use super::{
    super::{
        Answer, Outcome, Standing,
        pauses::{jittered, told},
    },
    Act, Heard, Mischief,
};
use crate::{crowd::Call, record::HostileLog};

/// Seconds before one asks again after a failure.
const AFTER_FAILURE: f64 = 1.0;

/// Those who share a ticket.
#[derive(Debug)]
pub(super) struct Sharers<T> {
    ticket: Option<T>,
    /// How many there are besides the first one.
    others: usize,
    /// Which of the others asks.
    asks: Option<usize>,
    seat: Option<usize>,
    /// How long the first one stays.
    stay: Duration,
}

// === impl Sharers ===

impl<T: Clone> Sharers<T> {
    /// So many about to arrive.
    pub(super) fn new(clients: u32, stay: Duration) -> Self {
        let others = usize::try_from(clients.saturating_sub(1)).unwrap_or(usize::MAX);
        Self { ticket: None, others, asks: None, seat: None, stay }
    }

    fn calls(&self, call: Call, after: Duration) -> Act<T> {
        Act::Call(call, self.ticket.clone(), after)
    }

    /// What the first one makes of an answer.
    fn after_answer(
        &mut self,
        call: Call,
        answer: &Answer,
        now: f64,
        log: &mut HostileLog,
    ) -> Act<T> {
        match answer.status {
            Standing::Waiting => self.calls(Call::Status, told(answer)),
            Standing::YourTurn if call == Call::Claim => self.calls(Call::Claim, told(answer)),
            Standing::YourTurn => {
                log.told_their_turn += 1;
                self.calls(Call::Claim, Duration::ZERO)
            }
            Standing::Admitted => {
                self.seat = Some(log.takes_a_seat(now));
                self.ask(0)
            }
            Standing::Expired | Standing::Closed => {
                log.lost_their_place += 1;
                Act::Gone
            }
        }
    }

    /// The `nth` of the others asks next, or nobody is left who has not.
    fn ask(&mut self, nth: usize) -> Act<T> {
        self.asks = (nth < self.others).then_some(nth);
        match self.asks {
            Some(_) => self.calls(Call::Status, Duration::ZERO),
            None => self.calls(Call::Leave, self.stay),
        }
    }
}

impl<T: Clone + Send> Mischief<T> for Sharers<T> {
    fn next(&mut self, heard: Heard<T>, rng: &mut SmallRng, log: &mut HostileLog) -> Act<T> {
        if self.asks.is_none() {
            self.ticket = heard.reply.ticket.or(self.ticket.take());
        }
        if let Some(seat) = self.seat.filter(|_| heard.call == Call::Leave) {
            log.gives_back(seat, heard.sent);
        }
        match (heard.reply.outcome, self.asks) {
            (Outcome::Shed { retry_after, .. }, _) => {
                self.calls(heard.call, jittered(retry_after.max(0.1), 0.5, rng))
            }
            (Outcome::Answer(answer), Some(nth)) => {
                let is_in = answer.status == Standing::Admitted && answer.access_token.is_some();
                let count = if is_in { &mut log.let_in } else { &mut log.kept_out };
                *count += 1;
                self.ask(nth + 1)
            }
            (Outcome::Refused(status), Some(nth)) if status.is_client_error() => {
                log.kept_out += 1;
                self.ask(nth + 1)
            }
            (Outcome::Answer(answer), None) => {
                self.after_answer(heard.call, &answer, heard.now, log)
            }
            (Outcome::Left, _) => Act::Gone,
            (Outcome::Refused(status), None) if status.is_client_error() => Act::Gone,
            (Outcome::Refused(_) | Outcome::Broken(_) | Outcome::Garbled, _) => {
                self.calls(heard.call, jittered(AFTER_FAILURE, 1.0, rng))
            }
        }
    }

    fn further_client(&self) -> Option<usize> {
        self.asks
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::Watched, *};

    const STAY: Duration = Duration::from_secs(20);

    #[test]
    fn one_enters_and_each_of_the_others_asks_with_its_ticket() {
        let mut sharers = Watched::new(|_| Sharers::new(4, STAY));
        assert_eq!(
            sharers.told(Call::Join, "waiting", 1),
            Act::Call(Call::Status, Some(1), Duration::from_secs(3))
        );
        let claims = Act::Call(Call::Claim, Some(2), Duration::ZERO);
        assert_eq!(sharers.told(Call::Status, "your_turn", 2), claims);
        assert_eq!(sharers.who.further_client(), None);
        let asks = Act::Call(Call::Status, Some(3), Duration::ZERO);
        assert_eq!(sharers.told(Call::Claim, "admitted", 3), asks);
        assert_eq!(sharers.who.further_client(), Some(0));
        assert_eq!(sharers.told(Call::Status, "admitted", 9), asks, "with the ticket of the first");
        assert!(matches!(sharers.refused(Call::Status, 500), Act::Call(Call::Status, Some(3), _)));
        assert_eq!(sharers.refused(Call::Status, 400), asks);
        assert_eq!(sharers.who.further_client(), Some(2));
        let leaves = Act::Call(Call::Leave, Some(3), STAY);
        assert_eq!(sharers.told(Call::Status, "waiting", 9), leaves);
        assert_eq!((sharers.log.let_in, sharers.log.kept_out), (1, 2));
        assert_eq!(sharers.who.further_client(), None);
        assert_eq!(sharers.hears(Call::Leave, Outcome::Left, None), Act::Gone);
    }

    #[test]
    fn without_a_place_there_is_nothing_to_share() {
        let mut sharers = Watched::new(|_| Sharers::<u32>::new(4, STAY));
        sharers.told(Call::Join, "waiting", 1);
        assert_eq!(sharers.told(Call::Status, "expired", 1), Act::Gone);
        assert_eq!((sharers.log.let_in, sharers.log.kept_out), (0, 0));
    }
}
