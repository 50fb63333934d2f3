//! Which places of a room are over, and which are AWS-style visitors': read from Redis to be remembered, told, and put
//! back.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{
    Store, StoreError, document,
    keys::{Part, RoomKeys},
    memory::{PlaceBits, Places, PlacesChunk},
    scripts,
};

/// For how long pages are kept, in seconds: as long as the accounts that they belong to, see `testify.lua`.
pub(super) const KEPT_SECONDS: u64 = 3_600;

/// Where a service tells the bits of one chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacesPage {
    /// The end of the page's key.
    page: String,
    chunk: u64,
    of: PlaceBits,
}

// === impl PlacesPage ===

impl PlacesPage {
    /// Whether it tells of AWS-style visitors: unlike places that are over, they are fewer later on.
    #[must_use]
    pub fn is_of_unattended(&self) -> bool {
        self.of == PlaceBits::Unattended
    }
}

#[derive(Serialize)]
struct ReadArguments {
    chunk: u64,
}

#[derive(Deserialize)]
struct ReadReply {
    reset_epoch: u64,
}

#[derive(Serialize)]
struct RestoreArguments<'a> {
    reset_epoch: u64,
    #[serde(flatten)]
    page: &'a PlacesPage,
}

#[derive(Deserialize)]
struct RestoreReply {
    done: bool,
}

impl Store {
    /// Reads a chunk of the places of `room`, to be told if Redis loses it.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Rewound`]; otherwise see [`StoreError`].
    pub async fn remember_places(&self, room: &RoomId, chunk: u64) -> Result<(), StoreError> {
        type Reply = (String, Vec<u8>, Vec<u8>, Vec<u8>);
        let (reply, entered, gone_from_pools, unattended): Reply =
            self.call_for(&scripts::READ_PLACES, room, &[], &ReadArguments { chunk }).await?;
        let ReadReply { reset_epoch } = document::decode(&reply)?;
        let memory = self.memory().room(room);
        for (of, bytes) in [
            (PlaceBits::Entered, entered),
            (PlaceBits::GoneFromPools, gone_from_pools),
            (PlaceBits::Unattended, unattended),
        ] {
            memory.take_places(reset_epoch, PlacesChunk { of, chunk, bytes });
        }
        Ok(())
    }

    /// Notes that all chunks of `room` were read since this was its highest number, in this reset epoch.
    pub fn note_places_known(&self, room: &RoomId, reset_epoch: u64, queue_counter: u64) {
        self.memory().room(room).note_places_known(reset_epoch, queue_counter);
    }

    /// Tells which places are over, a page for each chunk.
    pub(crate) async fn tell_places(
        &self,
        room: &RoomId,
        places: &Places,
    ) -> Result<Vec<PlacesPage>, StoreError> {
        let (name, mut pages) = (self.nonce(), Vec::new());
        for (nth, PlacesChunk { of, chunk, bytes }) in places.chunks().into_iter().enumerate() {
            let mut set = redis::cmd("SET");
            set.arg(RoomKeys(room).testimony_page(&name, nth)).arg(bytes);
            self.query::<()>(set.arg("EX").arg(KEPT_SECONDS)).await?;
            pages.push(PlacesPage { page: format!("{name}:{nth}"), chunk, of });
        }
        Ok(pages)
    }

    /// Whether all of these pages are there.
    pub(super) async fn has_pages(
        &self,
        room: &RoomId,
        pages: &[PlacesPage],
    ) -> Result<bool, StoreError> {
        if pages.is_empty() {
            return Ok(true);
        }
        let mut exists = redis::cmd("EXISTS");
        for PlacesPage { page, .. } in pages {
            exists.arg(format!("{}:{page}", RoomKeys(room).key(Part::Testimony)));
        }
        let found: usize = self.query(&exists).await?;
        Ok(found == pages.len())
    }

    /// Puts back what a service has told of places in this reset epoch. Places that are over stay so.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn restore_places(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        pages: &[PlacesPage],
    ) -> Result<(), StoreError> {
        for page in pages {
            let arguments = RestoreArguments { reset_epoch, page };
            let reply: RestoreReply = self.call(&scripts::RESTORE_PLACES, room, &arguments).await?;
            if !reply.done {
                return Ok(());
            }
        }
        Ok(())
    }
}
