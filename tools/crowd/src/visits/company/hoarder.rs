//! A hoarder: joins without a ticket four times a second, whatever it is answered, to the end of the run. It checks in
//! with every ticket that it got, as a visitor does, claims in its turn, and keeps the seat. It never waits because it
//! is told that it is one too many; what it may have is for the service to say.

use rand::rngs::SmallRng;

use super::{
    super::{
        Answer, Outcome, Standing,
        pauses::{jittered, told},
    },
    Act, Heard, Mischief,
};
use crate::{
    crowd::{Call, number::seconds},
    record::HostileLog,
};

/// Seconds between joins, before jitter.
const EVERY: f64 = 0.22;
/// How far jitter lengthens that, which makes it four times a second.
const SPREAD: f64 = 0.25;
/// Seconds before it asks again with a ticket after a failure.
const AFTER_FAILURE: f64 = 1.0;

/// Somebody who takes whatever there is.
#[derive(Debug)]
pub(super) struct Hoarder<T> {
    held: Vec<Held<T>>,
    /// With which of them it asks; `None`: it joins.
    asks_with: Option<usize>,
    joins_at: f64,
}

/// A place or a seat.
#[derive(Debug)]
struct Held<T> {
    ticket: T,
    seat: Option<usize>,
    /// What it does next, and when.
    call: Call,
    due: f64,
}

// === impl Hoarder ===

impl<T: Clone> Hoarder<T> {
    /// One about to arrive.
    pub(super) fn new() -> Self {
        Self { held: Vec::new(), asks_with: None, joins_at: 0.0 }
    }

    /// What is due first.
    fn act(&mut self, now: f64) -> Act<T> {
        let held = self.held.iter().enumerate();
        let first = held.min_by(|(_, one), (_, other)| one.due.total_cmp(&other.due));
        let due = first.filter(|(_, held)| held.due <= self.joins_at);
        self.asks_with = due.map(|(nth, _)| nth);
        match due {
            Some((_, held)) => {
                Act::Call(held.call, Some(held.ticket.clone()), seconds(held.due - now))
            }
            None => Act::Call(Call::Join, None, seconds(self.joins_at - now)),
        }
    }

    /// A place more, if the answer gives one.
    fn joined(&mut self, heard: Heard<T>, log: &mut HostileLog) {
        log.turned_away += u64::from(heard.reply.outcome.is_too_many());
        let Some(ticket) = heard.reply.ticket else { return };
        let Outcome::Answer(answer) = heard.reply.outcome else { return };
        let mut held = Held { ticket, seat: None, call: Call::Join, due: heard.now };
        if held.goes_on(&answer, (heard.sent, heard.now), log) {
            log.places += 1;
            self.held.push(held);
        }
    }

    fn asked(
        &mut self,
        nth: usize,
        heard: Heard<T>,
        rng: &mut SmallRng,
        log: &mut HostileLog,
    ) -> Option<()> {
        let held = self.held.get_mut(nth)?;
        held.ticket = heard.reply.ticket.unwrap_or_else(|| held.ticket.clone());
        let goes_on = match heard.reply.outcome {
            Outcome::Answer(answer) => held.goes_on(&answer, (heard.sent, heard.now), log),
            Outcome::Refused(status) if status.is_client_error() => false,
            Outcome::Shed { retry_after, .. } => {
                held.due = heard.now + jittered(retry_after.max(0.1), 0.5, rng).as_secs_f64();
                true
            }
            Outcome::Left | Outcome::Refused(_) | Outcome::Broken(_) | Outcome::Garbled => {
                held.due = heard.now + jittered(AFTER_FAILURE, 1.0, rng).as_secs_f64();
                true
            }
        };
        (!goes_on).then(|| drop(self.held.swap_remove(nth)))
    }
}

impl<T: Clone + Send> Mischief<T> for Hoarder<T> {
    fn next(&mut self, heard: Heard<T>, rng: &mut SmallRng, log: &mut HostileLog) -> Act<T> {
        let now = heard.now;
        if let Some(nth) = self.asks_with {
            self.asked(nth, heard, rng, log);
        } else {
            self.joins_at = now + jittered(EVERY, SPREAD, rng).as_secs_f64();
            self.joined(heard, log);
        }
        self.act(now)
    }
}

// === impl Held ===

impl<T> Held<T> {
    /// Takes in an answer; whether there is anything left to hold.
    fn goes_on(
        &mut self,
        answer: &Answer,
        (asked_at, now): (f64, f64),
        log: &mut HostileLog,
    ) -> bool {
        let pause = told(answer).as_secs_f64();
        (self.call, self.due) = match answer.status {
            Standing::Waiting => (Call::Status, now + pause),
            Standing::YourTurn if self.call == Call::Claim => (Call::Claim, now + pause),
            Standing::YourTurn => {
                log.told_their_turn += 1;
                (Call::Claim, now)
            }
            Standing::Admitted => {
                let seat = *self.seat.get_or_insert_with(|| log.takes_a_seat(now));
                log.holds_until(seat, answer.expires_in.map_or(f64::INFINITY, |s| asked_at + s));
                (Call::Status, now + pause)
            }
            Standing::Expired | Standing::Closed => {
                log.lost_their_place += u64::from(self.call != Call::Join && self.seat.is_none());
                return false;
            }
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::Watched, *};

    fn said(act: &Act<u32>) -> (Call, Option<u32>) {
        let &Act::Call(call, ticket, _) = act else { panic!("it goes on: {act:?}") };
        (call, ticket)
    }

    #[test]
    fn joins_again_and_again_and_keeps_every_ticket() {
        let mut hoarder = Watched::new(|_| Hoarder::new());
        let mut act = hoarder.told(Call::Join, "waiting", 1);
        let mut seen = Vec::new();
        for ticket in 2..200 {
            let (call, with) = said(&act);
            seen.push((call, with));
            act = hoarder.told(call, "waiting", with.unwrap_or(ticket));
        }
        let joins = seen.iter().filter(|said| **said == (Call::Join, None)).count();
        assert_eq!(u64::try_from(joins).unwrap() + 1, hoarder.log.places);
        assert!(joins > 10 && seen.contains(&(Call::Status, Some(1))), "{seen:?}");
    }

    #[test]
    fn whoever_turns_it_away_hears_of_it_again() {
        let mut hoarder = Watched::new(|_| Hoarder::<u32>::new());
        for _ in 0..10 {
            let act = hoarder.shed(Call::Join, 429, 60.0);
            let Act::Call(Call::Join, None, after) = act else { panic!("it joins: {act:?}") };
            assert!((0.2..0.3).contains(&after.as_secs_f64()), "{after:?}");
        }
        hoarder.shed(Call::Join, 503, 60.0);
        assert_eq!((hoarder.log.turned_away, hoarder.log.places), (10, 0));
    }

    #[test]
    fn claims_in_its_turn_and_keeps_the_seat_until_the_session_is_over() {
        let mut hoarder = Watched::new(|_| Hoarder::new());
        assert_eq!(said(&hoarder.told(Call::Join, "your_turn", 1)), (Call::Claim, Some(1)));
        let again = hoarder.shed(Call::Claim, 429, 10.0);
        assert_eq!(
            said(&again),
            (Call::Join, None),
            "one too many: it takes another place meanwhile"
        );
        let mut hoarder = Watched::new(|_| Hoarder::new());
        hoarder.told(Call::Join, "your_turn", 1);
        hoarder.told(Call::Claim, "admitted", 2);
        assert_eq!((hoarder.log.told_their_turn, &hoarder.log.seats[..]), (1, &[(2.0, 31.5)][..]));
        hoarder.who.asks_with = Some(0);
        hoarder.told(Call::Status, "expired", 2);
        assert!(hoarder.who.held.is_empty());
        assert_eq!(hoarder.log.lost_their_place, 0, "it had a seat");
    }
}
