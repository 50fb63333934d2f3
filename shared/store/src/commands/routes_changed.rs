//! When what is compared between rooms was changed last of each: of a room whose shard is away it says whether what somebody
//! remembers is the latest. It is kept where the lease of such changes is.

use std::collections::BTreeMap;

use vestibule_domain::RoomId;

use crate::{Store, StoreError, keys::ROUTES_CHANGED};

/// So many rooms are kept, the newest.
const KEPT: usize = 1_000;

/// When routes of rooms were changed last, unix ms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoutesChanged(BTreeMap<RoomId, u64>);

impl Store {
    /// Notes that the routes of `room`, or its names, are about to be changed. For who may change them now, before it does.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn note_routes_change(&self, room: &RoomId) -> Result<(), StoreError> {
        let mut noted = redis::cmd("ZADD");
        noted.arg(ROUTES_CHANGED).arg(self.now_ms().await?).arg(room.as_str());
        self.query::<u64>(&noted).await?;
        let mut trimmed = redis::cmd("ZREMRANGEBYRANK");
        trimmed.arg(ROUTES_CHANGED).arg(0).arg(format!("-{}", KEPT + 1));
        self.query::<u64>(&trimmed).await.map(drop)
    }

    /// When such changes were noted.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn routes_changed(&self) -> Result<RoutesChanged, StoreError> {
        let mut all = redis::cmd("ZRANGE");
        all.arg(ROUTES_CHANGED).arg(0).arg(-1).arg("WITHSCORES");
        let all: Vec<(String, u64)> = self.query(&all).await?;
        let named = |(name, at_ms)| Some((RoomId::new(name).ok()?, at_ms));
        Ok(RoutesChanged(all.into_iter().filter_map(named).collect()))
    }
}

// === impl RoutesChanged ===

impl RoutesChanged {
    /// When those of `room` were changed last, at the latest, unix ms; 0: as far as is noted, never. Who is not among the
    /// newest was changed before those.
    #[must_use]
    pub fn of(&self, room: &RoomId) -> u64 {
        let oldest = || self.0.values().min().copied().filter(|_| self.0.len() >= KEPT);
        self.0.get(room).copied().or_else(oldest).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_among_the_newest_was_changed_before_them() {
        let room = |name: &str| RoomId::new(name).unwrap();
        let few = RoutesChanged([(room("sale"), 7_000)].into());
        assert_eq!(["sale", "vip"].map(|name| few.of(&room(name))), [7_000, 0]);
        let many = (0..1_000).map(|nth| (room(&format!("r{nth}")), 5_000 + nth));
        let many = RoutesChanged(many.collect());
        assert_eq!(["r7", "vip"].map(|name| many.of(&room(name))), [5_007, 5_000]);
    }
}
