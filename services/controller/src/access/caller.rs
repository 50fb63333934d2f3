//! Who calls: a name, a role, and the rooms that it is for.

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};
use vestibule_domain::{
    RoomId,
    access::{Role, RoomScope},
};
use vestibule_issuance::aws::AwsError;
use vestibule_runtime::{Problem, ProblemType};

/// Who calls, as the layers have found out. Cloning is cheap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The name of the token, for the audit log.
    pub(crate) name: Arc<str>,
    /// What it may do.
    pub(crate) role: Role,
    /// In which rooms.
    pub(crate) rooms: Arc<RoomScope>,
}

/// The caller may not do this. The text says what is needed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub(crate) struct Refused {
    /// Which of the two it lacks: `role` or `rooms`.
    pub(crate) lacks: &'static str,
    detail: String,
}

// === impl Caller ===

impl Caller {
    /// One who may do everything.
    pub(crate) fn admin(name: &str) -> Self {
        Self::new(name, Role::Admin, RoomScope::default())
    }

    /// One with this role in these rooms.
    pub(crate) fn new(name: &str, role: Role, rooms: RoomScope) -> Self {
        Self { name: name.into(), role, rooms: Arc::new(rooms) }
    }

    /// Passes if it has `role`, or more.
    ///
    /// # Errors
    /// What it lacks.
    pub(crate) fn require(&self, role: Role) -> Result<(), Refused> {
        if self.role >= role {
            return Ok(());
        }
        let Self { name, role: own, .. } = self;
        let detail = format!("this needs the role `{role}`; the token `{name}` has `{own}`");
        Err(Refused { lacks: "role", detail })
    }

    /// Passes if it is for `room`, which need not be one.
    ///
    /// # Errors
    /// What it lacks.
    pub(crate) fn require_room(&self, room: &str) -> Result<(), Refused> {
        if self.rooms.covers(room) {
            return Ok(());
        }
        let detail = format!("this needs a token for the room; `{}` is for others", self.name);
        Err(Refused { lacks: "rooms", detail })
    }

    /// What it is told of `room` when another one is in its way: the name only if it is for that room.
    pub(crate) fn name_of(&self, room: &RoomId) -> String {
        if self.rooms.covers(room.as_str()) {
            format!("the room `{room}`")
        } else {
            "another room".to_owned()
        }
    }

    /// Passes if it is for all rooms, and so for what is of none.
    ///
    /// # Errors
    /// What it lacks.
    pub(crate) fn require_all_rooms(&self) -> Result<(), Refused> {
        if self.rooms.is_whole() {
            return Ok(());
        }
        let detail = format!("this needs a token for all rooms; `{}` is for some", self.name);
        Err(Refused { lacks: "rooms", detail })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or(Problem::new(ProblemType::Unauthorized))
    }
}

// === impl Refused ===

impl Refused {
    /// The same, with the reason why it is needed.
    pub(crate) fn because(self, reason: &str) -> Self {
        Self { detail: format!("{reason}: {}", self.detail), ..self }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        Self::new(ProblemType::Forbidden).detail(refused.detail)
    }
}

impl From<Refused> for AwsError {
    fn from(refused: Refused) -> Self {
        Self::Message(StatusCode::FORBIDDEN, refused.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_lacks_something_is_told_what() {
        let rooms = serde_json::from_str(r#"["sale-*"]"#).unwrap();
        let caller = Caller::new("ci", Role::Operator, rooms);
        assert_eq!(caller.require(Role::Viewer), Ok(()));
        assert_eq!(caller.require(Role::Operator), Ok(()));
        let refused = caller.require(Role::Admin).unwrap_err();
        assert_eq!(refused.detail, "this needs the role `admin`; the token `ci` has `operator`");
        assert_eq!(caller.require_room("sale-1"), Ok(()));
        assert_eq!(caller.require_room("vip").unwrap_err().lacks, "rooms");
        assert_eq!(caller.require_all_rooms().unwrap_err().lacks, "rooms");
        let name_of = |caller: &Caller, room: &str| caller.name_of(&RoomId::new(room).unwrap());
        assert_eq!(name_of(&caller, "sale-1"), "the room `sale-1`");
        assert_eq!(name_of(&caller, "vip"), "another room");
        assert_eq!(name_of(&Caller::admin("root"), "vip"), "the room `vip`");
        assert_eq!(Caller::admin("root").require_all_rooms(), Ok(()));
    }
}
