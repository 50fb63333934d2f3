//! Asking the services what they have seen of a room, and their answers.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use vestibule_domain::{
    RoomId, RoomSnapshot, draw::DrawRecord, reconciliation::Testimony, schedule::RoomConfig,
};
use vestibule_history::What;

use super::{
    inlet::InletAlarm,
    places::{KEPT_SECONDS, PlacesPage},
    put_config::Stored as StoredBeside,
};
use crate::{
    Store, StoreError, document,
    keys::{Part, RoomKeys},
    memory::{AnsweredCall, Ending, Seat},
    scripts,
};

/// An account with more seats or endings than these names pages that have them all: what a script reads takes Redis's
/// time.
const FEW: usize = 250;
/// So many seats, and so many endings, are on a page.
const PAGE: usize = 5_000;
/// Before the name of a service, the field of what it has told.
const BY: &str = "by:";

/// What a service tells of a room.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// The round of questions that it answers.
    pub round: String,
    /// Whether these are its last words: it stops, and will never know more.
    #[serde(default)]
    pub is_last: bool,
    /// What it has seen; `None`: it has never seen the room.
    pub testimony: Option<Testimony>,
    /// The room's config, if it has read it,
    #[serde(default)]
    pub config: Option<RoomConfig>,
    /// and the published records of its draws, by draw id.
    #[serde(default)]
    pub draws: BTreeMap<String, DrawRecord>,
    /// The reset epoch up to which it knows that the room of this name was deleted; 0: it knows of no deletion.
    #[serde(default)]
    pub buried: u64,
    /// Of who tells late: which numbers it knew to be left out, the first and the last of each part, before it heard of
    /// what the room was brought to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<(u64, u64)>,
    /// The reset epoch of its seats and endings.
    #[serde(default)]
    pub seats_epoch: u64,
    /// Seats that it has seen taken.
    #[serde(default)]
    pub seats: Vec<Seat>,
    /// Sessions that it has heard to have ended.
    #[serde(default)]
    pub endings: Vec<Ending>,
    /// Operators' calls that it knows to have been answered.
    #[serde(default)]
    pub calls: Vec<AnsweredCall>,
    /// How the alarm of the room's inlet stands, as far as it knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alarm: Option<InletAlarm>,
    /// Services that had stopped before it last heard of the room: they have seen nothing that it has not.
    #[serde(default)]
    pub gone: BTreeSet<String>,
    /// The others that it knows of: they may have been there since.
    #[serde(default)]
    pub there: BTreeSet<String>,
    /// The reset epoch of its places.
    #[serde(default)]
    pub places_epoch: u64,
    /// Where it tells which places are over: see [`Store::restore_places`].
    #[serde(default)]
    pub places: Vec<PlacesPage>,
    /// Where seats and endings are told; `None`: here. See [`Store::whole`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Rest>,
}

/// The pages of an account that has none of its seats and endings itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// Names the telling.
    name: String,
    pages: usize,
}

/// A page of seats and endings.
#[derive(Serialize, Deserialize)]
struct Page<Seats, Endings> {
    seats: Seats,
    endings: Endings,
}

/// What Redis holds of a room about which the services were asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// Its state; `None`: there is none.
    pub stored: Option<RoomSnapshot>,
    /// The `run_id` of the server process that it is of; empty: that is not known.
    pub server: String,
    /// Whether a part of it was lost.
    pub is_partial: bool,
    /// It was restored from a backup: so many numbers may have been handed out since that was made.
    pub unseen: Option<u64>,
    /// The reset epoch that it began with; `None`: that was lost.
    pub created_epoch: Option<u64>,
    /// Its config.
    pub config: Option<RoomConfig>,
}

#[derive(Serialize)]
struct CallArguments<'a> {
    room: &'a RoomId,
    leader_epoch: u64,
    round: &'a str,
}

#[derive(Deserialize)]
struct CallReply {
    stored: Option<String>,
    server: String,
    is_partial: bool,
    unseen: Option<u64>,
    created_epoch: Option<u64>,
    #[serde(flatten)]
    beside: StoredBeside,
}

#[derive(Serialize)]
struct TestifyArguments<'a> {
    room: &'a RoomId,
    instance: &'a str,
    account: String,
    last: Option<&'a str>,
}

#[derive(Deserialize)]
struct TestifyReply {}

impl Store {
    /// Asks all services what they have seen of `room`, and lets nobody but the leader change it until that
    /// is done. Refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::Fenced`]; otherwise see [`StoreError`].
    pub async fn call_witnesses(
        &self,
        room: &RoomId,
        epoch: u64,
        round: &str,
    ) -> Result<Called, StoreError> {
        let arguments = CallArguments { room, leader_epoch: epoch, round };
        let (reply, config): (String, String) =
            self.call_for(&scripts::CALL_WITNESSES, room, &[], &arguments).await?;
        let CallReply { stored, server, is_partial, unseen, created_epoch, beside } =
            document::decode(&reply)?;
        let stored = stored.map(|stored| document::decode(&stored)).transpose()?;
        let config = beside.config(&config)?;
        Ok(Called { stored, server, is_partial, unseen, created_epoch, config })
    }

    /// The round of questions about `room` that is under way.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub(crate) async fn round(&self, room: &RoomId) -> Result<Option<String>, StoreError> {
        let key = RoomKeys(room).key(Part::Testimony);
        self.query(redis::cmd("HGET").arg(key).arg("round")).await
    }

    /// Tells what `instance` has seen of `room`. The account itself comes last: who stops before has told nothing.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn testify(
        &self,
        room: &RoomId,
        instance: &str,
        account: &Account,
    ) -> Result<(), StoreError> {
        let rest = self.tell_rest(room, &account.seats, &account.endings).await?;
        let is_told = rest.is_some();
        let first = Account {
            round: account.round.clone(),
            is_last: account.is_last,
            testimony: account.testimony.clone(),
            config: account.config.clone(),
            draws: account.draws.clone(),
            buried: account.buried,
            left_out: account.left_out.clone(),
            seats_epoch: account.seats_epoch,
            seats: if is_told { Vec::new() } else { account.seats.clone() },
            endings: if is_told { Vec::new() } else { account.endings.clone() },
            calls: account.calls.clone(),
            alarm: account.alarm,
            gone: account.gone.clone(),
            there: account.there.clone(),
            places_epoch: account.places_epoch,
            places: account.places.clone(),
            rest,
        };
        let last = account.is_last.then_some(&*account.round);
        let arguments = TestifyArguments { room, instance, account: document::text(&first)?, last };
        let noting = self.noting(Some(room), Vec::new).await;
        let reply: Result<TestifyReply, _> = self.call(&scripts::TESTIFY, room, &arguments).await;
        if let Some(noting) = noting {
            noting.answer(&reply, |TestifyReply {}| What::Testified);
        }
        reply.map(drop)
    }

    /// Tells the pages, if seats or endings are many.
    async fn tell_rest(
        &self,
        room: &RoomId,
        seats: &[Seat],
        endings: &[Ending],
    ) -> Result<Option<Rest>, StoreError> {
        let most = seats.len().max(endings.len());
        if most <= FEW {
            return Ok(None);
        }
        let pages = most.div_ceil(PAGE);
        let name = self.nonce();
        for nth in 0..pages {
            let page = Page { seats: page(seats, nth), endings: page(endings, nth) };
            let mut set = redis::cmd("SET");
            set.arg(RoomKeys(room).testimony_page(&name, nth)).arg(document::text(&page)?);
            self.query::<()>(set.arg("EX").arg(KEPT_SECONDS)).await?;
        }
        Ok(Some(Rest { name, pages }))
    }

    /// `account` with all of its seats and endings; `None`: some of them were lost, or of its places.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn whole(
        &self,
        room: &RoomId,
        mut account: Account,
    ) -> Result<Option<Account>, StoreError> {
        if !self.has_pages(room, &account.places).await? {
            return Ok(None);
        }
        let Some(Rest { name, pages }) = account.rest.take() else { return Ok(Some(account)) };
        for nth in 0..pages {
            let key = RoomKeys(room).testimony_page(&name, nth);
            let text: Option<String> = self.query(redis::cmd("GET").arg(key)).await?;
            let Some(text) = text else { return Ok(None) };
            let page: Page<Vec<Seat>, Vec<Ending>> = document::decode(&text)?;
            account.seats.extend(page.seats);
            account.endings.extend(page.endings);
        }
        Ok(Some(account))
    }

    /// What the services have told of `room`, by their names; long accounts without seats and endings, see [`Self::whole`]. What
    /// this release cannot read is left out.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn accounts(&self, room: &RoomId) -> Result<BTreeMap<String, Account>, StoreError> {
        let key = RoomKeys(room).key(Part::Testimony);
        let all: Vec<(String, String)> = self.query(redis::cmd("HGETALL").arg(key)).await?;
        let read = |(field, text): (String, String)| {
            Some((field.strip_prefix(BY)?.to_owned(), document::decode(&text).ok()?))
        };
        Ok(all.into_iter().filter_map(read).collect())
    }
}

/// The page of this number, from 0; beyond the last one: nothing.
fn page<T>(all: &[T], nth: usize) -> &[T] {
    all.chunks(PAGE).nth(nth).unwrap_or_default()
}
