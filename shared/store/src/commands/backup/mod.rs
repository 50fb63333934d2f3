//! Copying rooms to a file and from a file: what is copied, how it is read, and how it is put into another Redis. What
//! the file looks like is the caller's.
//!
//! A room is read in pages while people come and go, so a copy is not of one moment. The order of reading makes it a
//! state that is safe to go on from:
//!
//! 1. Seats come first, each with its record, then the sessions and places that were ended: who left in between is among
//!    those.
//! 2. Then who has entered: everybody whose seat was read is among them, so nobody enters twice.
//! 3. The line comes last, so its counters are not below anything that was read.
//!
//! Who came, entered or left after that is unknown to the copy, as it is to a Redis that went back. So it is put back
//! as a state that may not be the latest: the leader brings the room on from there (`domain/reconciliation`). Only a
//! room that was closed first (`close_room`) is copied exactly, and goes on as if nothing had been.
//!
//! What was done once, and used once, is read before the line, too: of a call that is carried out meanwhile the copy may
//! know what it has done, and not that it was answered, as a Redis that went back. The other way round it would never be done.
//!
//! What was counted by the minute is read until no minute was closed meanwhile: each is in the copy once, open or closed.
//!
//! Not copied: bits of presence (visitors check in again), the door (they ask again), and what lives for seconds.

mod audit;
mod close;
mod deployment;
mod export;
mod found;
mod import;
mod listed;
mod piece;
mod processes;

pub use audit::AuditCopy;
pub use deployment::DeploymentCopy;
pub use import::Import;
pub use piece::{Expiring, Piece};
