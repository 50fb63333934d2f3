//! One visitor's journey as a state machine: it is told what came of a call and says what the
//! visitor does next. It neither sleeps nor calls anybody; `visits` does both for it.

use std::time::Duration;

use rand::{SeedableRng, rngs::SmallRng};

use super::{
    Answer, Outcome, Reply, Standing,
    pauses::{backoff, jittered, told},
};
use crate::{
    crowd::{Call, KnownWait, Patience, Setting, VisitorPlan, number::seconds},
    record::{Ending, VisitorRecord},
};

/// A visitor gives up after so many seconds without a single whole answer.
const GIVE_UP_AFTER: f64 = 120.0;
/// A visitor gives up after so many refusals in a row that may pass (5xx, garbled).
const GIVE_UP_REFUSALS: u32 = 5;

/// What all visitors of a crowd have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HouseRules {
    /// Those inside never say that they leave.
    pub(crate) leave_silently: bool,
    /// How long a session lasts when the answer `admitted` does not say.
    pub(crate) session: Option<Duration>,
    /// How those who close the tab guess their wait.
    pub(crate) patience: Patience,
}

/// What the visitor does next, after a pause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    /// Makes a call.
    Call(Call, Duration),
    /// Ends the visit, calling nobody.
    End(Ending, Duration),
}

/// One visitor on its way.
#[derive(Debug)]
pub(crate) struct Journey<T> {
    rules: HouseRules,
    stay: Duration,
    patience: Option<f64>,
    ticket: Option<T>,
    rng: SmallRng,
    /// Since when nothing but broken connections came back, and how many.
    broken: Option<(f64, u32)>,
    refusals: u32,
}

// === impl HouseRules ===

impl HouseRules {
    /// The rules of a run with this setting.
    pub(crate) fn new(setting: &Setting) -> Self {
        Self {
            leave_silently: setting.leave_silently,
            session: setting.session_seconds.map(Duration::from_secs_f64),
            patience: Patience::new(setting),
        }
    }
}

// === impl Journey ===

impl<T: Clone> Journey<T> {
    /// A visitor about to arrive.
    pub(crate) fn new(plan: &VisitorPlan, rules: HouseRules) -> Self {
        Self {
            rules,
            stay: plan.stay,
            patience: plan.patience,
            ticket: None,
            rng: SmallRng::seed_from_u64(plan.seed),
            broken: None,
            refusals: 0,
        }
    }

    /// The newest ticket, to send with the next call.
    pub(crate) fn ticket(&self) -> Option<T> {
        self.ticket.clone()
    }

    /// The visitor's own randomness.
    pub(crate) fn rng(&mut self) -> &mut SmallRng {
        &mut self.rng
    }

    /// Takes in what came of `call` and decides what to do next. `sent` and `now` are seconds
    /// since the run's start.
    pub(crate) fn next(
        &mut self,
        call: Call,
        reply: Reply<T>,
        (sent, now): (f64, f64),
        record: &mut VisitorRecord,
    ) -> Step {
        if reply.ticket.is_some() {
            self.ticket = reply.ticket;
        }
        if call == Call::Leave {
            // From here on the seat may be free, even if no answer came back, or one that Redis has not answered.
            record.inside_until = record.inside_until.map(|until| until.min(sent));
        }
        if let Outcome::Broken(_) = reply.outcome {
            return self.after_break(call, now);
        }
        self.broken = None;
        match reply.outcome {
            Outcome::Answer(answer) => {
                self.refusals = 0;
                self.after_answer(call, &answer, (sent, now), record)
            }
            Outcome::Left => Step::End(Ending::Left, Duration::ZERO),
            Outcome::Shed { retry_after, .. } => {
                // The floor keeps a Retry-After of 0 from turning the crowd into an attack.
                Step::Call(call, jittered(retry_after.max(0.1), 0.5, &mut self.rng))
            }
            Outcome::Refused(status) if status.is_client_error() => {
                Step::End(Ending::Failed, Duration::ZERO)
            }
            Outcome::Refused(_) | Outcome::Garbled | Outcome::Broken(_) => self.after_refusal(call),
        }
    }

    fn after_break(&mut self, call: Call, now: f64) -> Step {
        let (since, times) = self.broken.unwrap_or((now, 0));
        if now - since > GIVE_UP_AFTER {
            return Step::End(Ending::Failed, Duration::ZERO);
        }
        self.broken = Some((since, times + 1));
        Step::Call(call, jittered(backoff(times), 1.0, &mut self.rng))
    }

    fn after_refusal(&mut self, call: Call) -> Step {
        self.refusals += 1;
        if self.refusals > GIVE_UP_REFUSALS {
            return Step::End(Ending::Failed, Duration::ZERO);
        }
        Step::Call(call, jittered(backoff(self.refusals), 1.0, &mut self.rng))
    }

    fn after_answer(
        &mut self,
        call: Call,
        answer: &Answer,
        (sent, now): (f64, f64),
        record: &mut VisitorRecord,
    ) -> Step {
        note(answer, now, record);
        match answer.status {
            Standing::Waiting => self.wait(answer, now, record),
            Standing::YourTurn if call == Call::Claim => Step::Call(Call::Claim, told(answer)),
            Standing::YourTurn => Step::Call(Call::Claim, Duration::ZERO),
            Standing::Admitted => self.enter(answer, (sent, now), record),
            Standing::Expired => Step::End(Ending::Expired, Duration::ZERO),
            Standing::Closed => Step::End(Ending::Closed, Duration::ZERO),
        }
    }

    fn wait(&mut self, answer: &Answer, now: f64, record: &VisitorRecord) -> Step {
        let pause = told(answer);
        match self.closes_tab_in(answer, now - record.joined.unwrap_or(now)) {
            Some(left) if left < pause.as_secs_f64() => {
                Step::End(Ending::Abandoned, seconds(left.max(0.0)))
            }
            _ => Step::Call(Call::Status, pause),
        }
    }

    fn closes_tab_in(&self, answer: &Answer, waited: f64) -> Option<f64> {
        let known =
            KnownWait { waited, wait: answer.wait_seconds, people_ahead: answer.people_ahead };
        Some(self.rules.patience.closes_tab_in(self.patience?, &known))
    }

    fn enter(
        &mut self,
        answer: &Answer,
        (sent, now): (f64, f64),
        record: &mut VisitorRecord,
    ) -> Step {
        let session = answer.expires_in.or(self.rules.session.map(|s| s.as_secs_f64()));
        // Counted from the request, not the answer: the session is not older than that, so a seat
        // is never counted as taken longer than it was.
        let session_over = session.map_or(f64::INFINITY, |lasts| sent + lasts);
        let stays_until = now + self.stay.as_secs_f64();
        record.inside_until = Some(session_over);
        if self.rules.leave_silently {
            Step::End(Ending::RanOut, self.stay.min(seconds(session_over - now)))
        } else if session_over < stays_until {
            Step::End(Ending::RanOut, seconds(session_over - now))
        } else {
            Step::Call(Call::Leave, self.stay)
        }
    }
}

/// Writes down what every answer tells.
fn note(answer: &Answer, now: f64, record: &mut VisitorRecord) {
    record.joined.get_or_insert(now);
    record.queue_number = answer.queue_number.or(record.queue_number);
    record.position = answer.position.or(record.position);
    let id = answer.request_id.as_ref().map(|id| id.replace('-', ""));
    record.request_id =
        id.and_then(|hex| u128::from_str_radix(&hex, 16).ok()).or(record.request_id);
    match answer.status {
        Standing::Admitted => record.admitted = record.admitted.or(Some(now)),
        Standing::Waiting | Standing::YourTurn => record.waited = true,
        Standing::Expired | Standing::Closed => {}
    }
    if answer.status == Standing::Waiting {
        record.told.note(answer.estimate(now));
    }
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;
    use tokio::time::Instant;

    use super::*;

    const RULES: HouseRules = HouseRules {
        leave_silently: false,
        session: None,
        patience: Patience { expected_pace: None, fallback_wait: 60.0 },
    };

    struct Visit {
        journey: Journey<String>,
        record: VisitorRecord,
    }

    impl Visit {
        fn new(patience: Option<f64>, rules: HouseRules) -> Self {
            let stay = Duration::from_secs(20);
            let plan = VisitorPlan { arrives: Duration::ZERO, stay, patience, seed: 1 };
            Self { journey: Journey::new(&plan, rules), record: VisitorRecord::default() }
        }

        fn hears(&mut self, call: Call, now: f64, outcome: Outcome) -> Step {
            let ticket = Some(format!("ticket-{now}"));
            let reply = Reply {
                outcome,
                ticket,
                sent: Instant::now(),
                latency: None,
                queued: Duration::ZERO,
            };
            self.journey.next(call, reply, (now - 0.1, now), &mut self.record)
        }

        fn told(&mut self, call: Call, now: f64, body: &str) -> Step {
            self.hears(call, now, Outcome::Answer(serde_json::from_str(body).unwrap()))
        }
    }

    #[test]
    fn waits_claims_stays_and_leaves() {
        let mut visit = Visit::new(None, RULES);
        let step = visit.told(
            Call::Join,
            1.0,
            r#"{"status":"waiting","queue_number":7,"next_check_in_seconds":3}"#,
        );
        assert_eq!(step, Step::Call(Call::Status, Duration::from_secs(3)));
        let step = visit.told(Call::Status, 4.0, r#"{"status":"your_turn"}"#);
        assert_eq!(step, Step::Call(Call::Claim, Duration::ZERO));
        let step =
            visit.told(Call::Claim, 4.1, r#"{"status":"your_turn","next_check_in_seconds":1}"#);
        assert_eq!(step, Step::Call(Call::Claim, Duration::from_secs(1)));
        let step = visit.told(Call::Claim, 5.0, r#"{"status":"admitted","expires_in":300}"#);
        assert_eq!(step, Step::Call(Call::Leave, Duration::from_secs(20)));
        assert_eq!(visit.journey.ticket().unwrap(), "ticket-5");
        let step = visit.hears(Call::Leave, 25.0, Outcome::Left);
        assert_eq!(step, Step::End(Ending::Left, Duration::ZERO));
        assert_eq!(visit.record.queue_number, Some(7));
        assert_eq!(visit.record.waiting(99.0), Some((1.0, 5.0)));
        assert_eq!(visit.record.inside(99.0), Some((5.0, 24.9)));
    }

    #[test]
    fn a_seat_may_be_free_from_when_its_visitor_first_asked_to_leave() {
        let mut visit = Visit::new(None, RULES);
        visit.told(Call::Join, 1.0, r#"{"status":"admitted","expires_in":300}"#);
        let shed = Outcome::Shed { status: StatusCode::SERVICE_UNAVAILABLE, retry_after: 4.0 };
        assert!(matches!(visit.hears(Call::Leave, 25.0, shed), Step::Call(Call::Leave, _)));
        visit.hears(Call::Leave, 30.0, Outcome::Left);
        let (_, until) = visit.record.inside(99.0).unwrap();
        assert!((until - 24.9).abs() < 1e-9, "{until}");
    }

    #[test]
    fn admitted_at_once_never_waited() {
        let mut visit = Visit::new(Some(0.5), RULES);
        visit.told(Call::Join, 1.0, r#"{"status":"admitted"}"#);
        assert_eq!(visit.record.waiting(99.0), None);
    }

    #[test]
    fn closes_the_tab_at_its_part_of_the_wait() {
        let mut visit = Visit::new(Some(0.5), RULES);
        let body = |wait: u32| {
            format!(r#"{{"status":"waiting","wait_seconds":{wait},"next_check_in_seconds":10}}"#)
        };
        let step = visit.told(Call::Join, 0.0, &body(40));
        assert_eq!(step, Step::Call(Call::Status, Duration::from_secs(10)));
        // 10 s have passed and 34 are left: half of 44 is in 12 s, after the next check-in.
        let step = visit.told(Call::Status, 10.0, &body(34));
        assert_eq!(step, Step::Call(Call::Status, Duration::from_secs(10)));
        let step = visit.told(Call::Status, 20.0, &body(24));
        assert_eq!(step, Step::End(Ending::Abandoned, Duration::from_secs(2)));
    }

    #[test]
    fn guesses_its_wait_from_the_limits_when_nobody_tells() {
        let rules = HouseRules {
            patience: Patience { expected_pace: Some(2.0), fallback_wait: 60.0 },
            ..RULES
        };
        let mut visit = Visit::new(Some(0.1), rules);
        let body = r#"{"status":"waiting","people_ahead":80,"next_check_in_seconds":5}"#;
        let step = visit.told(Call::Join, 0.0, body);
        assert_eq!(step, Step::End(Ending::Abandoned, Duration::from_secs(4)));
    }

    #[test]
    fn the_session_may_be_shorter_than_the_stay() {
        let mut visit = Visit::new(None, RULES);
        let step = visit.told(Call::Join, 1.0, r#"{"status":"admitted","expires_in":5}"#);
        assert!(matches!(step, Step::End(Ending::RanOut, after) if after < Duration::from_secs(5)));
        assert_eq!(visit.record.inside(99.0), Some((1.0, 5.9)));
    }

    #[test]
    fn silent_leavers_hold_their_seat_to_the_end_of_the_session() {
        let mut visit = Visit::new(None, HouseRules { leave_silently: true, ..RULES });
        let step = visit.told(Call::Join, 1.0, r#"{"status":"admitted","expires_in":60}"#);
        assert_eq!(step, Step::End(Ending::RanOut, Duration::from_secs(20)));
        assert_eq!(visit.record.inside(99.0), Some((1.0, 60.9)));
    }

    #[test]
    fn comes_back_politely_after_a_503_for_as_long_as_it_takes() {
        let mut visit = Visit::new(None, RULES);
        for _ in 0..100 {
            let shed = Outcome::Shed { status: StatusCode::SERVICE_UNAVAILABLE, retry_after: 4.0 };
            let Step::Call(Call::Join, after) = visit.hears(Call::Join, 1.0, shed) else {
                panic!("a 503 ends no visit");
            };
            assert!((4.0..6.0).contains(&after.as_secs_f64()));
        }
    }

    #[test]
    fn gives_up_on_refusals_and_on_a_long_silence() {
        let mut visit = Visit::new(None, RULES);
        let refused = Outcome::Refused(StatusCode::NOT_FOUND);
        let failed = Step::End(Ending::Failed, Duration::ZERO);
        assert_eq!(visit.hears(Call::Join, 1.0, refused), failed);
        let broken = || Outcome::Broken("connect");
        assert!(matches!(visit.hears(Call::Join, 1.0, broken()), Step::Call(Call::Join, _)));
        assert!(matches!(visit.hears(Call::Join, 121.0, broken()), Step::Call(Call::Join, _)));
        assert_eq!(visit.hears(Call::Join, 121.1, broken()), failed);
    }
}
