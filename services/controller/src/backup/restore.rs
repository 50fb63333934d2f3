//! The command `restore`.

use std::{collections::BTreeSet, fs::File, io::BufReader, path::Path, time::Duration};

use tokio::time::Instant;
use vestibule_runtime::Random;
use vestibule_store::{DeploymentCopy, Import, Store, StoreError, known_schema};

use super::{
    RestoreOptions,
    check::{Contents, check},
    format::{Line, RoomPiece},
    reader::{FormatError, Reader},
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
    /// Somebody leads.
    #[error(
        "a controller leads on this Redis, or another restore is under way: restore into an empty one, before any service is started on it"
    )]
    Led,
    /// What was put back is on a server that is no more, or not on all that there are.
    #[error("a server was restarted meanwhile, or another one took its place")]
    OtherServer,
    /// It has begun and was not finished.
    #[error(
        "the restore was cut short: start no service on this Redis, and empty it before the next attempt"
    )]
    CutShort(#[source] Box<Self>),
}

/// Puts the rooms of a backup into an unused Redis; returns how many there are.
///
/// # Errors
/// [`RestoreError`]; unless it is [`RestoreError::CutShort`], nothing was changed.
pub(crate) async fn restore(
    store: &Store,
    options: &RestoreOptions,
) -> Result<usize, RestoreError> {
    let in_file = |source| RestoreError::File { path: options.from.clone(), source };
    let contents = open(&options.from).and_then(check).map_err(in_file)?;
    let (found, known) = (contents.deployment.schema, known_schema());
    if found > known {
        return Err(RestoreError::NewerSchema { found, known });
    }
    if !store.is_unused().await? {
        return Err(RestoreError::InUse);
    }
    let servers = store.server_processes().await?;
    let name = format!("restore-{:016x}", Random::of_system().number());
    if !store.lead_import(&name, LEASE, &contents.deployment).await? {
        return Err(RestoreError::Led);
    }
    // Nobody can have begun to use it since.
    if !store.is_unused().await? {
        store.release_lease(&name).await?;
        return Err(RestoreError::InUse);
    }
    let lead = Lead { store, name: &name, servers };
    let put = put_all(&lead, options, &contents).await;
    put.map_err(|error| RestoreError::CutShort(Box::new(error)))?;
    store.release_lease(&name).await?;
    Ok(contents.deployment.rooms.len())
}

fn open(path: &Path) -> Result<BufReader<File>, FormatError> {
    Ok(BufReader::new(File::open(path)?))
}

/// What keeps controllers away, and where everything goes.
struct Lead<'a> {
    store: &'a Store,
    name: &'a str,
    /// See [`Store::server_processes`].
    servers: BTreeSet<String>,
}

async fn put_all(
    lead: &Lead<'_>,
    options: &RestoreOptions,
    Contents { header, deployment }: &Contents,
) -> Result<(), RestoreError> {
    let store = lead.store;
    let in_file = |source| RestoreError::File { path: options.from.clone(), source };
    let unseen = options.unseen(header.closed);
    let (_, mut reader) = open(&options.from).and_then(Reader::begin).map_err(in_file)?;
    store.begin_import(deployment).await?;
    let (mut under_way, mut renewed_at) = (None::<Import<'_>>, Instant::now());
    while let Some(line) = reader.next().map_err(in_file)? {
        match line {
            Line::Piece(RoomPiece { room: of, piece }) => {
                let mut import = match under_way.take() {
                    Some(import) if import.room() == &of => import,
                    _ => Import::new(store, of, unseen),
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
    lead.expect_same_servers().await
}

// === impl Lead ===

impl Lead<'_> {
    /// Goes on leading, so that no controller does.
    async fn keep(&self, deployment: &DeploymentCopy) -> Result<(), RestoreError> {
        self.expect_same_servers().await?;
        let leads = self.store.lead_import(self.name, LEASE, deployment).await?;
        if leads { Ok(()) } else { Err(RestoreError::Led) }
    }

    /// A server that was restarted, or that took another's place, may lack what was put back before.
    async fn expect_same_servers(&self) -> Result<(), RestoreError> {
        let are_same = self.store.server_processes().await? == self.servers;
        if are_same { Ok(()) } else { Err(RestoreError::OtherServer) }
    }
}
