//! The second half of the leader's tick.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vestibule_domain::{RoomId, ShortFigures, tick::TickDecision};
use vestibule_history::{Call, What};

use super::TickReport;
use crate::{Store, StoreError, document, scripts, store::Sealed};

#[derive(Serialize)]
struct Arguments<'a> {
    room: &'a RoomId,
    leader_epoch: u64,
    reset_epoch: u64,
    serving_counter_before: u64,
    promised_before: u64,
    serving_counter: u64,
    promised: u64,
    hazard_increase: u64,
    figures: String,
    anywhere: u64,
    regions: BTreeMap<&'a str, u64>,
    waiting: u64,
    unknown_period_ms: u64,
    short_figures: Option<String>,
}

/// How a tick pushes the snapshot to every service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Push {
    /// As a whole.
    Whole,
    /// As a difference, if a whole one was pushed within the last second, and what differences leave out is still the
    /// same; every service must read them: see [`crate::Feed::push_for_all`].
    Difference,
}

#[derive(Deserialize)]
struct Reply {
    reset_epoch: u64,
    serving_counter: i64,
}

impl Store {
    /// Applies the decision made from `report`, pushes the room's snapshot to every service, and
    /// returns the serving counter. Refused for a stale leader; does not change the line if the room
    /// was reset since the tick began.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`]; otherwise see [`StoreError`].
    pub async fn apply_plan(
        &self,
        room: &RoomId,
        epoch: u64,
        reset_epoch: u64,
        report: &TickReport,
        decision: &TickDecision,
        push: Push,
    ) -> Result<i64, StoreError> {
        let TickDecision { plan, figures, grants, .. } = decision;
        let regions = grants.regions.iter().map(|(region, slots)| (region.as_str(), *slots));
        let short_figures =
            (push == Push::Difference).then(|| document::text(&ShortFigures::from(figures)));
        let arguments = Arguments {
            room,
            leader_epoch: epoch,
            reset_epoch,
            serving_counter_before: report.counters.serving_counter.max(0).unsigned_abs(),
            promised_before: report.counters.promised,
            serving_counter: plan.serving_counter,
            promised: plan.promised,
            hazard_increase: plan.hazard_increase,
            figures: document::text(figures)?,
            anywhere: grants.anywhere,
            regions: regions.collect(),
            waiting: figures.waiting,
            unknown_period_ms: decision.unknown_period_ms,
            short_figures: short_figures.transpose()?,
        };
        let noting = self.noting(Some(room), || vec![Call::Serve]).await;
        let reply =
            self.call_sealed(&scripts::APPLY_PLAN, room, &arguments).await.and_then(applied);
        if let Some(noting) = noting {
            noting.answer(&reply, |&Reply { reset_epoch, serving_counter }| What::Served {
                reset_epoch,
                serving_counter,
            });
        }
        Ok(reply?.serving_counter)
    }
}

/// The reply, after the store has taken in what it may have to tell one day: the snapshot that tells it to all may not
/// arrive.
fn applied(sealed: Sealed<Reply>) -> Result<Reply, StoreError> {
    let Sealed { seal, answer, memory, era } = sealed;
    memory.take_serving(answer.serving_counter, &seal);
    memory.confirm(era)?;
    Ok(answer)
}
