//! What a call leaves behind on its way down: which room it is about, and what is different before and after. Endpoints
//! and what they call note it; the layer around them writes it down.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{extract::FromRequestParts, http::request::Parts};
use serde_json::Value;

use super::view::{difference, shortened};

/// What is noted of one call. Cloning is cheap, and all clones are one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trail {
    noted: Arc<Mutex<Noted>>,
    /// Of a call that changes several rooms: what is noted of each.
    rooms: Arc<Mutex<Option<Vec<Trail>>>>,
}

/// What is known of a call.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Noted {
    /// The room, if it is of one.
    pub(crate) room: Option<String>,
    /// Whether something was about to be changed.
    pub(crate) began: bool,
    /// Whether it was changed, whatever becomes of the call.
    pub(crate) done: bool,
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
}
