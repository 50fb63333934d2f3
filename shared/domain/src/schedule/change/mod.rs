//! Whether a change of a room's config is allowed at a given time.

use super::{Event, MAX_EVENTS, RoomConfig};
use crate::FieldError;

// === impl RoomConfig ===

impl RoomConfig {
    /// Why `event` cannot replace `before` (`None`: it is new) at `now_s`, unix seconds; empty when
    /// it can. Includes [`Event::errors`].
    #[must_use]
    pub fn errors_of_change(
        &self,
        event: &Event,
        before: Option<&Event>,
        now_s: u64,
    ) -> Vec<FieldError> {
        let mut errors = event.errors();
        if errors.is_empty() && !is_over(event, now_s) {
            errors.extend(self.resolved(event).errors());
        }
        errors.extend(match before {
            None => self.no_room_for_more().into_iter().chain(too_late(event, now_s)).collect(),
            Some(before) => not_movable(event, before, now_s),
        });
        errors.extend(self.overlap(event));
        errors
    }

    /// Errors of the events that are not over at `now_s`, unix seconds, combined with the room's settings in this config,
    /// each with the name of its event; empty when there are none.
    #[must_use]
    pub fn errors_of_settings(&self, now_s: u64) -> Vec<FieldError> {
        let own = self.settings.errors();
        if !own.is_empty() {
            return own;
        }
        let of_one = |event: &Event| {
            let errors = self.resolved(event).errors();
            let name = event.name.clone();
            errors.into_iter().map(move |FieldError { field, reason }| FieldError {
                field,
                reason: format!("with the event {name}: {reason}"),
            })
        };
        self.events.iter().filter(|event| !is_over(event, now_s)).flat_map(of_one).collect()
    }

    fn no_room_for_more(&self) -> Option<FieldError> {
        let full = self.events.len() >= MAX_EVENTS;
        full.then(|| {
            error("name", format!("the room has {MAX_EVENTS} events already: delete one first"))
        })
    }

    /// The error if the time of another event, pre-queues included, overlaps with that of `event`.
    fn overlap(&self, event: &Event) -> Option<FieldError> {
        let clashes = |other: &&Event| {
            event.opens() < other.end
                && other.opens() < event.end
                && !other.suspended
                && other.name != event.name
        };
        let other = self.events.iter().filter(|_| !event.suspended).find(clashes)?;
        let field = if event.start >= other.end {
            "prequeue_start_time"
        } else if event.start >= other.opens() {
            "event_start_time"
        } else {
            "event_end_time"
        };
        Some(error(field, format!("overlaps with the event {}", other.name)))
    }
}

/// Whether an event never comes into force any more: its times cannot be changed.
fn is_over(event: &Event, now_s: u64) -> bool {
    event.end <= now_s
}

/// The error if a new event begins in the past.
fn too_late(event: &Event, now_s: u64) -> Option<FieldError> {
    let field = if event.prequeue_start.is_some() { "prequeue_start_time" } else { START };
    (event.opens() < now_s).then(|| error(field, PAST.into()))
}

/// Errors for times that `event` changes although they have passed, moves into the past, or must
/// leave because of the draw.
fn not_movable(event: &Event, before: &Event, now_s: u64) -> Vec<FieldError> {
    let times = [
        ("prequeue_start_time", event.prequeue_start, before.prequeue_start),
        (START, Some(event.start), Some(before.start)),
        ("event_end_time", Some(event.end), Some(before.end)),
    ];
    let moved = times.into_iter().filter(|(_, new, old)| new != old);
    let mut errors: Vec<_> = moved
        .filter_map(|(field, new, old)| {
            if old.is_some_and(|old| old <= now_s) {
                Some(error(field, "cannot be changed: it has passed".into()))
            } else {
                new.is_some_and(|new| new < now_s).then(|| error(field, PAST.into()))
            }
        })
        .collect();
    if before.prequeue_start.is_some_and(|opened| opened <= now_s) {
        errors.extend(not_drawable(event, before));
    }
    errors
}

/// Errors for what `event` changes while visitors already wait in the open pre-queue of `before`.
fn not_drawable(event: &Event, before: &Event) -> impl Iterator<Item = FieldError> {
    // The start of an event without a draw may be postponed.
    let fixed = [
        (START, before.draw && event.start != before.start),
        ("draw_at_event_start", event.draw != before.draw),
        ("beacon", event.beacon != before.beacon),
    ];
    let changed = fixed.into_iter().filter(|(_, changed)| *changed);
    changed.map(|(field, _)| {
        error(field, "cannot be changed: the pre-queue is open, and its draw is settled".into())
    })
}

const START: &str = "event_start_time";
const PAST: &str = "must not be in the past";

fn error(field: &'static str, reason: String) -> FieldError {
    FieldError { field: field.into(), reason }
}

#[cfg(test)]
mod tests;
