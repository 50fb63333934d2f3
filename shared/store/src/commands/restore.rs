//! Restoring a room that Redis has lost, from what the running services have seen of it.

use vestibule_domain::{RoomId, RoomSnapshot, schedule::RoomConfig};

use super::{
    WatermarkReport, keys,
    put_config::{Phases, json},
};
use crate::{
    Store, StoreError,
    keys::{self as spelling, Part},
    scripts,
};

/// What a lost room is restored to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restoration {
    /// The highest values that anyone has seen.
    pub seen: WatermarkReport,
    /// For how long the seats of those not seen again count as taken, in seconds.
    pub seats_held_seconds: u64,
    /// How long it takes until everyone in line has checked in again, in seconds.
    pub presence_seconds: u64,
}

impl Restoration {
    /// What `snapshot`, the last of a lost room, is restored to, given what the services have
    /// seen: counters at their highest, and as many seats taken as can be.
    #[must_use]
    pub fn from(
        snapshot: &RoomSnapshot,
        watermark_reports: &[WatermarkReport],
        presence_seconds: u64,
    ) -> Self {
        let own = WatermarkReport {
            reset_epoch: snapshot.reset_epoch,
            queue_counter: snapshot.queue_counter,
            serving_counter: snapshot.serving_counter,
            admitted: snapshot.admitted,
            active: snapshot.active + snapshot.unconfirmed,
        };
        let heard = watermark_reports.iter().filter(|seen| seen.reset_epoch == own.reset_epoch);
        let all: Vec<WatermarkReport> = heard.copied().chain([own]).collect();
        let admitted = all.iter().map(|seen| seen.admitted).max().unwrap_or(own.admitted);
        let seats = all.iter().map(|seen| seen.active + (admitted - seen.admitted)).min();
        let seen = WatermarkReport {
            reset_epoch: own.reset_epoch,
            queue_counter: all.iter().map(|seen| seen.queue_counter).max().unwrap_or(0),
            serving_counter: all.iter().map(|seen| seen.serving_counter).max().unwrap_or(0),
            admitted,
            active: seats.unwrap_or(own.active),
        };
        let now = snapshot.now_seconds();
        let session = snapshot.settings.session_duration_seconds;
        let seats_held_seconds = session.max(snapshot.tokens_until.saturating_sub(now)) + 1;
        Self { seen, seats_held_seconds, presence_seconds }
    }
}

impl Store {
    /// Brings back a lost room with its `config`; says whether it did, or the room was there.
    /// Refuses nothing to a stale leader: a room that is there stays as it is.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn restore(
        &self,
        last: &RoomSnapshot,
        epoch: u64,
        to: &Restoration,
        config: &RoomConfig,
    ) -> Result<bool, StoreError> {
        let room: &RoomId = &last.room;
        let parts =
            [Part::Line, Part::Settings, Part::Rows, Part::Sessions, Part::Rate, Part::Unattended];
        self.query::<()>(redis::cmd("SADD").arg(spelling::ROOMS).arg(room.as_str())).await?;
        let mut call = self.timed(&scripts::RESTORE, &keys(room, parts));
        call.arg(room.as_str()).arg(epoch).arg(last.reset_epoch).arg(last.generation + 1);
        call.arg(to.seen.queue_counter).arg(to.seen.serving_counter).arg(to.seen.admitted);
        call.arg(last.expired).arg(last.skipped).arg(last.expired_position);
        call.arg(to.seen.active).arg(to.seats_held_seconds).arg(to.presence_seconds);
        // Nobody who was told that it is their turn has been told in vain.
        call.arg(0).arg(last.admitted_last_minute + (to.seen.admitted - last.admitted));
        call.arg(last.tokens_until).arg(u8::from(last.figures.unattended > 0));
        call.arg(json(&last.draws)?).arg(last.draws.len()).arg(last.pool_first).arg(last.pool_last);
        call.arg(pool_id(last, config))
            .arg(last.cumulative_hazard)
            .arg(config.version)
            .arg(json(config)?);
        Phases::at(config, self.now_ms().await?).arguments(&mut call)?;
        self.run(&call).await
    }
}

/// Which draw those in the pool wait for: that of the event in force.
fn pool_id(last: &RoomSnapshot, config: &RoomConfig) -> String {
    let event = last.event.as_ref().and_then(|event| config.event(event.name.as_str()));
    event.map(|event| event.draw_id.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(queue_counter: u64, admitted: u64, active: u64) -> WatermarkReport {
        WatermarkReport { reset_epoch: 7, queue_counter, serving_counter: 40, admitted, active }
    }

    fn snapshot() -> RoomSnapshot {
        serde_json::from_str(
            r#"{"room":"r","settings":{},"reset_epoch":7,"generation":1,"now_ms":1000000,
            "queue_counter":90,"serving_counter":50,"admitted":30,"active":20,"unconfirmed":2,
            "expired":0,"skipped":0,"expired_position":0,"admitted_last_minute":5,
            "tokens_until":4000,"figures":{}}"#,
        )
        .unwrap()
    }

    #[test]
    fn counters_return_to_the_highest_seen() {
        let foreign = WatermarkReport { reset_epoch: 6, queue_counter: 5000, ..seen(0, 0, 0) };
        let to = Restoration::from(&snapshot(), &[seen(104, 30, 22), seen(99, 33, 25), foreign], 5);
        assert_eq!(to.seen.queue_counter, 104);
        assert_eq!(to.seen.serving_counter, 50);
        assert_eq!(to.seen.admitted, 33);
    }

    #[test]
    fn as_many_seats_are_taken_as_can_be() {
        let to = Restoration::from(&snapshot(), &[seen(0, 33, 24)], 5);
        assert_eq!(to.seen.active, 24, "22 at 30 admissions could be 25 at 33; someone saw 24");
        let to = Restoration::from(&snapshot(), &[seen(0, 33, 60)], 5);
        assert_eq!(to.seen.active, 25);
        assert_eq!(to.seats_held_seconds, 3001, "an AWS-style token lives on till 4000");
    }
}
