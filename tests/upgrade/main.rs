//! Instances of the previous release and of this one side by side over one keyspace, as in a roll-out, and back again.
//!
//! The previous release is what `scripts/previous-release.sh` has built: the commit before, unless another was
//! named. It knows nothing of this one, so whatever breaks here has to be mended in this one. Without it these
//! tests are left out, and say so.
//!
//! What is judged: the histories of all instances, by every promise of `vestibule-history`; what visitors saw
//! (`crowd.rs`); what operators find.

mod crowd;
mod operators;
mod sale;
mod stage;
mod tickets;

use std::time::Duration;

/// How long anything may take on a machine that is busy with other tests.
const SOON: Duration = Duration::from_secs(30);
