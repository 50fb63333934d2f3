//! Renews the sessions of visitors inside who made a request.

use vestibule_domain::RoomId;
use vestibule_history::Call;

use super::{CallerBindings, TokenRecord};
use crate::{
    Store, StoreError,
    recording::answers,
    scripts::{
        self,
        order::touch::{Arguments, Item, Reply, ReplyItem},
    },
    store::Sealed,
};

/// A visitor inside who made a request, with the session in its ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// The reset epoch that its request id was sealed for.
    pub reset_epoch: u64,
    /// Its queue number.
    pub number: u64,
    /// Where the number stands in the line.
    pub position: u64,
    /// The room's generation when the session began.
    pub generation: u32,
    /// Unix seconds.
    pub issued_at: u64,
    /// Unix seconds.
    pub expires_at: u64,
    /// How long the session lasts at most, in seconds.
    pub max_session_seconds: Option<u64>,
    /// Who the caller is.
    pub caller: CallerBindings,
}

/// The reply to one touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// Redis's time, ms.
    pub now_ms: u64,
    /// The room's generation.
    pub generation: u32,
    /// The record of the session's current token; `None`: the session has ended, or is not the caller's.
    pub session: Option<TokenRecord>,
    /// Whether the session is bound to somebody else.
    pub is_stranger: bool,
}

impl Store {
    /// Renews a batch of sessions. `key_id` and `issuer` are for tokens that are due for renewal.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn touch(
        &self,
        room: &RoomId,
        key_id: &str,
        issuer: &str,
        touches: &[Touch],
    ) -> Result<Vec<Touched>, StoreError> {
        let arguments = Arguments { key_id, issuer };
        let numbers = || touches.iter().map(|touch| touch.number).collect();
        let noting = self.noting(Some(room), || vec![Call::Touch { numbers: numbers() }]).await;
        let items = touches.iter().map(Item::from);
        let reply: Result<Sealed<Reply>, _> =
            self.call_in_order(&scripts::TOUCH, room, &arguments, items).await;
        let replies = reply.and_then(|reply| read(touches, reply));
        if let Some(noting) = noting {
            let at = |replies: &Vec<Touched>| replies.first().map(|one| one.now_ms);
            noting.settle(&replies, at, |replies| answers::touched(touches, replies));
        }
        replies
    }
}

/// The replies, after the store has taken in what it may have to tell one day.
fn read(touches: &[Touch], sealed: Sealed<Reply>) -> Result<Vec<Touched>, StoreError> {
    let Sealed { seal, answer, memory, era } = sealed;
    let replies = answer.touched()?;
    let seat = |(touch, reply): (&Touch, &Touched)| {
        let record = reply.session.as_ref()?;
        Some(record.seat(touch.number, None, &seal))
    };
    let entered =
        |(touch, reply): (&Touch, &Touched)| reply.session.is_some().then_some(touch.position);
    let positions = touches.iter().zip(&replies).filter_map(entered);
    memory.take_entered(seal.stamp.reset_epoch, positions);
    memory.take_seats(seal.stamp.reset_epoch, touches.iter().zip(&replies).filter_map(seat));
    memory.confirm(era)?;
    Ok(replies)
}

// === impl Reply ===

impl Reply {
    fn touched(self) -> Result<Vec<Touched>, StoreError> {
        let Self { now_ms, generation, sessions } = self;
        let one = |item: ReplyItem| {
            let is_stranger = item.is_stranger;
            Ok(Touched { now_ms, generation, session: item.session()?, is_stranger })
        };
        sessions.into_iter().map(one).collect()
    }
}

// === impl Item ===

impl<'a> From<&'a Touch> for Item<'a> {
    fn from(touch: &'a Touch) -> Self {
        Self {
            reset_epoch: touch.reset_epoch,
            number: touch.number,
            position: touch.position,
            generation: touch.generation,
            issued_at: touch.issued_at,
            expires_at: touch.expires_at,
            max_session_seconds: touch.max_session_seconds,
            caller: touch.caller.as_str(),
        }
    }
}

// === impl ReplyItem ===

impl ReplyItem {
    fn session(self) -> Result<Option<TokenRecord>, StoreError> {
        let Self { live, issued_at, expires_at, key_id, issuer, note, .. } = self;
        let record =
            || TokenRecord::from_reply(issued_at, expires_at, key_id, issuer, note.as_deref());
        live.then(record).transpose()
    }
}
