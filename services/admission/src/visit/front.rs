//! A room's place in front of a site, as this instance last read it.

use std::{
    ops::Deref,
    sync::{Arc, LazyLock},
};

use vestibule_domain::front::Front;
use vestibule_store::{KnownRoom, Plans};

/// Of a room whose plans have not been read yet.
static DEFAULT: LazyLock<Front> = LazyLock::new(Front::default);

/// What an operator decided about a room's place in front of a site. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct FrontOf(Option<Arc<Plans>>);

// === impl FrontOf ===

impl FrontOf {
    /// That of `room`, as last read.
    pub(crate) fn room(room: &KnownRoom) -> Self {
        Self(room.plans())
    }

    /// The version of the room's program that it is of; 0: not read yet.
    pub(crate) fn version(&self) -> u64 {
        self.0.as_ref().map_or(0, |plans| plans.program.version)
    }
}

impl Deref for FrontOf {
    type Target = Front;

    fn deref(&self) -> &Front {
        self.0.as_ref().map_or(&DEFAULT, |plans| &plans.program.front)
    }
}
