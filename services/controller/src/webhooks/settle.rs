//! What follows from a round: what was told, which lanes are tried again by themselves, and whether the webhook as a whole
//! waits, or is switched off. How often and for how long is in `vestibule_domain::webhook`.

use vestibule_domain::webhook::{Attempt, Cause, Delivery, Place, Retry, Verdict};

use super::{Sent, WebhookMetrics, lanes::Lane};

/// What came of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Round {
    /// There was nothing to be told.
    Idle,
    /// Something was sent, or passed over.
    Went,
    /// It is to be switched off at once: the receiver wants nothing any more.
    Gone,
    /// Nothing was taken for a day: what was answered last.
    Off(String),
}

/// A lane, how many of its events were told, and how the next one failed.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) lane: Lane,
    pub(super) told: usize,
    pub(super) failed: Option<Sent>,
}

/// Says what came of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Voice<'a> {
    pub(super) webhook: &'a str,
    pub(super) metrics: &'a WebhookMetrics,
}

// === impl Voice ===

impl Voice<'_> {
    /// Notes what came of the lanes; returns what came of the round.
    pub(super) fn settle(
        self,
        done: Vec<Done>,
        delivery: &mut Delivery,
        now_ms: u64,
        chance: impl Fn() -> u64,
    ) -> Round {
        let is_taken = done.iter().any(|done| done.told > 0);
        if is_taken {
            delivery.succeed(now_ms);
        }
        let (mut round, mut all_wait) = (Round::Went, None);
        for done in done {
            done.note_told(delivery);
            let (why, asked_s, cause) = match &done.failed {
                None | Some(Sent::Told(_)) => continue,
                Some(Sent::Gone) => {
                    round = Round::Gone;
                    continue;
                }
                Some(Sent::Failed { why, asked_s, status }) => (why, *asked_s, Cause::of(*status)),
            };
            // Where nobody is there, no event is to blame.
            let is_away = cause == Cause::Away;
            let verdict = match done.attempt(why, asked_s, cause) {
                Some(attempt) if is_taken || !is_away => {
                    let verdict = delivery.fail_lane(attempt, now_ms, chance());
                    self.say(attempt, verdict);
                    verdict
                }
                _ => Verdict::Full,
            };
            if verdict == Verdict::GiveUp && round != Round::Gone {
                round = Round::Off(why.clone());
            }
            if verdict != Verdict::Full {
                done.leave_to_its_lane(delivery);
            }
            if is_away || verdict == Verdict::Full {
                all_wait = Some((why.clone(), asked_s));
            }
        }
        if let Some((why, _)) = &all_wait {
            tracing::info!(webhook = self.webhook, reason = why, "a webhook waits");
        }
        if let Some((why, asked_s)) = all_wait
            && delivery.fail(now_ms, &why, asked_s, chance()) == Retry::GiveUp
            && round != Round::Gone
        {
            round = Round::Off(why);
        }
        round
    }

    fn say(self, attempt: Attempt<'_>, verdict: Verdict) {
        let (webhook, reason, (event, kind, room)) = (self.webhook, attempt.why, attempt.event);
        if verdict == Verdict::PutAside {
            self.metrics.gives_up(webhook);
            tracing::error!(webhook, event, kind, room, reason, "an event was given up");
        } else {
            tracing::info!(webhook, event, kind, room, reason, "a webhook was not told");
        }
    }
}

// === impl Done ===

impl Done {
    fn note_told(&self, delivery: &mut Delivery) {
        let told = &self.lane.events[..self.told];
        let Some((end, is_all)) = &self.lane.parked else {
            delivery.passed.extend(told.iter().map(|(_, kept)| kept.place.nth));
            return;
        };
        let last: Option<&Place> = told.last().map(|(_, kept)| &kept.place);
        if self.told == self.lane.events.len() {
            delivery.went_on(&self.lane.name, end, *is_all);
        } else if let Some(last) = last {
            delivery.went_on(&self.lane.name, last, false);
        }
    }

    /// The attempt that has failed.
    fn attempt<'a>(
        &'a self,
        why: &'a str,
        asked_s: Option<u64>,
        cause: Cause,
    ) -> Option<Attempt<'a>> {
        let (after, kept) = self.lane.events.get(self.told)?;
        let event = (&*kept.event.id, &*kept.event.kind, &*kept.event.room);
        Some(Attempt { lane: &self.lane.name, after, at: &kept.place, event, cause, why, asked_s })
    }

    /// What was not told is told when its lane is tried again.
    fn leave_to_its_lane(&self, delivery: &mut Delivery) {
        if self.lane.parked.is_none() {
            let left = &self.lane.events[self.told..];
            delivery.passed.extend(left.iter().map(|(_, kept)| kept.place.nth));
        }
    }
}

#[cfg(test)]
mod tests;
