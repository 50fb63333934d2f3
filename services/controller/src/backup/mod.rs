//! The commands `backup` and `restore`: all rooms of a deployment in one file, for another Redis.
//!
//! `format`, `writer`, `reader` and `check` are the file, `copied` is which rooms it holds, `target` is where it is written
//! to, `save` and `restore` are the commands, `stop` is what a signal does to them. What of a room is copied, and why the order matters, is in
//! `store/commands/backup`. What is *not* here: bringing a restored room to its latest state, which the leader does
//! (`loops/reconcile.rs`).

mod check;
mod copied;
mod format;
mod options;
mod reader;
mod restore;
mod save;
mod stop;
mod target;
mod writer;

pub use self::options::{BackupOptions, RestoreOptions};
pub(crate) use self::{restore::restore, save::save};
