//! What visitors do with an answer: what a browser would do.

use vestibule_simulation::{Answer, CallError, Failure, NewTicket, Status, VisitorStatus};

use super::{Crowd, calls::Made, millis};
use crate::{
    crowd::{
        Call, KnownWait,
        number::{real64, seconds},
    },
    record::{Ending, Estimate, Phase},
    simulate::visitor::Step,
};

/// Who got no answer asks again after this, ms.
const ASK_AGAIN_MS: u64 = 1_000;
/// They do not all ask again at once, but within so much, ms.
const SPREAD_MS: u32 = 500;
/// After nobody was in line for so long, a newcomer need not wait for anybody, ms.
const CALM_MS: u64 = 2_000;

impl Crowd {
    /// Takes in what came of a call.
    pub(super) fn after(&mut self, made: Made) {
        let Made { id, call, answer } = made;
        if matches!(call, Call::Join | Call::Claim) {
            self.spare.answered();
        }
        match answer {
            Ok(answer) => self.after_answer(id, call, &answer),
            Err(failure) => self.after_failure(id, call, &failure),
        }
        if self.book.tally().count(Phase::Waiting) > 0 {
            self.waited_ms = self.world.network().now_ms();
        }
    }

    fn after_failure(&mut self, id: u32, call: Call, failure: &Failure) {
        let (kind, passes) = match failure {
            Failure::NobodyThere => ("connect", true),
            Failure::Lost => ("timeout", true),
            Failure::Refused(CallError::Busy(_)) => ("503", true),
            Failure::Refused(CallError::NoRoom) => ("404", false),
            Failure::Refused(CallError::InvalidTicket) => ("400", false),
            Failure::Refused(CallError::Internal(_)) => ("500", false),
        };
        self.book.calls.failed(kind.to_owned());
        if passes {
            self.call_again(id, call, ASK_AGAIN_MS + u64::from(id % SPREAD_MS));
        } else {
            self.finish(id, Ending::Failed);
        }
    }

    fn after_answer(&mut self, id: u32, call: Call, answer: &Answer) {
        match answer.ticket {
            NewTicket::Carry(ticket) => self.visitors[id as usize].carried = Some(ticket),
            NewTicket::Drop(_) => self.visitors[id as usize].carried = None,
            NewTicket::Keep => {}
        }
        let status = &answer.status;
        if call == Call::Leave {
            self.spare.leave(self.world.network().now_ms());
            return self.finish(id, Ending::Left);
        }
        if call == Call::Join {
            self.join(id, status);
        }
        match status.status {
            Status::Waiting => self.go_on_waiting(id, status),
            Status::YourTurn => {
                self.book.wait(id);
                let told_ms = millis(status.next_check_in_seconds);
                self.call_again(id, Call::Claim, if call == Call::Claim { told_ms } else { 0 });
            }
            Status::Admitted => self.enter(id, status),
            Status::Expired => self.finish(id, Ending::Expired),
            Status::Closed => self.finish(id, Ending::Closed),
        }
    }

    fn join(&mut self, id: u32, status: &VisitorStatus) {
        let waits = matches!(status.status, Status::Waiting | Status::YourTurn);
        let figures = &mut self.regions[usize::from(self.visitors[id as usize].region)].1;
        figures.arrived += 1;
        figures.admitted_at_once += u64::from(status.status == Status::Admitted);
        if waits && self.surely_has_a_free_slot() {
            self.queued_while_free += 1;
        }
        let hex = status.request_id.as_ref().map(|id| id.replace('-', ""));
        let request_id = hex.and_then(|hex| u128::from_str_radix(&hex, 16).ok());
        self.book.join(id, self.now(), status.queue_number, request_id);
    }

    /// Whether the room has a slot for somebody who comes now, and has nobody else who waits for it.
    fn surely_has_a_free_slot(&mut self) -> bool {
        let now_ms = self.world.network().now_ms();
        let calm = self.book.tally().count(Phase::Waiting) == 0
            && self.waited_ms + CALM_MS < now_ms
            && self.now() > (self.shape.opens + seconds(1.0)).as_secs_f64();
        calm && self.spare.slots(now_ms) > 0
    }

    fn enter(&mut self, id: u32, status: &VisitorStatus) {
        let (now, now_ms) = (self.now(), self.world.network().now_ms());
        self.spare.enter(now_ms);
        let visitor = &self.visitors[id as usize];
        let stay_ms = u64::from(visitor.stay_ms);
        let seat = visitor.carried.and_then(|carried| carried.ticket.seat());
        let session_ms = match seat {
            // A session lives through the whole second in which its token expires.
            Some(seat) => {
                (seat.expires_at * 1000 + 1000).saturating_sub(self.world.network().true_ms())
            }
            None => status.expires_in.map_or(stay_ms + 1, |seconds| seconds * 1000),
        };
        self.book.enter(id, now, now + real64(session_ms) / 1000.0);
        if stay_ms < session_ms {
            self.call_again(id, Call::Leave, stay_ms);
        } else {
            self.put(id, Step::RunOut, session_ms);
        }
    }

    fn go_on_waiting(&mut self, id: u32, status: &VisitorStatus) {
        let now = self.now();
        self.book.wait(id);
        let all = [status.wait_seconds_p25, status.wait_seconds_p50, status.wait_seconds_p75];
        let quartiles = match all {
            [Some(p25), Some(p50), Some(p75)] => Some([p25, p50, p75].map(real64)),
            _ => None,
        };
        let wait = status.wait_seconds.map(real64);
        let estimate = wait.map(|wait| Estimate::new(now, wait, quartiles));
        self.book.told(id, estimate, status.position);
        let visitor = &self.visitors[id as usize];
        let told_ms = millis(status.next_check_in_seconds).max(1);
        let comes_back_ms = visitor.habit.comes_back_after_ms(told_ms);
        let patience = f64::from(visitor.patience);
        let known = KnownWait {
            waited: now - self.book.visitor(id as usize).joined.unwrap_or(now),
            wait,
            people_ahead: status.people_ahead.map(real64),
        };
        let closes_ms = millis(self.shape.patience.closes_tab_in(patience, &known).max(0.0));
        if patience < 1.0 && closes_ms < comes_back_ms {
            self.put(id, Step::Close, closes_ms);
        } else {
            self.call_again(id, Call::Status, comes_back_ms);
        }
    }
}
