//! How many files and connections the process may have open.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Raises what the process is allowed to what it may allow itself, and returns it. Shells and service managers
/// give 1,024 by default for the sake of old programs, and leave it to others to take more.
pub(crate) fn available() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    let allowed = limit.current;
    limit.current = limit.maximum;
    // Where it is refused, the old one holds.
    let now = if setrlimit(Resource::Nofile, limit).is_ok() { limit.maximum } else { allowed };
    now.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX))
}
