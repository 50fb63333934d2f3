//! The command `restore`.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufReader, Seek},
    path::Path,
    time::Duration,
};

use tokio::time::Instant;
use vestibule_domain::RoomId;
use vestibule_runtime::{Random, Signals};
use vestibule_store::{DeploymentCopy, Import, Store, StoreError, known_schema};

use super::{
    RestoreOptions,
    check::{Contents, check},
    format::{Header, Line, RoomPiece},
    options::UnseenError,
    reader::{FormatError, Reader},
    stop::unless_stopped,
};

/// For how long no controller leads, after the last renewal.
const LEASE: Duration = Duration::from_secs(10);
const RENEW: Duration = Duration::from_secs(1);

/// Nothing, or not everything was restored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RestoreError {
    /// The file cannot be used.
    #[error("cannot restore {}", path.display())]
    File {
        /// Which.
        path: std::path::PathBuf,
        /// Why not.
        source: FormatError,
    },
    /// It is not known how many numbers are to be left out.
    #[error("cannot restore {}", path.display())]
    Unseen {
        /// Which file.
        path: std::path::PathBuf,
        /// Why not.
        source: UnseenError,
    },
    /// Redis.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file was made of a later keyspace.
    #[error(
        "the backup has keyspace version {found}, and this release knows versions up to {known}: restore it with the release that made it, or a later one"
    )]
    NewerSchema {
        /// That of the file.
        found: u32,
        /// The newest that this release knows.
        known: u32,
    },
    /// The Redis holds something already.
    #[error(
        "this Redis holds rooms or keys of Vestibule already: restore into an empty one, before any service is started on it; if a restore was cut short here, empty it first"
    )]
    InUse,
    /// The Redis holds a part of what another restore puts back.
    #[error(
        "a restore was begun on this Redis and has not come to its end: if it was cut short, stop all services, empty this Redis first, of a Cluster every server, and restore again"
    )]
    HalfRestored,
    /// A server holds something already.
    #[error(
        "this Redis holds something of room {0} already: empty it first, of a Cluster every server, since FLUSHALL empties the one that it is sent to"
    )]
    Leftover(RoomId),
    /// Somebody leads.
    #[error(
        "a controller leads on this Redis, or another restore is under way: restore into an empty one, before any service is started on it"
    )]
    Led,
    /// What was put back is on a server that is no more, or not on all that there are.
    #[error("a server was restarted meanwhile, or another one took its place")]
    OtherServer,
    /// What was put back is not there.
    #[error(
        "{0} was put back and is not there: a server has lost it, or another one took its place"
    )]
    Lost(String),
    /// Somebody has stopped it.
    #[error("stopped by {0}")]
    Stopped(&'static str),
    /// It has begun, and it is not certain that all is there.
    #[error(
        "the restore was cut short, and a part of the rooms is there: start no service on this Redis, and empty it before the next attempt, of a Cluster every server"
    )]
    CutShort(#[source] Box<Self>),
}

/// What was restored.
#[derive(Debug)]
pub(crate) struct Restored {
    /// How many rooms there will be.
    pub(crate) rooms: usize,
    /// For how long, seconds, the rooms had been closed, if it was relied on that they stayed so.
    closed_for: Option<u64>,
}

/// What is to be put back where, once nobody else can.
struct Begun<'a> {
    lead: Lead<'a>,
    /// At its beginning.
    file: File,
    contents: Contents,
    /// See [`Import::new`].
    unseen: Option<u64>,
    /// See [`closed_for`].
    closed_for: Option<u64>,
}

/// Puts the rooms of a backup into an unused Redis, unless it is told to stop.
///
/// # Errors
/// [`RestoreError`]; unless it is [`RestoreError::CutShort`], nothing was changed, besides who leads for a few seconds.
pub(crate) async fn restore(
    store: &Store,
    options: &RestoreOptions,
    mut signals: Signals,
) -> Result<Restored, RestoreError> {
    let beginning = begin(store, options);
    let begun = unless_stopped(&mut signals, RestoreError::Stopped, beginning).await?;
    let putting = put_all(&begun, options);
    let put = unless_stopped(&mut signals, RestoreError::Stopped, putting).await;
    put.map_err(|error| RestoreError::CutShort(Box::new(error)))?;
    begun.lead.end().await;
    let closed_for = begun.closed_for.filter(|_| options.unseen_numbers.is_none());
    Ok(Restored { rooms: begun.contents.rooms, closed_for })
}

/// Looks whether the file can be restored here, and sees to it that nobody else leads. Changes nothing besides.
async fn begin<'a>(store: &'a Store, options: &RestoreOptions) -> Result<Begun<'a>, RestoreError> {
    let in_file = |source| RestoreError::File { path: options.from.clone(), source };
    let mut file = open(&options.from).map_err(in_file)?;
    let contents = check(BufReader::new(&file)).map_err(in_file)?;
    file.rewind().map_err(|error| in_file(error.into()))?;
    let (found, known) = (contents.deployment.schema, known_schema());
    if found > known {
        return Err(RestoreError::NewerSchema { found, known });
    }
    let rooms = &contents.deployment.rooms;
    expect_unused(store, rooms).await?;
    let closed_for = closed_for(store, &contents.header).await?;
    let in_doubt = |source| RestoreError::Unseen { path: options.from.clone(), source };
    let unseen = options.unseen(closed_for).map_err(in_doubt)?;
    let servers = store.server_processes().await?;
    let name = format!("restore-{:016x}", Random::of_system().number());
    if !store.lead_import(&name, LEASE, &contents.deployment).await? {
        return Err(RestoreError::Led);
    }
    let lead = Lead { store, name, servers };
    // Nobody can have begun to use it since.
    if let Err(used) = expect_unused(store, rooms).await {
        lead.end().await;
        return Err(used);
    }
    Ok(Begun { lead, file, contents, unseen, closed_for })
}

/// Nothing of a deployment is here, and nothing of these rooms on any server.
async fn expect_unused(store: &Store, rooms: &[RoomId]) -> Result<(), RestoreError> {
    if store.is_half_imported().await? {
        return Err(RestoreError::HalfRestored);
    }
    if !store.is_unused().await? {
        return Err(RestoreError::InUse);
    }
    store.first_found(rooms).await?.map_or(Ok(()), |room| Err(RestoreError::Leftover(room)))
}

/// Opens the file, which is read twice: nothing is changed before it was read to its end.
fn open(path: &Path) -> Result<File, FormatError> {
    let mut file = File::open(path)?;
    file.stream_position().map_err(|_| FormatError::ReadOnce)?;
    Ok(file)
}

/// For how many seconds, by the clock of this Redis, the rooms had been closed; `None`: they were open.
async fn closed_for(store: &Store, header: &Header) -> Result<Option<u64>, StoreError> {
    let now = store.server_now_ms().await? / 1000;
    Ok(header.closed.then(|| now.saturating_sub(header.taken_at)))
}

/// What keeps controllers away, and where everything goes.
struct Lead<'a> {
    store: &'a Store,
    name: String,
    /// See [`Store::server_processes`].
    servers: BTreeSet<String>,
}

async fn put_all(begun: &Begun<'_>, options: &RestoreOptions) -> Result<(), RestoreError> {
    let Begun { lead, file, contents, unseen, .. } = begun;
    let (store, deployment) = (lead.store, &contents.deployment);
    let in_file = |source| RestoreError::File { path: options.from.clone(), source };
    let (_, mut reader) = Reader::begin(BufReader::new(file)).map_err(in_file)?;
    store.begin_import(deployment).await?;
    let (mut under_way, mut renewed_at) = (None::<Import<'_>>, Instant::now());
    while let Some(line) = reader.next().map_err(in_file)? {
        match line {
            Line::Piece(RoomPiece { room: of, piece }) => {
                let mut import = match under_way.take() {
                    Some(import) if import.room() == &of => import,
                    _ => Import::new(store, of, *unseen),
                };
                import.put(piece).await?;
                under_way = Some(import);
            }
            Line::Audit(copy) => store.import_audit(&copy).await?,
            Line::Backup(_) | Line::Deployment(_) | Line::End(_) => continue,
        }
        if renewed_at.elapsed() >= RENEW {
            renewed_at = Instant::now();
            lead.keep(deployment).await?;
        }
    }
    lead.keep(deployment).await?;
    store.end_import(deployment).await?;
    expect_all(store, deployment).await?;
    // Until now it counts as cut short, and after that as whole.
    lead.expect_same_servers().await?;
    if !store.complete_import(deployment).await? {
        return Err(RestoreError::Lost("the mark of this restore".to_owned()));
    }
    lead.expect_same_servers().await
}

/// What was put back is there. Where servers may not be asked who they are, nothing else tells that one took another's
/// place which lacks some of it.
async fn expect_all(store: &Store, deployment: &DeploymentCopy) -> Result<(), RestoreError> {
    if let Some(room) = store.first_missing(&deployment.rooms).await? {
        return Err(RestoreError::Lost(format!("room {room}")));
    }
    if deployment.key_ring.is_some() && store.key_ring().await?.is_none() {
        return Err(RestoreError::Lost("the key ring".to_owned()));
    }
    Ok(())
}

// === impl Restored ===

impl Restored {
    /// What whoever has restored must know besides.
    pub(crate) fn caution(&self) -> Option<String> {
        self.closed_for.map(|seconds| {
            let minutes = seconds / 60;
            format!(
                "the rooms were closed for this backup {minutes} minutes ago: if a controller has run on the old Redis \
                 since, start no service here, empty this Redis, and restore with --unseen-numbers"
            )
        })
    }
}

// === impl Lead ===

impl Lead<'_> {
    /// Goes on leading, so that no controller does.
    async fn keep(&self, deployment: &DeploymentCopy) -> Result<(), RestoreError> {
        self.expect_same_servers().await?;
        let leads = self.store.lead_import(&self.name, LEASE, deployment).await?;
        if leads { Ok(()) } else { Err(RestoreError::Led) }
    }

    /// Lets others lead.
    async fn end(&self) {
        // If this fails, they can within [`LEASE`].
        let _ = self.store.release_lease(&self.name).await;
    }

    /// A server that was restarted, or that took another's place, may lack what was put back before.
    async fn expect_same_servers(&self) -> Result<(), RestoreError> {
        let are_same = self.store.server_processes().await? == self.servers;
        if are_same { Ok(()) } else { Err(RestoreError::OtherServer) }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn what_can_be_read_only_once_is_refused_before_anything_is_done() {
        let (reader, _writer) = std::io::pipe().unwrap();
        let pipe = format!("/proc/self/fd/{}", reader.as_raw_fd());
        let refused = open(Path::new(&pipe)).unwrap_err();
        assert!(matches!(refused, FormatError::ReadOnce), "{refused}");
        assert!(open(tempfile::NamedTempFile::new().unwrap().path()).is_ok());
    }
}
