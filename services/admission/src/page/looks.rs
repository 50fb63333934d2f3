//! Operators' own pages and logos, read once per version. A page that does not work any more is
//! not shown: its room falls back to the default one, which is logged once and counted.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use vestibule_domain::{RoomId, front::Look};
use vestibule_page::{CustomPage, Problem};

use crate::visit::Visit;

/// What a room's page looks like.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    /// The operator's own page, if it works.
    pub(crate) page: Option<CustomPage>,
    /// The operator's logo, as a `data:` URI.
    pub(crate) logo: Option<String>,
}

/// The looks of all rooms that have their own.
#[derive(Debug, Default)]
pub(crate) struct LooksBoard {
    /// By room, of which version of its program.
    rooms: Mutex<HashMap<RoomId, (u64, Arc<Looks>)>>,
    /// Pages that were shown in the place of a broken one.
    fallbacks: AtomicU64,
}

// === impl LooksBoard ===

impl LooksBoard {
    /// The looks of the room of `visit`.
    pub(crate) fn of(&self, visit: &Visit) -> Arc<Looks> {
        let look = &visit.front.look;
        if look.is_default() {
            return Arc::default();
        }
        // Of the very look that is read: the room may have newer plans by now.
        let version = visit.front.version();
        let room = &visit.snapshot.room;
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
    pub(crate) fn failed(&self, room: &RoomId, problem: &Problem) {
        self.fallbacks.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(%room, %problem, "the room's own page cannot be shown");
    }

    /// How often the default page was shown in the place of a broken one.
    pub(crate) fn fallbacks(&self) -> u64 {
        self.fallbacks.load(Ordering::Relaxed)
    }
}

fn read(look: &Look, room: &RoomId) -> Looks {
    let page = look.html.as_deref().and_then(|html| match CustomPage::check(html) {
        Ok(page) => Some(page),
        Err(problems) => {
            let problem = problems.first().map(ToString::to_string).unwrap_or_default();
            tracing::warn!(%room, problem, "the room's own page is broken; the default page is shown");
            None
        }
    });
    let logo = look.logo.as_ref();
    Looks {
        page,
        logo: logo.map(|logo| format!("data:{};base64,{}", logo.media_type, logo.base64)),
    }
}
