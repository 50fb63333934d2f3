//! Operators' own pages and logos, read once per version. A page that does not work any more is
//! not shown: its room falls back to the default one, which is logged once and counted.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use vestibule_domain::{RoomId, site::Branding};
use vestibule_page::{CustomPage, TemplateProblem};

use crate::visitor::RoomContext;

/// What a room's page looks like.
#[derive(Debug, Default)]
pub(crate) struct RoomBranding {
    /// The operator's own page, if it works.
    pub(crate) page: Option<CustomPage>,
    /// The operator's logo, as a `data:` URI.
    pub(crate) logo: Option<String>,
}

/// The looks of all rooms that have their own.
#[derive(Debug, Default)]
pub(crate) struct BrandingCache {
    /// By room, of which version of its config.
    rooms: Mutex<HashMap<RoomId, (u64, Arc<RoomBranding>)>>,
    /// Pages that were shown in the place of a broken one.
    fallbacks: AtomicU64,
}

// === impl BrandingCache ===

impl BrandingCache {
    /// The looks of the room of `context`.
    pub(crate) fn get(&self, context: &RoomContext) -> Arc<RoomBranding> {
        let look = &context.binding.branding;
        if look.is_default() {
            return Arc::default();
        }
        // Of the very look that is read: the room may have newer plans by now.
        let version = context.binding.version();
        let room = &context.snapshot.room;
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let known = rooms.get(room).filter(|(known, _)| *known == version);
        let looks = match known {
            Some((_, looks)) => Arc::clone(looks),
            None => Arc::new(read(look, room)),
        };
        rooms.insert(room.clone(), (version, Arc::clone(&looks)));
        if look.html.is_some() && looks.page.is_none() {
            self.fallbacks.fetch_add(1, Ordering::Relaxed);
        }
        looks
    }

    /// Takes note of a page that failed while it was shown.
    pub(crate) fn failed(&self, room: &RoomId, problem: &TemplateProblem) {
        self.fallbacks.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(%room, %problem, "the room's own page cannot be shown");
    }

    /// How often the default page was shown in the place of a broken one.
    pub(crate) fn fallbacks(&self) -> u64 {
        self.fallbacks.load(Ordering::Relaxed)
    }
}

fn read(look: &Branding, room: &RoomId) -> RoomBranding {
    let page = look.html.as_deref().and_then(|html| match CustomPage::check(html) {
        Ok(page) => Some(page),
        Err(problems) => {
            let problem = problems.first().map(ToString::to_string).unwrap_or_default();
            tracing::warn!(%room, problem, "the room's own page is broken; the default page is shown");
            None
        }
    });
    let logo = look.logo.as_ref();
    RoomBranding {
        page,
        logo: logo.map(|logo| format!("data:{};base64,{}", logo.media_type, logo.base64)),
    }
}
