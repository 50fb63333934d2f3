//! Revoking: an operator ends a visitor's session, or takes its place in line.

use serde::{Deserialize, Serialize};
use vestibule_domain::{RoomId, SeatEnds};
use vestibule_history::{Call, Ended, EndedSession, What};

use crate::{Ending, Store, StoreError, keys::RoomKeys, scripts};

/// Who is to be revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revocation {
    /// The reset epoch that its number is of.
    pub reset_epoch: u64,
    /// The visitor's queue number.
    pub number: u64,
    /// Where it stands in the line; `None`: it waits for its draw.
    pub position: Option<u64>,
    /// How many draws that takes into account.
    pub draws: usize,
    /// Until when the seat of a session counts as taken.
    pub seat: SeatEnds,
}

/// What was revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Revoked {
    /// A session.
    Session,
    /// A place in line.
    Place,
    /// Nothing, since the place was revoked before.
    Again,
    /// Nothing: there is neither a session nor a place, or it is over.
    None,
    /// Nothing, since a draw has given the place another position.
    Moved,
}

#[derive(Serialize)]
struct Arguments<'a> {
    room: &'a RoomId,
    reset_epoch: u64,
    number: u64,
    position: Option<u64>,
    draws: usize,
    seat: SeatEnds,
}

#[derive(Deserialize)]
struct Reply {
    revoked: Revoked,
    expires_at: u64,
}

impl Store {
    /// Revokes the session or the place of a visitor. Every service is notified: see [`crate::KnownRoom::has_ended`]
    /// and [`crate::KnownRoom::was_revoked`].
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn revoke(
        &self,
        room: &RoomId,
        revocation: Revocation,
    ) -> Result<Revoked, StoreError> {
        let Revocation { reset_epoch, number, position, draws, seat } = revocation;
        let arguments = Arguments { room, reset_epoch, number, position, draws, seat };
        let calls = || {
            let numbers = vec![number];
            // Its network is not known here, and keeps having the place.
            let networks = Vec::new();
            let place = Call::GiveUp { reset_epoch, numbers: numbers.clone(), networks };
            vec![Call::End { reset_epoch, numbers }, place]
        };
        let noting = self.noting(Some(room), calls).await;
        let sealed =
            self.replicated().call_sealed::<Reply>(&scripts::REVOKE, room, &arguments).await;
        let reply = sealed.and_then(|sealed| {
            let Reply { expires_at, revoked } = sealed.answer;
            if expires_at > 0 {
                let is_place = revoked == Revoked::Place;
                let ending = Ending { number, expires_at, is_place };
                sealed.memory.take_endings(reset_epoch, [ending]);
            }
            if revoked == Revoked::Place {
                sealed.memory.take_entered(reset_epoch, position);
            }
            sealed.memory.confirm(sealed.era)?;
            Ok(revoked)
        });
        if let Some(noting) = noting {
            noting.settle(&reply, |_| None, |revoked| vec![ended(reset_epoch, number, *revoked)]);
        }
        reply
    }

    /// The numbers of places that were revoked in this reset epoch: the newest ones.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub(crate) async fn revoked_places(
        &self,
        room: &RoomId,
        reset_epoch: u64,
    ) -> Result<Vec<u64>, StoreError> {
        let key = RoomKeys(room).revoked(reset_epoch);
        self.query(redis::cmd("ZRANGE").arg(key).arg(0).arg(-1)).await
    }
}

fn ended(reset_epoch: u64, number: u64, revoked: Revoked) -> What {
    let ended = matches!(revoked, Revoked::Session | Revoked::Place | Revoked::Again);
    What::Ended(Ended { reset_epoch, sessions: vec![EndedSession { number, ended }] })
}
