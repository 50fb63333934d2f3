//! Made-up input for the code that reads what strangers send, and what must hold of every answer: not only that nothing
//! panics, but that what was written is read as the same, that only what was sealed opens, that no spelling of a covered
//! path is free, that nothing of a visitor becomes markup.
//!
//! A target is a function of bytes that panics when something does not hold (`targets/`, one file each). Its corpus
//! (`corpus/{target}/`) is replayed by the tests, each entry as it is and with a few hundred changes; the program goes on
//! for as long as it is told to, and keeps what broke. It does not look which code was reached: a corpus that is worth
//! changing, and changes that know the words of the formats (`mutate`), come further than blind ones.

pub mod corpus;
pub mod mutate;
mod servers;
mod targets;

pub use targets::{TARGETS, Target};
