//! Tickets: the state that a browser keeps in its cookie between two check-ins, sealed so that only
//! the services can read or change it. Sealing proves that a ticket is genuine, but not that it is
//! the newest one: an old ticket still opens, so it must never give its holder an advantage.
//!
//! Always 81 bytes, 108 characters of base64url:
//!
//! | version | nonce | sealed | tag |
//! |---|---|---|---|
//! | 1: the number 4, authenticated | 12 | 43: state, place, when last heard, accrued hazard, seat; big-endian | 16 |
//!
//! Someone inside has no use for the interval and the accrued hazard any more: where its session is bound to something,
//! that is written in their place (see `body.rs`). So a release that knows of no bindings carries them along.
//!
//! The nonce is random. If two tickets of one key shared a nonce, a reader of both could forge
//! tickets of that room. After n tickets this happens with probability n²/2^97: for a room that
//! seals 50,000 tickets a second for a week (2^35) it is 2^-27, and every reset starts with a new
//! key. The generator is the thread's CSPRNG, because the system's costs more than the sealing
//! itself.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::RngCore;
use thiserror::Error;
use vestibule_domain::{Binding, Formats, RoomId, Waiter};

use self::body::{BODY_LEN, Reader, Writer, decode, encode};
use crate::{DeploymentSecret, secret::Derived};

mod body;

const VERSION: u8 = Formats::KNOWN.ticket;
const VERSION_LEN: usize = 1;
const TAG_LEN: usize = 16;
const SEALED_LEN: usize = VERSION_LEN + NONCE_LEN + BODY_LEN + TAG_LEN;
const TEXT_LEN: usize = SEALED_LEN / 3 * 4;
const _: () = assert!(SEALED_LEN.is_multiple_of(3) && TEXT_LEN <= 120);

/// The content of a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    /// The state of its wait.
    pub waiter: Waiter,
    /// Whether the visitor waits, has a session, or needs a new place.
    pub state: TicketState,
}

/// The state of the holder of a ticket, as far as the ticket knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TicketState {
    /// In line.
    Waiting,
    /// Admitted, with this session.
    Held(Seat),
    /// Its place or its session is over: it needs a new place.
    Ended(Ending),
    /// In the endless line: it has no place and is not to know. Nothing but its own answers may be made of the number
    /// in the ticket, which is somebody else's. A release that does not know it takes its holder for a newcomer.
    Endless(Endless),
}

/// A place in the endless line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endless {
    /// What its figures and its request id are made of.
    pub seed: u64,
    /// Whether its holder has left, or was away for too long.
    pub ended: Option<Ending>,
}

/// How a place or a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The visitor left, or its session was ended by the operator or the site.
    Closed,
    /// It expired.
    Expired,
}

/// The session of an admitted visitor, as its ticket remembers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seat {
    /// When its last token was issued, unix seconds.
    pub issued_at: u64,
    /// When it ends, unless it is renewed, unix seconds.
    pub expires_at: u64,
    /// The generation of the room's state that granted it, or [`Self::UNCOUNTED`].
    pub generation: u32,
    /// What it is bound to.
    pub binding: Option<Binding>,
}

/// Seals and opens the tickets of one room between two resets.
pub struct TicketSealer(Derived<LessSafeKey>);

/// The parts of a ticket that was read and not opened yet.
struct Sealed {
    nonce: [u8; NONCE_LEN],
    body: [u8; BODY_LEN],
    tag: [u8; TAG_LEN],
}

/// Why a ticket was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TicketError {
    /// Not a ticket, or of a version that this release does not know.
    #[error("not a ticket")]
    Malformed,
    /// Well-formed, but of another room, from before a reset, or forged. These cases cannot be
    /// distinguished.
    #[error("not a ticket of this room")]
    Foreign,
}

// === impl Ticket ===

impl Ticket {
    /// The session, if the holder has one.
    #[must_use]
    pub fn seat(&self) -> Option<Seat> {
        match self.state {
            TicketState::Held(seat) => Some(seat),
            TicketState::Waiting | TicketState::Ended(_) | TicketState::Endless(_) => None,
        }
    }

    /// What it is once its room is suspended no more, if its holder was let in uncounted: at `now_ms` it waits where it
    /// stood, and was there for as long as it was inside.
    #[must_use]
    pub fn back_in_line(&self, now_ms: u64) -> Option<Self> {
        let seat = self.seat().filter(|seat| !seat.is_counted())?;
        let inside_until = now_ms.min(seat.expires_at * 1000);
        let heard_at = self.waiter.heard_at.max(inside_until);
        Some(Self { waiter: Waiter { heard_at, ..self.waiter }, state: TicketState::Waiting })
    }

    /// The place in the endless line, if it is of one.
    #[must_use]
    pub fn endless(&self) -> Option<Endless> {
        match self.state {
            TicketState::Endless(endless) => Some(endless),
            TicketState::Waiting | TicketState::Held(_) | TicketState::Ended(_) => None,
        }
    }
}

// === impl Seat ===

impl Seat {
    /// Written as the generation where no seat was taken: the room was suspended. A release that does not know it tells
    /// its holder afterwards that the session was ended.
    pub const UNCOUNTED: u32 = u32::MAX;

    /// Whether a seat of the room was taken.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.generation != Self::UNCOUNTED
    }
}

// === impl TicketState ===

impl TicketState {
    /// Whether its holder waits, or believes so.
    #[must_use]
    pub fn is_in_line(&self) -> bool {
        match self {
            Self::Waiting => true,
            Self::Endless(endless) => endless.ended.is_none(),
            Self::Held(_) | Self::Ended(_) => false,
        }
    }

    /// The same after it has ended so. The endless line is not left by that.
    #[must_use]
    pub fn ended(self, ending: Ending) -> Self {
        match self {
            Self::Endless(endless) => Self::Endless(Endless { ended: Some(ending), ..endless }),
            Self::Waiting | Self::Held(_) | Self::Ended(_) => Self::Ended(ending),
        }
    }
}

// === impl Endless ===

impl Endless {
    /// Another one.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "nobody may foresee what is shown to whom")]
    pub fn random() -> Self {
        Self { seed: rand::rng().next_u64(), ended: None }
    }
}

// === impl TicketSealer ===

impl TicketSealer {
    /// The sealer of `room` for this reset epoch.
    ///
    /// # Panics
    /// Never: the key has the length that AES-256 needs.
    #[must_use]
    pub fn new(secret: &DeploymentSecret, room: &RoomId, reset_epoch: u64) -> Self {
        let context = [room.as_str().as_bytes(), &reset_epoch.to_be_bytes()];
        Self(secret.derive_each::<32, _>("ticket", &context, |key| {
            let key = UnboundKey::new(&AES_256_GCM, key.as_slice());
            LessSafeKey::new(key.expect("32 bytes are an AES-256 key"))
        }))
    }

    /// The sealed `ticket`: 108 characters, all of them safe in a cookie, and different each time.
    ///
    /// # Panics
    /// Never: GCM refuses only messages of many gigabytes.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "each ticket needs a nonce of its own")]
    pub fn seal(&self, ticket: &Ticket) -> String {
        let mut nonce = [0; NONCE_LEN];
        rand::rng().fill_bytes(&mut nonce);
        let mut body = encode(ticket);
        let sealing = Nonce::assume_unique_for_key(nonce);
        let key = self.0.current();
        let tag = key
            .seal_in_place_separate_tag(sealing, Aad::from([VERSION]), &mut body)
            .expect("43 bytes are not too long to seal");
        let mut sealed = [0; SEALED_LEN];
        Writer(&mut sealed).put([VERSION]).put(nonce).put(body).put_slice(tag.as_ref());
        URL_SAFE_NO_PAD.encode(sealed)
    }

    /// The content of the sealed `ticket`.
    ///
    /// # Errors
    /// [`TicketError`]: malformed, or not of this room and epoch.
    pub fn open(&self, ticket: &str) -> Result<Ticket, TicketError> {
        let sealed = Sealed::read(ticket.as_bytes()).ok_or(TicketError::Malformed)?;
        let opened = self.0.find(|key| sealed.open(key)).ok_or(TicketError::Foreign)?;
        decode(&opened).ok_or(TicketError::Malformed)
    }

    /// Whether `ticket`, which has been opened, is sealed under the current secret: otherwise its holder is to get a new
    /// one, before the other secret is forgotten.
    #[must_use]
    pub fn is_current(&self, ticket: &[u8]) -> bool {
        let opens = || Sealed::read(ticket)?.open(self.0.current());
        self.0.is_alone() || opens().is_some()
    }
}

// === impl Sealed ===

impl Sealed {
    /// The parts of a ticket; none: it is not one, or of a version that this release does not know.
    fn read(ticket: &[u8]) -> Option<Self> {
        let sealed = read_text(ticket)?;
        let mut reader = Reader(&sealed);
        let [version] = reader.take()?;
        let nonce = reader.take()?;
        let (body, tag) = reader.0.split_at(BODY_LEN);
        let (body, tag) = (body.try_into().ok()?, tag.try_into().ok()?);
        (version == VERSION).then_some(Self { nonce, body, tag })
    }

    fn open(&self, key: &LessSafeKey) -> Option<[u8; BODY_LEN]> {
        let mut opened = [0; BODY_LEN];
        let (nonce, aad) = (Nonce::assume_unique_for_key(self.nonce), Aad::from([VERSION]));
        key.open_separate_gather(nonce, aad, &self.body, &self.tag, &mut opened).ok()?;
        Some(opened)
    }
}

impl std::fmt::Debug for TicketSealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TicketSealer([REDACTED])")
    }
}

fn read_text(text: &[u8]) -> Option<[u8; SEALED_LEN]> {
    let mut sealed = [0; SEALED_LEN];
    if text.len() != TEXT_LEN {
        return None;
    }
    URL_SAFE_NO_PAD.decode_slice(text, &mut sealed).ok()?;
    Some(sealed)
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};
    use std::num::NonZeroU64;

    use vestibule_domain::{BoundTo, MAX_QUEUE_NUMBER, Place, accrued_hazard::AccruedHazard};

    use super::*;
    use crate::test_support::{room, secret};

    const TICKET: Ticket = Ticket {
        waiter: Waiter {
            place: Place { number: 4_711, entered_at: 1_763_690_000, region: 3 },
            heard_at: 1_763_690_123_456,
            interval_ms: 2_000,
            accrued_hazard: AccruedHazard { credit: 5, room_hazard: 4_000_000_000 },
        },
        state: TicketState::Waiting,
    };

    fn sealer(name: &str, reset_epoch: u64) -> TicketSealer {
        TicketSealer::new(&secret(), &room(name), reset_epoch)
    }

    fn seats() -> impl Strategy<Value = Seat> {
        let seconds = || 0..1_u64 << 40;
        let parts = (seconds(), seconds(), any::<u32>());
        parts.prop_map(|(issued_at, expires_at, generation)| Seat {
            issued_at,
            expires_at,
            generation,
            binding: None,
        })
    }

    fn bindings() -> impl Strategy<Value = Option<Binding>> {
        let kinds = select(vec![BoundTo::Network, BoundTo::NetworkAndAgent, BoundTo::Key]);
        let binding = (kinds, any::<NonZeroU64>()).prop_map(|(to, digest)| Binding { to, digest });
        proptest::option::of(binding)
    }

    fn states() -> impl Strategy<Value = TicketState> {
        let without_seat = vec![
            TicketState::Waiting,
            TicketState::Ended(Ending::Closed),
            TicketState::Ended(Ending::Expired),
        ];
        let ended = select(vec![None, Some(Ending::Closed), Some(Ending::Expired)]);
        let endless = (any::<u64>(), ended).prop_map(|(seed, ended)| Endless { seed, ended });
        prop_oneof![
            select(without_seat),
            seats().prop_map(TicketState::Held),
            endless.prop_map(TicketState::Endless),
        ]
    }

    fn tickets() -> impl Strategy<Value = Ticket> {
        let place = (0..=MAX_QUEUE_NUMBER, any::<(u32, u8)>());
        let check_in = (0..1_u64 << 48, any::<u32>());
        let accrued_hazard = any::<(u32, u32)>()
            .prop_map(|(credit, room_hazard)| AccruedHazard { credit, room_hazard });
        let waiter = (place, check_in, accrued_hazard).prop_map(
            |((number, (entered_at, region)), (heard_at, interval_ms), accrued_hazard)| Waiter {
                place: Place { number, entered_at, region },
                heard_at,
                interval_ms,
                accrued_hazard,
            },
        );
        (waiter, states(), bindings()).prop_map(|(mut waiter, mut state, binding)| {
            if let (TicketState::Held(seat), Some(_)) = (&mut state, binding) {
                seat.binding = binding;
                (waiter.interval_ms, waiter.accrued_hazard) = (0, AccruedHazard::default());
            }
            Ticket { waiter, state }
        })
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens(ticket in tickets()) {
            let sealed = sealer("sale", 1).seal(&ticket);
            prop_assert_eq!(sealer("sale", 1).open(&sealed), Ok(ticket));
        }

        #[test]
        fn any_flipped_bit_is_refused(ticket in tickets(), bit in 0..SEALED_LEN * 8) {
            let mut sealed = read_text(sealer("sale", 1).seal(&ticket).as_bytes()).unwrap();
            sealed[bit / 8] ^= 1 << (bit % 8);
            let expected =
                if bit < 8 { TicketError::Malformed } else { TicketError::Foreign };
            let forged = URL_SAFE_NO_PAD.encode(sealed);
            prop_assert_eq!(sealer("sale", 1).open(&forged), Err(expected));
        }

        #[test]
        fn no_text_panics(text in ".{0,130}") {
            prop_assert!(sealer("sale", 1).open(&text).is_err());
        }
    }

    #[test]
    fn a_ticket_is_short_and_safe_in_a_cookie() {
        let sealed = sealer("sale", 1).seal(&TICKET);
        assert_eq!(sealed.len(), 96);
        assert!(sealed.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_'));
    }

    /// It opens the ticket, takes every field as it is, and seals what it carries.
    #[test]
    fn a_release_that_knows_no_bindings_carries_them_along() {
        let binding = Some("k00000000000000ab".parse().unwrap());
        let seat = Seat { issued_at: 1, expires_at: 2, generation: 3, binding };
        let bound = Ticket { state: TicketState::Held(seat), ..TICKET };
        let body = encode(&bound);
        let as_it_reads = body::decode_fields(&body).unwrap();
        assert_eq!(as_it_reads.seat().unwrap().binding, None);
        assert_eq!(encode(&as_it_reads), body);
        let ended = Ticket { state: TicketState::Ended(Ending::Closed), ..as_it_reads };
        assert_eq!(decode(&encode(&ended)), Some(ended), "nothing is read of it any more");
    }

    #[test]
    fn whoever_is_in_the_endless_line_stays_there_when_it_leaves() {
        let endless = Endless { seed: u64::MAX - 5, ended: None };
        let ticket = Ticket { state: TicketState::Endless(endless), ..TICKET };
        assert_eq!(sealer("sale", 1).seal(&ticket).len(), sealer("sale", 1).seal(&TICKET).len());
        assert!(ticket.state.is_in_line() && ticket.seat().is_none());
        let left = Ticket { state: ticket.state.ended(Ending::Closed), ..ticket };
        assert_eq!(left.endless(), Some(Endless { ended: Some(Ending::Closed), ..endless }));
        assert!(!left.state.is_in_line());
        assert_eq!(TICKET.state.ended(Ending::Closed), TicketState::Ended(Ending::Closed));
        assert_ne!(Endless::random(), Endless::random());
    }

    #[test]
    fn who_was_let_in_uncounted_waits_again_where_it_stood() {
        let heard_at = TICKET.waiter.heard_at;
        let until_s = heard_at / 1000 + 300;
        let seat = |generation| Seat {
            issued_at: until_s - 300,
            expires_at: until_s,
            generation,
            binding: None,
        };
        let inside = |generation| Ticket { state: TicketState::Held(seat(generation)), ..TICKET };
        let sealed = sealer("sale", 1).seal(&inside(Seat::UNCOUNTED));
        let opened = sealer("sale", 1).open(&sealed).unwrap();
        let heard = |now_ms| opened.back_in_line(now_ms).map(|ticket| ticket.waiter.heard_at);
        assert_eq!(heard(heard_at + 5), Some(heard_at + 5));
        assert_eq!(heard(u64::MAX), Some(until_s * 1000), "then it was away");
        assert_eq!(opened.back_in_line(heard_at), Some(TICKET));
        assert_eq!(inside(1).back_in_line(heard_at), None, "it has a seat");
        assert_eq!(TICKET.back_in_line(heard_at), None);
    }

    #[test]
    fn sealing_twice_gives_different_tickets() {
        let sealer = sealer("sale", 1);
        assert_ne!(sealer.seal(&TICKET), sealer.seal(&TICKET));
    }

    #[test]
    fn another_room_epoch_or_secret_is_foreign() {
        let sealed = sealer("sale", 1).seal(&TICKET);
        let other_secret = DeploymentSecret::new(&[9; 32]).unwrap();
        let strangers = [
            sealer("sale2", 1),
            sealer("sale", 2),
            TicketSealer::new(&other_secret, &room("sale"), 1),
        ];
        for stranger in strangers {
            assert_eq!(stranger.open(&sealed), Err(TicketError::Foreign));
        }
    }

    #[test]
    fn a_cut_or_padded_ticket_is_malformed() {
        let sealed = sealer("sale", 1).seal(&TICKET);
        for text in ["", &sealed[1..], &sealed[..95], &format!("{sealed}="), &format!("{sealed} ")]
        {
            assert_eq!(sealer("sale", 1).open(text), Err(TicketError::Malformed), "{text:?}");
        }
    }

    /// Visitors keep tickets across releases: the body may change only together with [`VERSION`].
    #[test]
    fn a_ticket_of_this_version_still_opens() {
        let old = "BGQoHhFs0I2hyKTvknVbZEYxtP1d_d_V_pPxE2mfbpMUOLOG2k79V66Qt85JpC5UZlUs7y8aeSg7SqR0SX-lYhatrmNGk8Ld";
        assert_eq!(sealer("sale", 1).open(old), Ok(TICKET));
    }

    #[test]
    fn a_ticket_of_another_secret_opens_while_it_is_replaced_and_is_not_kept() {
        let new = || DeploymentSecret::new(&[9; 32]).unwrap();
        let both = TicketSealer::new(&new().with_others([secret()]), &room("sale"), 1);
        let old = sealer("sale", 1).seal(&TICKET);
        assert_eq!(both.open(&old), Ok(TICKET));
        assert!(sealer("sale", 1).is_current(old.as_bytes()) && !both.is_current(old.as_bytes()));
        let sealed = both.seal(&TICKET);
        assert!(both.is_current(sealed.as_bytes()));
        assert_eq!(TicketSealer::new(&new(), &room("sale"), 1).open(&sealed), Ok(TICKET));
    }
}
