//! Which server processes hold the keyspace.

use std::collections::BTreeSet;

use redis::Value;

use crate::{Store, StoreError};

impl Store {
    /// The run ids of the servers that hold a part of the data each: others after a restart or a promotion. Empty where
    /// the user may not ask.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if one of them does not answer.
    pub async fn server_processes(&self) -> Result<BTreeSet<String>, StoreError> {
        let mut processes = BTreeSet::new();
        for (_, answer) in self.link().call_each(redis::cmd("INFO").arg("server")).await {
            match answer.and_then(Value::extract_error).map_err(StoreError::from) {
                Ok(info) => {
                    let info: String =
                        redis::from_redis_value(info).map_err(StoreError::unexpected)?;
                    processes.extend(run_id(&info));
                }
                Err(StoreError::Unavailable(why)) => return Err(StoreError::Unavailable(why)),
                Err(_denied) => return Ok(BTreeSet::new()),
            }
        }
        Ok(processes)
    }
}

fn run_id(info: &str) -> Option<String> {
    info.lines().find_map(|line| line.strip_prefix("run_id:")).map(|id| id.trim().to_owned())
}
