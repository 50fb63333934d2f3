//! The figures of rooms, each told by the controller that serves the room, and by no other: so a thousand rooms are a
//! thousand of each, however many controllers run, and who has lost Redis tells nothing old.

use std::{fmt, sync::Arc};

use prometheus_client::{encoding::DescriptorEncoder, metrics::MetricType, registry::Unit};
use vestibule_domain::RoomSnapshot;

use crate::state::Controller;

/// A figure of a room: name, help, and how it is read from the snapshot; `None`: the room has none.
type RoomFigure = (&'static str, &'static str, fn(&RoomSnapshot) -> Option<f64>);

/// The figures of each room.
#[expect(clippy::cast_precision_loss, reason = "counts of people")]
const ROOM_FIGURES: [RoomFigure; 12] = [
    ("room_queue_counter", "The highest queue number", |room| Some(room.queue_counter as f64)),
    ("room_serving_counter", "The serving counter", |room| Some(room.serving_counter as f64)),
    ("room_waiting", "Visitors waiting who are still there", |room| {
        Some(room.figures.waiting as f64)
    }),
    ("room_active_users", "Sessions", |room| Some((room.active + room.unconfirmed) as f64)),
    ("room_admitted", "Sessions that ever began", |room| Some(room.admitted as f64)),
    ("room_admitted_last_minute", "Admissions of 60 seconds", |room| {
        Some(room.admitted_last_minute as f64)
    }),
    ("room_admissions_per_second", "Pace of admissions, smoothed", |room| {
        Some(room.figures.admissions_per_second)
    }),
    ("room_queueing", "Whether a newcomer stands behind somebody", |room| {
        Some(f64::from(u8::from(room.is_queueing())))
    }),
    (
        "room_places",
        "Places in line, those included whose holders are not there any more",
        |room| Some(room.numbers_waiting(room.progress()) as f64),
    ),
    ("room_total_active_users", "The ceiling in force, where there is one", |room| {
        room.settings.total_active_users.map(|users| users as f64)
    }),
    ("room_new_users_per_minute", "The rate limit in force, where there is one", |room| {
        room.settings.new_users_per_minute.map(|users| users as f64)
    }),
    ("room_slots_free", "Visitors who may enter now by the limits; 0 while nobody may", |room| {
        slots_free(room).map(|slots| slots as f64)
    }),
];

/// How many may enter now by the room's limits; `None`: it has none, and its operator lets people in.
pub(crate) fn slots_free(room: &RoomSnapshot) -> Option<u64> {
    room.usage().slots().map(|slots| if room.is_held() { 0 } else { slots })
}

/// The rooms that this instance serves, as it knows them.
pub(super) fn served_rooms(controller: &Controller) -> Vec<Arc<RoomSnapshot>> {
    let Some(term) = controller.leadership.role().serving() else { return Vec::new() };
    let rooms = controller.feed.rooms();
    let snapshots = rooms.iter().map(|known| known.snapshot());
    snapshots.filter(|room| term.share.has(&room.room)).collect()
}

/// Tells all of them.
pub(super) fn encode_rooms(
    controller: &Controller,
    encoder: &mut DescriptorEncoder<'_>,
) -> Result<(), fmt::Error> {
    let rooms = served_rooms(controller);
    for (name, help, figure) in ROOM_FIGURES {
        let read = |room: &Arc<RoomSnapshot>| figure(room);
        encode_each(encoder, (name, help, None), &rooms, read)?;
    }
    let outcome = |room: &Arc<RoomSnapshot>| controller.wait_checks.last(room);
    let help = "The wait that was told to whom the turn came last of those who are checked";
    let told = |room: &Arc<RoomSnapshot>| outcome(room).map(|outcome| outcome.told_seconds);
    encode_each(encoder, ("room_wait_told", help, Some(&Unit::Seconds)), &rooms, told)?;
    let help = "How long that one has waited";
    let waited = |room: &Arc<RoomSnapshot>| outcome(room).map(|outcome| outcome.true_seconds);
    encode_each(encoder, ("room_wait_true", help, Some(&Unit::Seconds)), &rooms, waited)
}

/// Tells one figure of all rooms that have it.
fn encode_each(
    encoder: &mut DescriptorEncoder<'_>,
    (name, help, unit): (&'static str, &'static str, Option<&Unit>),
    rooms: &[Arc<RoomSnapshot>],
    figure: impl Fn(&Arc<RoomSnapshot>) -> Option<f64>,
) -> Result<(), fmt::Error> {
    let mut told = rooms.iter().filter_map(|room| Some((room, figure(room)?))).peekable();
    if told.peek().is_none() {
        return Ok(());
    }
    let mut metric = encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
    for (room, value) in told {
        metric.encode_family(&[("room", room.room.as_str())])?.encode_gauge(&value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(settings: &str) -> RoomSnapshot {
        let json = format!(
            r#"{{"room":"sale","settings":{settings},"reset_epoch":7,"generation":1,"now_ms":1,
            "queue_counter":90,"serving_counter":50,"admitted":30,"active":20,"unconfirmed":2,
            "expired":3,"skipped":4,"left":5,"expired_position":0,"admitted_last_minute":5,
            "tokens_until":0,"figures":{{"waiting":12}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn told(room: &RoomSnapshot, name: &str) -> Option<f64> {
        let (_, _, figure) = ROOM_FIGURES.into_iter().find(|(found, ..)| *found == name).unwrap();
        figure(room)
    }

    #[test]
    fn the_figures_are_the_snapshots() {
        let line = room("{}");
        assert_eq!(told(&line, "room_active_users"), Some(22.0));
        assert_eq!(told(&line, "room_waiting"), Some(12.0));
        assert_eq!(told(&line, "room_places"), Some(48.0), "90 less 30, 3, 4 and 5");
        assert_eq!(told(&line, "room_queueing"), Some(1.0));
        assert_eq!(told(&line, "room_total_active_users"), None);
    }

    #[test]
    fn slots_are_what_the_limits_leave_and_none_while_all_are_held() {
        let slots = |settings: &str| slots_free(&room(settings));
        assert_eq!(slots("{}"), None);
        assert_eq!(slots(r#"{"total_active_users":30}"#), Some(8));
        assert_eq!(slots(r#"{"total_active_users":30,"new_users_per_minute":6}"#), Some(1));
        assert_eq!(slots(r#"{"total_active_users":30,"queue_all":true}"#), Some(0));
    }
}
