//! What a call leaves behind on its way down: which room it is about, and what is different before and after. Endpoints
//! and what they call note it; the layer around them writes it down.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{extract::FromRequestParts, http::request::Parts};
use serde_json::Value;

use super::view::{difference, shortened};

/// What is noted of one call. Cloning is cheap, and all clones are one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trail(Arc<Mutex<Noted>>);

/// What is known of a call.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Noted {
    /// The room, if it is of one.
    pub(crate) room: Option<String>,
    /// Whether something was about to be changed.
    pub(crate) began: bool,
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

    /// What is known.
    pub(crate) fn noted(&self) -> Noted {
        self.with(|noted| noted.clone())
    }

    fn with<T>(&self, act: impl FnOnce(&mut Noted) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Trail {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}
