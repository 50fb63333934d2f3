//! The command `backup`.

use std::{io, path::PathBuf, time::Duration};

use tokio::time::sleep;
use vestibule_domain::RoomId;
use vestibule_store::{AuditList, Piece, Store, StoreError};

use super::{
    BackupOptions,
    format::{Header, Line, RoomPiece, VERSION},
    target::Target,
    writer::Writer,
};

/// How often a room is tried again that is being brought to its latest state, or reset.
const TRIES: u32 = 20;
const RETRY: Duration = Duration::from_millis(500);

/// No backup was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupError {
    /// Redis.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is nothing to back up.
    #[error("this Redis holds no rooms of Vestibule: VESTIBULE_REDIS_URL may name another one")]
    Empty,
    /// A room cannot be read.
    #[error("room {room}")]
    Room {
        /// Which.
        room: RoomId,
        /// Why not.
        source: StoreError,
    },
    /// A controller would open the rooms again.
    #[error(
        "controller {0} leads, and would open the rooms again: stop all controllers before `backup --close`"
    )]
    Led(String),
    /// A controller has opened a room again.
    #[error("a controller has opened room {0} again: stop all controllers before `backup --close`")]
    Opened(RoomId),
    /// The file cannot be written.
    #[error("cannot write {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Writes a backup of all rooms; returns how many there are.
///
/// # Errors
/// [`BackupError`]; then there is no new file.
pub(crate) async fn save(store: &Store, options: &BackupOptions) -> Result<usize, BackupError> {
    if store.check_schema().await? == 0 {
        return Err(BackupError::Empty);
    }
    let listed = store.rooms().await?;
    if options.close {
        close(store, &listed).await?;
    }
    let failed = |source| BackupError::File { path: options.to.clone(), source };
    let mut writer = Writer::new(Target::open(&options.to).map_err(failed)?);
    let header = Header {
        version: VERSION,
        release: env!("CARGO_PKG_VERSION").to_owned(),
        taken_at: store.server_now_ms().await? / 1000,
        closed: options.close,
    };
    writer.add(&Line::Backup(header)).map_err(failed)?;
    let mut rooms = Vec::new();
    for room in listed {
        // A room that is gone was deleted a moment ago.
        let Some(pieces) = copy(store, &room).await? else { continue };
        if options.close && !is_closed(&pieces) {
            return Err(BackupError::Opened(room));
        }
        for piece in pieces {
            let piece = RoomPiece { room: room.clone(), piece };
            writer.add(&Line::Piece(piece)).map_err(failed)?;
        }
        rooms.push(room);
    }
    for list in [AuditList::Changes, AuditList::Visits] {
        for copy in store.export_audit(list).await? {
            writer.add(&Line::Audit(copy)).map_err(failed)?;
        }
    }
    let count = rooms.len();
    let deployment = store.export_deployment(rooms).await?;
    writer.add(&Line::Deployment(deployment)).map_err(failed)?;
    writer.end().and_then(Target::complete).map_err(failed)?;
    Ok(count)
}

/// Closes all rooms.
async fn close(store: &Store, rooms: &[RoomId]) -> Result<(), BackupError> {
    if let Some(leader) = store.leader().await? {
        return Err(BackupError::Led(leader));
    }
    for room in rooms {
        match store.close_room(room).await {
            Ok(()) | Err(StoreError::RoomMissing) => {}
            Err(source) => return Err(BackupError::Room { room: room.clone(), source }),
        }
    }
    Ok(())
}

/// Copies a room, patiently.
async fn copy(store: &Store, room: &RoomId) -> Result<Option<Vec<Piece>>, BackupError> {
    let mut tries = 1;
    loop {
        match store.export_room(room).await {
            Ok(pieces) => return Ok(pieces),
            Err(error) if error.is_temporary() && tries < TRIES => tries += 1,
            Err(source) => return Err(BackupError::Room { room: room.clone(), source }),
        }
        sleep(RETRY).await;
    }
}

fn is_closed(pieces: &[Piece]) -> bool {
    let says_so = |piece: &Piece| match piece {
        Piece::Hash { key, fields } => {
            key == "line" && fields.get("suspect").is_some_and(|why| why == "closed")
        }
        _ => false,
    };
    pieces.iter().any(says_so)
}
