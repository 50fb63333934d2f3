//! An idler: polls when it is told to, as a visitor does, is told its turn, and never claims. It goes on
//! polling until it is told that its place is lost, or the run is over. One that comes while nobody waits
//! has a seat without a claim, and stays as a visitor does.

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

/// Seconds before it asks again after a failure.
const AFTER_FAILURE: f64 = 1.0;

/// Somebody who never claims.
#[derive(Debug)]
pub(super) struct Idler<T> {
    ticket: Option<T>,
    is_told: bool,
    seat: Option<usize>,
    /// How long it stays, should it be let in.
    stay: Duration,
}

// === impl Idler ===

impl<T: Clone> Idler<T> {
    /// One about to arrive.
    pub(super) fn new(stay: Duration) -> Self {
        Self { ticket: None, is_told: false, seat: None, stay }
    }

    fn after_answer(&mut self, answer: &Answer, now: f64, log: &mut HostileLog) -> Act<T> {
        match answer.status {
            Standing::Waiting => self.calls(Call::Status, told(answer)),
            Standing::YourTurn => {
                log.told_their_turn += u64::from(!self.is_told);
                self.is_told = true;
                self.calls(Call::Status, told(answer))
            }
            Standing::Admitted => {
                self.seat = Some(log.takes_a_seat(now));
                self.calls(Call::Leave, self.stay)
            }
            Standing::Expired | Standing::Closed => {
                log.lost_their_place += 1;
                Act::Gone
            }
        }
    }

    fn calls(&self, call: Call, after: Duration) -> Act<T> {
        Act::Call(call, self.ticket.clone(), after)
    }
}

impl<T: Clone + Send> Mischief<T> for Idler<T> {
    fn next(&mut self, heard: Heard<T>, rng: &mut SmallRng, log: &mut HostileLog) -> Act<T> {
        self.ticket = heard.reply.ticket.or(self.ticket.take());
        if let Some(seat) = self.seat.filter(|_| heard.call == Call::Leave) {
            log.gives_back(seat, heard.sent);
        }
        match heard.reply.outcome {
            Outcome::Answer(answer) => self.after_answer(&answer, heard.now, log),
            Outcome::Left => Act::Gone,
            Outcome::Shed { retry_after, .. } => {
                self.calls(heard.call, jittered(retry_after.max(0.1), 0.5, rng))
            }
            Outcome::Refused(status) if status.is_client_error() => Act::Gone,
            Outcome::Refused(_) | Outcome::Broken(_) | Outcome::Garbled => {
                self.calls(heard.call, jittered(AFTER_FAILURE, 1.0, rng))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::Watched, *};

    const STAY: Duration = Duration::from_secs(20);

    #[test]
    fn polls_as_it_is_told_and_never_claims() {
        let mut idler = Watched::new(|_| Idler::new(STAY));
        let as_told = |ticket| Act::Call(Call::Status, Some(ticket), Duration::from_secs(3));
        assert_eq!(idler.told(Call::Join, "waiting", 1), as_told(1));
        for ticket in 2..20 {
            assert_eq!(idler.told(Call::Status, "your_turn", ticket), as_told(ticket));
        }
        assert_eq!(idler.log.told_their_turn, 1, "however often it is told");
        assert_eq!(idler.told(Call::Status, "expired", 20), Act::Gone);
        assert_eq!((idler.log.lost_their_place, idler.log.seats.len()), (1, 0));
    }

    #[test]
    fn stays_on_a_seat_that_it_was_given_as_a_visitor_does() {
        let mut idler = Watched::new(|_| Idler::new(STAY));
        let leaves = Act::Call(Call::Leave, Some(1), STAY);
        assert_eq!(idler.told(Call::Join, "admitted", 1), leaves);
        assert_eq!(idler.hears(Call::Leave, Outcome::Left, None), Act::Gone);
        assert_eq!(idler.log.seats, [(1.0, 1.5)]);
    }

    #[test]
    fn stays_through_failures_and_goes_when_it_is_unknown() {
        let mut idler = Watched::new(|_| Idler::new(STAY));
        idler.told(Call::Join, "waiting", 1);
        assert!(matches!(idler.refused(Call::Status, 500), Act::Call(Call::Status, Some(1), _)));
        assert_eq!(idler.refused(Call::Status, 400), Act::Gone);
    }
}
