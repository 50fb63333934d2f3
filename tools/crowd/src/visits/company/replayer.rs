//! A replayer: sends its first ticket to `status` four times a second, whatever it is answered. Some
//! leave the line after a while; the others enter in their turn and leave at once. Then all send their
//! old tickets to `leave` and to `status`, again and again, to the end of the run.

use std::time::Duration;

use rand::{Rng, rngs::SmallRng};

use super::{
    super::{
        Outcome, Standing,
        pauses::{jittered, told},
    },
    Act, Heard, Mischief,
};
use crate::{crowd::Call, record::HostileLog};

/// Seconds between calls, before jitter.
const EVERY: f64 = 0.22;
/// How far jitter lengthens that, which makes it four times a second.
const SPREAD: f64 = 0.25;
/// How often those who leave the line ask before they do: some five seconds.
const POLLS_BEFORE_LEAVING: u32 = 20;

/// Somebody who sends the same tickets again and again.
#[derive(Debug)]
pub(super) struct Replayer<T> {
    /// Whether it enters in its turn.
    enters: bool,
    /// The ticket of its join.
    first: Option<T>,
    /// The ticket that it was given last; once it has entered, that of its seat.
    last: Option<T>,
    polls: u32,
    is_told: bool,
    seat: Option<usize>,
    /// How many old tickets it has sent since it left.
    replayed: Option<usize>,
}

// === impl Replayer ===

impl<T: Clone> Replayer<T> {
    /// One about to arrive.
    pub(super) fn new(rng: &mut SmallRng) -> Self {
        let enters = rng.random();
        Self {
            enters,
            first: None,
            last: None,
            polls: 0,
            is_told: false,
            seat: None,
            replayed: None,
        }
    }

    /// Takes in a ticket, unless it is long gone: an answer to an old ticket is of no use to it.
    fn keep(&mut self, ticket: Option<T>) {
        let Some(ticket) = ticket.filter(|_| self.replayed.is_none()) else { return };
        self.first.get_or_insert_with(|| ticket.clone());
        self.last = Some(ticket);
    }

    fn after_answer(
        &mut self,
        (call, status): (Call, Standing),
        pause: Duration,
        now: f64,
        log: &mut HostileLog,
    ) -> Option<Act<T>> {
        match status {
            Standing::Waiting => {
                self.polls += 1;
                let leaves = !self.enters && self.polls > POLLS_BEFORE_LEAVING;
                leaves.then(|| Act::Call(Call::Leave, self.first.clone(), Duration::ZERO))
            }
            Standing::YourTurn => {
                log.told_their_turn += u64::from(!self.is_told);
                self.is_told = true;
                let after = if call == Call::Claim { pause } else { Duration::ZERO };
                self.enters.then(|| Act::Call(Call::Claim, self.last.clone(), after))
            }
            Standing::Admitted => {
                self.seat = Some(log.takes_a_seat(now));
                Some(Act::Call(Call::Leave, self.last.clone(), Duration::ZERO))
            }
            Standing::Expired | Standing::Closed => {
                log.lost_their_place += 1;
                self.replayed = Some(0);
                None
            }
        }
    }

    /// One old ticket after the other, to `leave` and to `status`.
    fn replay(&mut self, times: usize, after: Duration) -> Act<T> {
        self.replayed = Some(times + 1);
        let call = if times.is_multiple_of(2) { Call::Leave } else { Call::Status };
        let ticket = if times % 4 < 2 { &self.first } else { &self.last };
        Act::Call(call, ticket.clone(), after)
    }
}

impl<T: Clone + Send> Mischief<T> for Replayer<T> {
    fn next(&mut self, heard: Heard<T>, rng: &mut SmallRng, log: &mut HostileLog) -> Act<T> {
        let after = jittered(EVERY, SPREAD, rng);
        if heard.call == Call::Leave {
            // From here on the seat may be free, even if no answer came back.
            if let Some(seat) = self.seat {
                log.gives_back(seat, heard.sent);
            }
            self.replayed.get_or_insert(0);
        }
        self.keep(heard.reply.ticket);
        if let (Outcome::Answer(answer), None) = (&heard.reply.outcome, self.replayed) {
            let said = (heard.call, answer.status);
            if let Some(act) = self.after_answer(said, told(answer), heard.now, log) {
                return act;
            }
        }
        match (self.replayed, &self.first) {
            (Some(times), _) => self.replay(times, after),
            (None, Some(first)) => Act::Call(Call::Status, Some(first.clone()), after),
            (None, None) => Act::Call(Call::Join, None, after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::Watched, *};

    fn replayer(enters: bool) -> Watched<Replayer<u32>> {
        Watched::new(|rng| Replayer { enters, ..Replayer::new(rng) })
    }

    /// The call and its ticket; the pause is a fraction of a second.
    fn soon(act: &Act<u32>) -> (Call, u32) {
        let &Act::Call(call, Some(ticket), after) = act else { panic!("it goes on: {act:?}") };
        assert!((0.2..0.3).contains(&after.as_secs_f64()), "{after:?}");
        (call, ticket)
    }

    #[test]
    fn sends_its_first_ticket_again_and_again() {
        let mut replayer = replayer(true);
        assert_eq!(soon(&replayer.told(Call::Join, "waiting", 1)), (Call::Status, 1));
        for newer in 2..100 {
            assert_eq!(soon(&replayer.told(Call::Status, "waiting", newer)), (Call::Status, 1));
        }
        assert_eq!(soon(&replayer.refused(Call::Status, 503)), (Call::Status, 1));
    }

    #[test]
    fn enters_leaves_at_once_and_then_replays_both_tickets() {
        let mut replayer = replayer(true);
        replayer.told(Call::Join, "waiting", 1);
        let claims = Act::Call(Call::Claim, Some(2), Duration::ZERO);
        assert_eq!(replayer.told(Call::Status, "your_turn", 2), claims);
        let leaves = Act::Call(Call::Leave, Some(3), Duration::ZERO);
        assert_eq!(replayer.told(Call::Claim, "admitted", 3), leaves);
        let mut seen = vec![soon(&replayer.hears(Call::Leave, Outcome::Left, Some(4)))];
        for _ in 0..4 {
            seen.push(soon(&replayer.told(Call::Status, "your_turn", 5)));
        }
        let [leave, status] = [Call::Leave, Call::Status];
        assert_eq!(seen, [(leave, 1), (status, 1), (leave, 3), (status, 3), (leave, 1)]);
        assert_eq!((replayer.log.told_their_turn, &replayer.log.seats[..]), (1, &[(3.0, 3.5)][..]));
    }

    #[test]
    fn others_leave_the_line_without_ever_claiming() {
        let mut replayer = replayer(false);
        replayer.told(Call::Join, "waiting", 1);
        assert_eq!(soon(&replayer.told(Call::Status, "your_turn", 1)), (Call::Status, 1));
        for _ in 2..=POLLS_BEFORE_LEAVING {
            assert_eq!(soon(&replayer.told(Call::Status, "waiting", 1)).0, Call::Status);
        }
        let leaves = Act::Call(Call::Leave, Some(1), Duration::ZERO);
        assert_eq!(replayer.told(Call::Status, "waiting", 1), leaves);
        assert_eq!(soon(&replayer.hears(Call::Leave, Outcome::Left, None)), (Call::Leave, 1));
        assert!(replayer.log.seats.is_empty());
    }
}
