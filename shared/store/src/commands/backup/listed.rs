//! Copying what a room has under names that only its lists know (`scripts/lib/listed.lua`): what calls were answered that
//! are carried out once, solutions and passes that were used, and the seats of networks.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use vestibule_domain::RoomId;

use super::{Expiring, Piece};
use crate::{
    Store, StoreError,
    keys::{Part, RoomKeys},
    scripts,
};

/// So many names are asked for with one call.
const AT_ONCE: usize = 100;
/// So many texts are written at once.
const WRITTEN_AT_ONCE: usize = 32;
/// Marks that were used, on the list of calls.
const SPENT: &str = "spent:";

/// Its name on the list, for how long it lasts, ms, and what it holds.
type Found = (String, u64, Vec<String>);

#[derive(Serialize)]
struct Arguments<'a> {
    of: &'a str,
    names: &'a [String],
}

impl Store {
    /// What calls were answered, and which marks were used.
    pub(super) async fn export_calls(
        &self,
        room: &RoomId,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), StoreError> {
        let names = self.export_list(room, Part::Calls, pieces).await?;
        for some in names.chunks(AT_ONCE) {
            let mut texts = BTreeMap::new();
            for (name, left_ms, mut holds) in self.found(room, Part::Calls, some).await? {
                if name.starts_with(SPENT) {
                    self.export_marks(room, &name, left_ms, pieces).await?;
                } else if let Some(text) = holds.pop() {
                    texts.insert(name, Expiring { text, left_ms });
                }
            }
            pieces.push(Piece::Texts { key: Part::Calls.name().to_owned(), texts });
        }
        Ok(())
    }

    /// Marks that were used and expire in the same minute.
    async fn export_marks(
        &self,
        room: &RoomId,
        name: &str,
        left_ms: u64,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), StoreError> {
        let key = format!("{}:{name}", Part::Calls.name());
        let pages = self.export_pages::<BTreeSet<String>>(room, "SSCAN", &key).await?;
        let pages = pages.into_iter().filter(|page| !page.is_empty());
        pieces.extend(pages.map(|members| Piece::Set { key: key.clone(), members, left_ms }));
        Ok(())
    }

    /// The seats of networks in this reset epoch.
    pub(super) async fn export_network_seats(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), StoreError> {
        let mut names = self.export_list(room, Part::Networks, pieces).await?;
        names.retain(|name| name.starts_with(&format!("{reset_epoch}:")));
        for some in names.chunks(AT_ONCE) {
            for (name, _, holds) in self.found(room, Part::Networks, some).await? {
                let key = format!("{}:{name}", Part::Networks.name());
                let pair = |pair: &[String]| (pair[0].clone(), pair[1].clone());
                let members = holds.chunks_exact(2).map(pair).collect();
                pieces.push(Piece::Sorted { key, members });
            }
        }
        Ok(())
    }

    /// A list itself; returns the names that are on it.
    async fn export_list(
        &self,
        room: &RoomId,
        list: Part,
        pieces: &mut Vec<Piece>,
    ) -> Result<Vec<String>, StoreError> {
        let mut pages = Vec::new();
        self.export_sorted(room, list.name(), &mut pages).await?;
        let names = |page: &Piece| match page {
            Piece::Sorted { members, .. } => members.keys().cloned().collect(),
            _ => Vec::new(),
        };
        let names = pages.iter().flat_map(names).collect();
        pieces.append(&mut pages);
        Ok(names)
    }

    async fn found(
        &self,
        room: &RoomId,
        list: Part,
        names: &[String],
    ) -> Result<Vec<Found>, StoreError> {
        let arguments = Arguments { of: list.name(), names };
        self.call_for(&scripts::EXPORT_LISTED, room, &[], &arguments).await
    }

    /// Puts texts back that have a key each.
    pub(super) async fn import_texts(
        &self,
        room: &RoomId,
        key: &str,
        texts: BTreeMap<String, Expiring>,
    ) -> Result<(), StoreError> {
        let put = async |(name, Expiring { text, left_ms }): (String, Expiring)| {
            let mut set = redis::cmd("SET");
            set.arg(RoomKeys(room).named(&format!("{key}:{name}"))).arg(text);
            self.query::<()>(set.arg("PX").arg(left_ms)).await
        };
        stream::iter(texts).map(Ok).try_for_each_concurrent(WRITTEN_AT_ONCE, put).await
    }
}
