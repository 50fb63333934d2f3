//! No two rooms cover the same host and path: a change of routes is looked at together with all
//! other rooms, by one controller at a time.

use std::time::Duration;

use tokio::time::sleep;
use vestibule_domain::{RoomId, schedule::RoomConfig};
use vestibule_issuance::problem_of;
use vestibule_runtime::Problem;
use vestibule_site::{Conflict, Coverage, SiteBinding};
use vestibule_store::PutOutcome;

use crate::{
    api_types::{invalid_room, refuse},
    room_config::busy,
    state::Controller,
};

/// How often a change of routes asks whether another one is done.
const ATTEMPTS: usize = 40;
const RETRY: Duration = Duration::from_millis(50);

// === impl Controller ===

impl Controller {
    /// Puts a config whose routes have changed, if they are no other room's.
    ///
    /// # Errors
    /// A 400 that names each route of another room; 409 when others keep changing routes.
    pub(crate) async fn put_routes(
        &self,
        room: &RoomId,
        config: &RoomConfig,
    ) -> Result<PutOutcome, Problem> {
        let caller = format!("{}-{:08x}", self.instance, rand::random::<u32>());
        self.begin_routes(&caller).await?;
        let put = match self.refuse_routes_of_others(room, &config.binding).await {
            Ok(()) => self.put_as_it_is(room, config).await,
            Err(problem) => Err(problem),
        };
        // If this fails the lease ends by itself.
        let _ = self.store.end_routes(&caller).await;
        put
    }

    async fn begin_routes(&self, caller: &str) -> Result<(), Problem> {
        for _ in 0..ATTEMPTS {
            if self.store.begin_routes(caller).await.map_err(|error| problem_of(&error))? {
                return Ok(());
            }
            sleep(RETRY).await;
        }
        Err(busy())
    }

    async fn refuse_routes_of_others(
        &self,
        room: &RoomId,
        binding: &SiteBinding,
    ) -> Result<(), Problem> {
        let others = self.fronts().await?;
        let others = others.iter().filter(|(other, _)| other != room);
        let others = Coverage::new(others.map(|(room, binding)| (room, binding)));
        let conflicts = others.conflicts(room, binding);
        refuse(invalid_room(), conflicts.iter().map(Conflict::error).collect())
    }

    /// Every room's place in front of a site, as Redis holds them this moment.
    ///
    /// # Errors
    /// 503 while Redis cannot tell.
    pub(crate) async fn fronts(&self) -> Result<Vec<(RoomId, SiteBinding)>, Problem> {
        let mut fronts = Vec::new();
        for room in self.store.rooms().await.map_err(|error| problem_of(&error))? {
            // One that has just been deleted is left out.
            let config = self.store.read_config(&room).await;
            if let Some(config) = config.map_err(|error| problem_of(&error))? {
                fronts.push((room, config.binding));
            }
        }
        Ok(fronts)
    }
}
