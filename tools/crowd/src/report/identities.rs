//! Whether everybody was somebody: no number and no identity held by two.

use serde::Serialize;

use crate::record::VisitorRecord;

/// Whether identities were unique.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Identities {
    /// Visitors who hold a queue number that another one holds too.
    pub(crate) duplicate_queue_numbers: usize,
    /// Visitors who hold a request id that another one holds too.
    pub(crate) duplicate_request_ids: usize,
}

// === impl Identities ===

impl Identities {
    /// Looks for what two visitors hold.
    pub(super) fn new(visitors: &[VisitorRecord]) -> Self {
        let numbers = visitors.iter().filter_map(|v| v.queue_number.map(u128::from)).collect();
        let ids = visitors.iter().filter_map(|v| v.request_id).collect();
        Self {
            duplicate_queue_numbers: duplicates(numbers),
            duplicate_request_ids: duplicates(ids),
        }
    }
}

fn duplicates(mut values: Vec<u128>) -> usize {
    values.sort_unstable();
    values.chunk_by(|a, b| a == b).map(<[_]>::len).filter(|&n| n > 1).sum()
}
