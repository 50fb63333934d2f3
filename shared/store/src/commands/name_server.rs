//! Whether several servers answer behind one address.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{Store, StoreError, keys::probe, scripts};

/// So many keys are nearly never all of one shard, where there are several.
const PROBES: usize = 16;

#[derive(Serialize)]
struct Nothing {}

#[derive(Deserialize)]
struct Reply {
    server: String,
}

impl Store {
    /// Whether keys are on several servers behind one address, as some hosted ones are, which call themselves one. That
    /// another server has taken over meanwhile is no such thing.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub(crate) async fn has_several_servers(&self) -> Result<bool, StoreError> {
        let first = self.name_server(0).await?;
        let mut all = BTreeSet::from([first.clone()]);
        for number in 1..PROBES {
            all.insert(self.name_server(number).await?);
        }
        Ok(all.len() > 1 && self.name_server(0).await? == first)
    }

    async fn name_server(&self, number: usize) -> Result<String, StoreError> {
        let reply: Reply =
            self.call_on(&scripts::NAME_SERVER, &[&probe(number)], &Nothing {}).await?;
        Ok(reply.server)
    }
}
