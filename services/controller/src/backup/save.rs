//! The command `backup`.

use std::{io, path::PathBuf, time::Duration};

use tokio::time::sleep;
use vestibule_domain::RoomId;
use vestibule_runtime::Signals;
use vestibule_store::{AuditList, DeploymentCopy, Piece, Store, StoreError};

use super::{
    BackupOptions,
    copied::{Copied, field_of_line},
    format::{Header, Line, RoomPiece, VERSION},
    stop::unless_stopped,
    target::{Target, partial_of},
    writer::Writer,
};

/// How often is tried again what is being brought to its latest state, reset, or put back.
const TRIES: u32 = 20;
const RETRY: Duration = Duration::from_millis(500);
/// Within this time whoever runs lists the rooms again that the list has lost.
const LISTING: Duration = Duration::from_secs(1);

/// No backup was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupError {
    /// Redis.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is nothing to back up.
    #[error("this Redis holds no rooms of Vestibule: VESTIBULE_REDIS_URL may name another one")]
    Empty,
    /// What is there is a part of what there was.
    #[error(
        "a restore was begun on this Redis and has not come to its end, so what is there may be a part of the rooms: \
         if it was cut short, empty this Redis and restore again"
    )]
    HalfRestored,
    /// A room cannot be read.
    #[error("room {room}")]
    Room {
        /// Which.
        room: RoomId,
        /// Why not.
        source: StoreError,
    },
    /// A room is listed, and is not there.
    #[error(
        "this Redis has lost room {0}, or some of it: while a controller runs, it brings the room back, or ends its deletion"
    )]
    Lost(RoomId),
    /// There are rooms and no keys.
    #[error(
        "this Redis has rooms and has lost their key ring: while a service runs that remembers it, it is put back; else start a controller, which makes another"
    )]
    NoKeys,
    /// A controller would open the rooms again.
    #[error(
        "controller {0} leads, and would open the rooms again: stop all controllers before `backup --close`"
    )]
    Led(String),
    /// A controller has opened a room again.
    #[error("a controller has opened room {0} again: stop all controllers before `backup --close`")]
    Opened(RoomId),
    /// What was copied of a room is not what it is now, and its tombstone is of both.
    #[error("room {0} was deleted and made anew meanwhile: take the backup again")]
    MadeAnew(RoomId),
    /// The file cannot be written.
    #[error("cannot write {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Somebody has stopped it.
    #[error("stopped by {0} before the backup was complete")]
    Stopped(&'static str),
}

/// Writes a backup of all rooms, unless it is told to stop; returns how many there are, without those that were deleted
/// meanwhile.
///
/// # Errors
/// [`BackupError`]; then there is no new file.
pub(crate) async fn save(
    store: &Store,
    options: &BackupOptions,
    mut signals: Signals,
) -> Result<usize, BackupError> {
    // What is dropped takes the file with it.
    unless_stopped(&mut signals, BackupError::Stopped, save_all(store, options)).await
}

async fn save_all(store: &Store, options: &BackupOptions) -> Result<usize, BackupError> {
    if store.is_half_imported().await? {
        return Err(BackupError::HalfRestored);
    }
    if store.check_schema().await? == 0 {
        return Err(BackupError::Empty);
    }
    if options.close {
        expect_nobody_leads(store).await?;
    }
    let failed = in_file(partial_of(&options.to));
    let mut writer = Writer::new(Target::open(&options.to).map_err(&failed)?);
    let header = Header {
        version: VERSION,
        release: env!("CARGO_PKG_VERSION").to_owned(),
        taken_at: store.server_now_ms().await? / 1000,
        closed: options.close,
    };
    writer.add(&Line::Backup(header)).map_err(&failed)?;
    let copied = write_rooms(store, options, &mut writer).await?;
    for list in [AuditList::Changes, AuditList::Visits] {
        for copy in store.export_audit(list).await? {
            writer.add(&Line::Audit(copy)).map_err(&failed)?;
        }
    }
    let deployment = copy_deployment(store, copied.rooms()).await?;
    let count = copied.count_left(&deployment.tombstones);
    expect_none_is_new(store, &copied, &deployment).await?;
    writer.add(&Line::Deployment(deployment)).map_err(&failed)?;
    let target = writer.end().map_err(failed)?;
    target.complete().map_err(in_file(options.to.clone()))?;
    Ok(count)
}

fn in_file(path: PathBuf) -> impl Fn(io::Error) -> BackupError {
    move |source| BackupError::File { path: path.clone(), source }
}

/// Writes all rooms; returns which they are.
async fn write_rooms(
    store: &Store,
    options: &BackupOptions,
    writer: &mut Writer<Target>,
) -> Result<Copied, BackupError> {
    let mut copied = Copied::default();
    let mut found = listed(store).await?;
    while !found.is_empty() {
        if options.close {
            close(store, &found).await?;
        }
        for room in found {
            if let Some(pieces) = copy(store, &room).await? {
                if options.close && !is_closed(&pieces) {
                    return Err(BackupError::Opened(room));
                }
                for piece in &pieces {
                    copied.take(&room, piece);
                }
                write(&room, pieces, writer).map_err(in_file(partial_of(&options.to)))?;
            }
        }
        // Some may have been about to be listed again.
        found = store.rooms().await?;
        found.retain(|room| !copied.has(room));
    }
    Ok(copied)
}

fn write(room: &RoomId, pieces: Vec<Piece>, writer: &mut Writer<Target>) -> io::Result<()> {
    let mut pieces = pieces.into_iter().map(|piece| RoomPiece { room: room.clone(), piece });
    pieces.try_for_each(|piece| writer.add(&Line::Piece(piece)))
}

/// The rooms there are. If there are none, Redis may have lost the list a moment ago.
async fn listed(store: &Store) -> Result<Vec<RoomId>, StoreError> {
    let listed = store.rooms().await?;
    if !listed.is_empty() {
        return Ok(listed);
    }
    sleep(LISTING).await;
    store.rooms().await
}

async fn expect_nobody_leads(store: &Store) -> Result<(), BackupError> {
    store.leader().await?.map_or(Ok(()), |leader| Err(BackupError::Led(leader)))
}

/// Closes rooms.
async fn close(store: &Store, rooms: &[RoomId]) -> Result<(), BackupError> {
    for room in rooms {
        match store.close_room(room).await {
            Ok(()) | Err(StoreError::RoomMissing) => {}
            Err(source) => return Err(BackupError::Room { room: room.clone(), source }),
        }
    }
    Ok(())
}

/// Copies a room, patiently; `None`: it was deleted. While it is listed Redis has lost it, or its deletion is under way.
async fn copy(store: &Store, room: &RoomId) -> Result<Option<Vec<Piece>>, BackupError> {
    for _ in 0..TRIES {
        match store.export_room(room).await {
            Ok(Some(pieces)) => return Ok(Some(pieces)),
            Ok(None) if !store.rooms().await?.contains(room) => return Ok(None),
            Ok(None) => {}
            Err(error) if error.is_temporary() => {}
            Err(source) => return Err(BackupError::Room { room: room.clone(), source }),
        }
        sleep(RETRY).await;
    }
    match store.export_room(room).await {
        Ok(Some(pieces)) => Ok(Some(pieces)),
        Ok(None) => Err(BackupError::Lost(room.clone())),
        Err(source) => Err(BackupError::Room { room: room.clone(), source }),
    }
}

/// Copies what belongs to no room. Keys that Redis has lost alone are put back in a moment.
async fn copy_deployment(store: &Store, rooms: Vec<RoomId>) -> Result<DeploymentCopy, BackupError> {
    for _ in 0..TRIES {
        let copy = store.export_deployment(rooms.clone()).await?;
        if copy.key_ring.is_some() || rooms.is_empty() {
            return Ok(copy);
        }
        sleep(RETRY).await;
    }
    Err(BackupError::NoKeys)
}

/// No room that was copied was deleted and made anew since: restored, it would be deleted, for its tombstone comes last.
async fn expect_none_is_new(
    store: &Store,
    copied: &Copied,
    deployment: &DeploymentCopy,
) -> Result<(), BackupError> {
    let listed = store.rooms().await?;
    for (room, tombstone) in copied.deleted(&deployment.tombstones) {
        // Else its deletion is under way.
        if listed.contains(room) && !store.is_buried(room, tombstone).await? {
            return Err(BackupError::MadeAnew(room.clone()));
        }
    }
    Ok(())
}

fn is_closed(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| field_of_line(piece, "suspect") == Some("closed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stop_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let count = || std::fs::read_dir(dir.path()).unwrap().count();
        let (sender, mut signals) = Signals::by_hand();
        let saving = async {
            let _target = Target::open(&dir.path().join("backup")).unwrap();
            assert_eq!(count(), 1, "it is under way");
            sender.send("SIGTERM");
            std::future::pending::<Result<usize, _>>().await
        };
        let stopped = unless_stopped(&mut signals, BackupError::Stopped, saving).await.unwrap_err();
        assert!(matches!(stopped, BackupError::Stopped("SIGTERM")), "{stopped}");
        assert_eq!(count(), 0);
    }
}
