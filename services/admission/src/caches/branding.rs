//! Operators' own pages and logos, read once per version. A room whose own page is broken shows the
//! default page, which is logged once and counted.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use vestibule_domain::RoomId;
use vestibule_page::{CustomPage, PageLogo, TemplateProblem};
use vestibule_site::Branding;

use crate::flows::BindingHandle;

/// What a room's page looks like.
#[derive(Debug, Default)]
pub(crate) struct RoomBranding {
    /// The operator's own page, if it works.
    pub(crate) page: Option<CustomPage>,
    /// The operator's logo.
    pub(crate) logo: Option<PageLogo>,
}

/// The brandings of all rooms that have their own.
#[derive(Debug, Default)]
pub(crate) struct BrandingCache {
    /// By room, with the version of the config that each was read from.
    rooms: Mutex<BTreeMap<RoomId, Versioned>>,
    /// How often the default page replaced a broken one.
    fallbacks: AtomicU64,
}

/// A branding with the version of the config that it was read from.
type Versioned = (Option<u64>, Arc<RoomBranding>);

// === impl BrandingCache ===

impl BrandingCache {
    /// The branding of `room`, as `binding` has it.
    pub(crate) fn get(&self, room: &RoomId, binding: &BindingHandle) -> Arc<RoomBranding> {
        let branding = &binding.branding;
        if branding.is_default() {
            return Arc::default();
        }
        // The version of this binding: the room may have a newer config by now.
        let version = binding.version();
        let mut rooms = self.lock();
        let known = rooms.get(room).filter(|(known, _)| *known == version);
        let read = if let Some((_, read)) = known {
            Arc::clone(read)
        } else {
            let read = Arc::new(RoomBranding::read(branding, room));
            rooms.insert(room.clone(), (version, Arc::clone(&read)));
            read
        };
        if branding.html.is_some() && read.page.is_none() {
            self.fallbacks.fetch_add(1, Ordering::Relaxed);
        }
        read
    }

    /// Counts and logs a page that failed while it was rendered.
    pub(crate) fn failed(&self, room: &RoomId, problem: &TemplateProblem) {
        self.fallbacks.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(%room, %problem, "the room's own page cannot be shown");
    }

    /// How often the default page replaced a broken one.
    pub(crate) fn fallbacks(&self) -> u64 {
        self.fallbacks.load(Ordering::Relaxed)
    }

    /// Forgets rooms that are not there.
    pub(crate) fn retain_rooms(&self, is_there: impl Fn(&RoomId) -> bool) {
        self.lock().retain(|room, _| is_there(room));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RoomId, Versioned>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl RoomBranding ===

impl RoomBranding {
    fn read(branding: &Branding, room: &RoomId) -> Self {
        let page = branding.html.as_deref().and_then(|html| match CustomPage::check(html) {
            Ok(page) => Some(page),
            Err(problems) => {
                let problem = problems.first().map(ToString::to_string).unwrap_or_default();
                tracing::warn!(%room, problem, "the room's own page is broken; the default page is shown");
                None
            }
        });
        Self { page, logo: branding.logo.as_ref().and_then(PageLogo::read) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_room_that_is_not_there_nothing_is_kept() {
        let cache = BrandingCache::default();
        let [sale, gala] = ["sale", "gala"].map(|name| RoomId::new(name).unwrap());
        for room in [&sale, &gala] {
            cache.lock().insert(room.clone(), (Some(1), Arc::default()));
        }
        cache.retain_rooms(|room| *room == sale);
        assert!(cache.lock().keys().eq([&sale]));
    }
}
