//! What a call leaves behind on its way down: which room it is about, and what of it, and what is different before and after.
//! Endpoints and what they call note it, before they have anything done: what nobody answers may be done all the same. The
//! layer around them writes it down.

use std::{
    convert::Infallible,
    fmt::Display,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};
use serde_json::Value;

use super::view::{difference, shortened};

/// The longest name of a subject, in characters: one that was not checked yet is as long as its caller likes.
const LONGEST_NAME: usize = 128;

/// What is noted of one call. Cloning is cheap, and all clones are one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trail {
    noted: Arc<Mutex<Noted>>,
    /// Of a call that changes several rooms: what is noted of each.
    rooms: Arc<Mutex<Option<Vec<Trail>>>>,
}

/// What is known of a call.
#[derive(Debug, Default, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Noted {
    /// The room, if it is of one.
    pub(crate) room: Option<String>,
    /// What it is about, if that is not the room itself: its kind and its name.
    pub(crate) subject: Option<String>,
    /// Whether something was about to be changed.
    pub(crate) began: bool,
    /// Whether it was changed, whatever becomes of the call.
    pub(crate) done: bool,
    /// Whether it may have been changed, whatever becomes of the call.
    pub(crate) perhaps_done: bool,
    /// Whether an earlier call of this name did it, and this one nothing.
    pub(crate) repeats: bool,
    /// What is different, as it was.
    pub(crate) before: Value,
    /// The same, as it is.
    pub(crate) after: Value,
}

// === impl Trail ===

impl Trail {
    /// The call is about the room of this name.
    pub(crate) fn name_room(&self, room: &str) {
        self.with(|noted| noted.room = Some(room.to_owned()));
    }

    /// The call is about what has this name, of this kind, such as `token` and `ci`. What has the same name before and after
    /// is not told by what differs.
    pub(crate) fn name_subject(&self, kind: &str, name: impl Display) {
        let name = name.to_string();
        let shown: String = name.chars().take(LONGEST_NAME).collect();
        let rest = if shown.len() < name.len() { "…" } else { "" };
        self.with(|noted| noted.subject = Some(format!("{kind} {shown}{rest}")));
    }

    /// The call changes one thing into the other, or is about to; null: nothing. Only what differs is kept.
    pub(crate) fn change(&self, before: &Value, after: &Value) {
        let (before, after) = difference(before, after);
        self.with(|noted| {
            noted.began = true;
            noted.before = shortened(before);
            noted.after = shortened(after);
        });
    }

    /// The call changes several rooms, or none: each is noted by itself.
    pub(crate) fn divide(&self) {
        lock(&self.rooms).get_or_insert_default();
    }

    /// What is noted of one of its rooms.
    pub(crate) fn of_room(&self, room: &str) -> Self {
        let part = Self::default();
        part.name_room(room);
        lock(&self.rooms).get_or_insert_default().push(part.clone());
        part
    }

    /// What was about to be changed is changed, whatever becomes of the call.
    pub(crate) fn done(&self) {
        self.with(|noted| noted.done = true);
    }

    /// What was about to be changed may be changed, and nobody knows, whatever the call is answered.
    pub(crate) fn perhaps_done(&self) {
        self.with(|noted| noted.perhaps_done = true);
    }

    /// An earlier call of this name has changed it, and is noted; this one changed nothing.
    pub(crate) fn repeats(&self) {
        self.with(|noted| noted.repeats = true);
    }

    /// What is known: of the call, or of each of its rooms.
    pub(crate) fn noted(&self) -> Vec<Noted> {
        match &*lock(&self.rooms) {
            Some(rooms) => rooms.iter().map(|room| room.with(|noted| noted.clone())).collect(),
            None => vec![self.with(|noted| noted.clone())],
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Noted) -> T) -> T {
        act(&mut lock(&self.noted))
    }
}

// === impl Noted ===

impl Noted {
    /// Whether it belongs into the log after an answer of this status: it was done, or nobody knows that it was not.
    pub(crate) fn is_to_be_told(&self, status: StatusCode) -> bool {
        // The earlier call may be this one's own attempt, whose answer was lost: then nobody else notes it.
        if self.repeats && !self.perhaps_done {
            return false;
        }
        let is_unknown = status.is_server_error() || self.perhaps_done;
        status.is_success() || self.done || self.began && is_unknown
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: Send + Sync> FromRequestParts<S> for Trail {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_leaves_one_note_and_one_for_each_of_several_rooms() {
        let trail = Trail::default();
        trail.name_room("sale");
        trail.change(&json!({"a": 1}), &json!({"a": 2}));
        let noted = trail.noted();
        assert_eq!((noted.len(), noted[0].room.as_deref()), (1, Some("sale")));

        let trail = Trail::default();
        trail.divide();
        assert_eq!(trail.noted(), [], "nothing was changed");
        trail.of_room("sale").done();
        trail.of_room("vip").change(&Value::Null, &json!({"a": 1}));
        let noted = trail.noted();
        assert_eq!([noted[0].done, noted[1].done], [true, false]);
        assert_eq!([noted[0].began, noted[1].began], [false, true]);
        assert_eq!(noted[1].after, json!({"a": 1}));
    }

    #[test]
    fn a_subject_is_told_though_it_is_the_same_before_and_after() {
        let trail = Trail::default();
        trail.name_subject("session", 17);
        trail.change(&json!({"session": "active"}), &json!({"session": "revoked"}));
        assert_eq!(trail.noted()[0].subject.as_deref(), Some("session 17"));
        trail.name_subject("token", "é".repeat(1_000_000));
        let long = trail.noted()[0].subject.clone().unwrap();
        assert_eq!(long, format!("token {}…", "é".repeat(LONGEST_NAME)));
    }

    #[test]
    fn what_may_have_been_done_is_told_whatever_was_answered() {
        let told = |trail: &Trail, status: u16| {
            let status = StatusCode::from_u16(status).unwrap();
            trail.noted()[0].is_to_be_told(status)
        };
        let trail = Trail::default();
        assert!(told(&trail, 204) && !told(&trail, 409) && !told(&trail, 503), "nothing began");
        trail.change(&Value::Null, &json!({"increment_by": 1}));
        assert!(told(&trail, 503) && !told(&trail, 409), "it was refused");
        trail.perhaps_done();
        assert!(told(&trail, 409) && told(&trail, 404), "nobody knows");
        let trail = Trail::default();
        trail.done();
        assert!(told(&trail, 409), "a part of a document");
        let trail = Trail::default();
        trail.repeats();
        assert!(!told(&trail, 200), "it is noted already");
        trail.perhaps_done();
        assert!(told(&trail, 200), "by its own first attempt");
    }
}
