//! The history that a service writes when it is asked to: one line for each event, on a thread of its
//! own, for `vestibule-crowd check-history`. What the events are is `vestibule-history`'s.
//!
//! Writing never holds the service up, and never stops it. When the disk is full, or cannot keep up, the
//! history ends with a line that says so, and the log has one.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{SystemTime, UNIX_EPOCH},
};

use vestibule_history::{Event, FORMAT, Recorder, What, lines};

/// Events that may wait to be written.
const WAITING: usize = 65_536;

/// A history that is being written. [`Self::close`] ends it in order.
#[derive(Debug)]
pub struct HistoryFile {
    name: String,
    writer: Arc<Queue>,
    thread: JoinHandle<()>,
}

/// Whose time a history is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum HistoryClock {
    /// Redis's, as far as the answers to calls tell it.
    Redis,
    /// This machine's.
    Machine,
}

/// A history cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("the history {} cannot be written", path.display())]
pub struct HistoryError {
    path: PathBuf,
    source: io::Error,
}

/// What waits to be written.
#[derive(Debug)]
struct Queue {
    events: SyncSender<Message>,
    clock: HistoryClock,
    /// Whether an event was left out. None is taken after that.
    is_lost: AtomicBool,
}

#[derive(Debug)]
enum Message {
    Event(Box<Event>),
    Close,
}

/// The file, and the last event in it.
#[derive(Debug)]
struct Writer {
    file: BufWriter<File>,
    /// How long the file is, without what is still in memory.
    length: u64,
    last: Option<Event>,
}

// === impl HistoryFile ===

impl HistoryFile {
    /// Begins to write as `name`, which must be unique, at the end of the file at `path`; in a folder, into a
    /// file of that name, in the time of `clock`. A path that ends with `/` is a folder, and made if there is none.
    ///
    /// # Errors
    /// If the file cannot be opened, or the folder made.
    pub fn open(path: &Path, name: String, clock: HistoryClock) -> Result<Self, HistoryError> {
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            let made = std::fs::create_dir_all(path);
            made.map_err(|source| HistoryError { path: path.into(), source })?;
        }
        let path = if path.is_dir() { path.join(format!("{name}.jsonl")) } else { path.into() };
        let opened = Writer::open(&path);
        let writer = opened.map_err(|source| HistoryError { path, source })?;
        let (events, waiting) = sync_channel(WAITING);
        let queue = Arc::new(Queue { events, clock, is_lost: AtomicBool::new(false) });
        let of_writer = Arc::clone(&queue);
        let thread = thread::spawn(move || writer.run(&waiting, &of_writer));
        Ok(Self { name, writer: queue, thread })
    }

    /// The name that is written as.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where events go.
    #[must_use]
    pub fn recorder(&self) -> Arc<dyn Recorder> {
        Arc::clone(&self.writer) as Arc<dyn Recorder>
    }

    /// Writes what is waiting, and ends the history in order.
    pub fn close(self) {
        // Both fail only if the writer has given up.
        let _ = self.writer.events.send(Message::Close);
        let _ = self.thread.join();
    }
}

// === impl Queue ===

impl Recorder for Queue {
    fn record(&self, event: Event) {
        if self.is_lost.load(Ordering::Relaxed) {
            return;
        }
        if let Err(TrySendError::Full(_)) = self.events.try_send(Message::Event(Box::new(event))) {
            self.is_lost.store(true, Ordering::Relaxed);
        }
    }

    fn true_ms(&self) -> Option<u64> {
        (self.clock == HistoryClock::Machine).then(machine_ms)
    }
}

// === impl Writer ===

impl Writer {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file =
            OpenOptions::new().create(true).read(true).append(true).truncate(false).open(path)?;
        let length = whole_lines(&mut file)?;
        file.set_len(length)?;
        Ok(Self { file: BufWriter::new(file), length, last: None })
    }

    /// Writes until the history is closed, or cannot go on.
    fn run(mut self, waiting: &Receiver<Message>, queue: &Queue) {
        let why = match self.write_all(waiting, queue) {
            Ok(true) => return,
            Ok(false) => "events come faster than they are written".to_owned(),
            Err(error) => error.to_string(),
        };
        queue.is_lost.store(true, Ordering::Relaxed);
        tracing::error!(error = why, "the history is not written on");
        // There may be no room for this either.
        let _ = self.write_lost();
    }

    /// Returns whether the history was closed; `false`: events were left out.
    fn write_all(&mut self, waiting: &Receiver<Message>, queue: &Queue) -> io::Result<bool> {
        while let Ok(message) = waiting.recv() {
            let mut next = Some(message);
            while let Some(message) = next {
                if !self.write(message)? {
                    self.flush()?;
                    return Ok(true);
                }
                next = waiting.try_recv().ok();
            }
            // Whenever there is nothing to do, so that a crash loses little.
            self.flush()?;
            if queue.is_lost.load(Ordering::Relaxed) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether more may come.
    fn write(&mut self, message: Message) -> io::Result<bool> {
        let Message::Event(event) = message else {
            self.write_end(What::Closed)?;
            return Ok(false);
        };
        if self.last.is_none() {
            let opened = What::Opened { format: FORMAT };
            let (at_ms, began_ms) = (event.began_ms, event.began_ms);
            let opened =
                Event { at_ms, began_ms, room: None, what: opened, ..Event::clone(&event) };
            lines::write(&opened, &mut self.file)?;
        }
        lines::write(&event, &mut self.file)?;
        self.last = Some(*event);
        Ok(true)
    }

    /// Writes one more event at the time of the last one, if there is one.
    fn write_end(&mut self, what: What) -> io::Result<()> {
        let Some(last) = self.last.take() else { return Ok(()) };
        let end = Event { began_ms: last.at_ms, room: None, what, ..last };
        lines::write(&end, &mut self.file)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.length = self.file.get_ref().metadata()?.len();
        Ok(())
    }

    /// Cuts off half a line, and ends the history with the line that says that it does not go on.
    fn write_lost(mut self) -> io::Result<()> {
        let Some(last) = self.last.take() else { return Ok(()) };
        let end = Event { began_ms: last.at_ms, room: None, what: What::Lost, ..last };
        let (mut file, _) = self.file.into_parts();
        file.set_len(self.length)?;
        let mut line = Vec::new();
        lines::write(&end, &mut line)?;
        file.write_all(&line)
    }
}

/// This machine's time, unix ms.
#[expect(clippy::disallowed_methods, reason = "no decision rests on it: it is written down")]
fn machine_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The length of `file` without half a line at its end, which somebody who was killed has left.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    const LONGEST: u64 = 1 << 20;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(LONGEST);
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    let last = end.iter().rposition(|byte| *byte == b'\n');
    Ok(last.map_or(from, |last| from + last as u64 + 1))
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn event(at_ms: u64) -> Event {
        let (by, room) = ("a".into(), Some("sale".parse().unwrap()));
        Event { at_ms, began_ms: at_ms, by, room, what: What::RoomMissing }
    }

    fn read(path: &Path) -> Vec<What> {
        let file = BufReader::new(File::open(path).unwrap());
        let events = lines::merge(vec![lines::Reader::new("f", file)]);
        events.map(|event| event.unwrap().what).collect()
    }

    #[test]
    fn a_history_is_written_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let history =
            HistoryFile::open(folder.path(), "admission-1".into(), HistoryClock::Redis).unwrap();
        (0..5_000).for_each(|at_ms| history.recorder().record(event(at_ms)));
        history.close();
        let found = read(&folder.path().join("admission-1.jsonl"));
        assert_eq!((found.len(), found.first()), (5_002, Some(&What::Opened { format: FORMAT })));
        assert_eq!(found.last(), Some(&What::Closed));
    }

    #[test]
    fn a_folder_that_is_named_with_a_slash_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/history/");
        let name = || "admission-1".to_owned();
        assert!(
            HistoryFile::open(&folder.path().join("no/history"), name(), HistoryClock::Redis)
                .is_err()
        );
        let history = HistoryFile::open(&path, name(), HistoryClock::Redis).unwrap();
        history.recorder().record(event(1));
        history.close();
        assert_eq!(read(&path.join("admission-1.jsonl")).last(), Some(&What::Closed));
    }

    #[test]
    fn whoever_starts_again_writes_on_behind_the_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        std::fs::write(&path, "{\"at").unwrap();
        for at_ms in [1, 2] {
            let history = HistoryFile::open(&path, "a".into(), HistoryClock::Redis).unwrap();
            history.recorder().record(event(at_ms));
            history.close();
        }
        assert_eq!(read(&path).len(), 6);
    }

    #[test]
    fn a_full_disk_ends_the_history_and_nothing_else() {
        let full = Path::new("/dev/full");
        if full.exists() {
            let file = OpenOptions::new().append(true).open(full).unwrap();
            let writer = Writer { file: BufWriter::new(file), length: 0, last: None };
            let (events, waiting) = sync_channel(9);
            let queue =
                Queue { events, clock: HistoryClock::Redis, is_lost: AtomicBool::new(false) };
            queue.record(event(1));
            writer.run(&waiting, &queue);
            assert!(queue.is_lost.load(Ordering::Relaxed));
            queue.record(event(2));
        }
    }

    #[test]
    fn who_cannot_keep_up_says_so_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        let writer = Writer::open(&path).unwrap();
        let (events, waiting) = sync_channel(2);
        let queue = Queue { events, clock: HistoryClock::Redis, is_lost: AtomicBool::new(false) };
        (0..9).for_each(|at_ms| queue.record(event(at_ms)));
        writer.run(&waiting, &queue);
        let found = read(&path);
        assert_eq!((found.len(), found.last()), (4, Some(&What::Lost)));
    }

    #[test]
    fn only_by_the_machines_clock_the_time_is_known_without_redis() {
        let (events, _waiting) = sync_channel(1);
        let by = |clock| Queue { events: events.clone(), clock, is_lost: AtomicBool::new(false) };
        assert_eq!(by(HistoryClock::Redis).true_ms(), None);
        let (before, told) = (machine_ms(), by(HistoryClock::Machine).true_ms());
        assert!(told >= Some(before) && told <= Some(machine_ms()), "{told:?}");
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_named() {
        let error =
            HistoryFile::open(Path::new("/nowhere/at/all"), "a".into(), HistoryClock::Redis)
                .unwrap_err();
        assert_eq!(error.to_string(), "the history /nowhere/at/all cannot be written");
    }
}
