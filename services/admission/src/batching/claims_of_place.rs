//! How many claims of one place are under way: each is a request that is held, and one visitor could have all requests
//! held that this instance takes. It knows nothing of seats.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use vestibule_domain::{Place, RoomId};

/// How many claims of one place are held at a time: more than anybody has pages open whose turn it is.
const MOST: usize = 4;

/// The claims under way. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(super) struct ClaimsOfPlace(Arc<Mutex<Counts>>);

/// Without those places of which there are none.
type Counts = FxHashMap<(RoomId, Place), usize>;

/// One claim under way, until it is dropped: also if its visitor hangs up.
#[derive(Debug)]
pub(super) struct Counted {
    claims: ClaimsOfPlace,
    place: (RoomId, Place),
}

// === impl ClaimsOfPlace ===

impl ClaimsOfPlace {
    /// Counts one more claim of `place`; `None`: there are as many as may be.
    pub(super) fn begin(&self, room: &RoomId, place: Place) -> Option<Counted> {
        let place = (room.clone(), place);
        let mut counts = self.lock();
        let count = counts.entry(place.clone()).or_default();
        if *count >= MOST {
            return None;
        }
        *count += 1;
        drop(counts);
        Some(Counted { claims: self.clone(), place })
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Counted ===

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.claims.lock();
        if let Some(count) = counts.get_mut(&self.place) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_a_few_claims_and_leaves_nothing_behind() {
        let claims = ClaimsOfPlace::default();
        let [sale, gala] = ["sale", "gala"].map(|name| RoomId::new(name).unwrap());
        let [ann, bob] = [1, 2].map(|number| Place { number, entered_at: 9, region: 0 });
        let mut held: Vec<_> = (0..MOST).map(|_| claims.begin(&sale, ann).unwrap()).collect();
        assert!(claims.begin(&sale, ann).is_none());
        held.extend([claims.begin(&sale, bob), claims.begin(&gala, ann)].map(Option::unwrap));
        held.remove(0);
        held.push(claims.begin(&sale, ann).expect("one has ended"));
        assert!(claims.begin(&sale, ann).is_none());
        drop(held);
        assert!(claims.lock().is_empty());
    }
}
