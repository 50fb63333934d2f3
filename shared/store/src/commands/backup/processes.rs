//! Which server processes hold the keyspace.

use std::collections::BTreeSet;

use crate::{Store, StoreError, commands::server_info::Told};

impl Store {
    /// The run ids of the servers that hold a part of the data each: others after a restart or a promotion. Empty where
    /// the user may not ask.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if one of them does not answer.
    pub async fn server_processes(&self) -> Result<BTreeSet<String>, StoreError> {
        let mut processes = BTreeSet::new();
        for (_, told) in self.info_of_each(Some("server")).await {
            match told? {
                Told::Info(info) => processes.extend(run_id(&info)),
                Told::Refused(_) => return Ok(BTreeSet::new()),
            }
        }
        Ok(processes)
    }
}

fn run_id(info: &str) -> Option<String> {
    info.lines().find_map(|line| line.strip_prefix("run_id:")).map(|id| id.trim().to_owned())
}
