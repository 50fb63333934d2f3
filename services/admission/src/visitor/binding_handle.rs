//! A room's place in front of a site, as this instance last read it.

use std::{
    ops::Deref,
    sync::{Arc, LazyLock},
};

use vestibule_domain::site::SiteBinding;
use vestibule_store::{KnownRoom, StoredConfig};

/// Of a room whose plans have not been read yet.
static DEFAULT: LazyLock<SiteBinding> = LazyLock::new(SiteBinding::default);

/// What an operator decided about a room's place in front of a site. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct BindingHandle(Option<Arc<StoredConfig>>);

// === impl BindingHandle ===

impl BindingHandle {
    /// That of `room`, as last read.
    pub(crate) fn room(room: &KnownRoom) -> Self {
        Self(room.plans())
    }

    /// The version of the room's config that it is of; 0: not read yet.
    pub(crate) fn version(&self) -> u64 {
        self.0.as_ref().map_or(0, |plans| plans.config.version)
    }
}

impl Deref for BindingHandle {
    type Target = SiteBinding;

    fn deref(&self) -> &SiteBinding {
        self.0.as_ref().map_or(&DEFAULT, |plans| &plans.config.binding)
    }
}
