//! The unencrypted body of a ticket: its fields in 43 bytes. Every field has a fixed position, so
//! the length of a ticket reveals nothing. Encryption is in [`super::TicketSealer`].
//!
//! What the session of someone inside is bound to is written where the accrued hazard was, and its kind where the interval
//! was: an interval as long as that does not exist. So tickets stay as long as they are, and a release that knows no
//! bindings, which renews a ticket by copying its waiter, carries them along.

use std::num::NonZeroU64;

use vestibule_domain::{Binding, BoundTo, Place, Waiter, accrued_hazard::AccruedHazard};

use super::{Ending, Endless, Seat, Ticket, TicketState};

pub(super) const BODY_LEN: usize = 43;

/// The state.
const WAITING: u8 = 0;
const HELD: u8 = 1;
const CLOSED: u8 = 2;
const EXPIRED: u8 = 3;
const ENDLESS: u8 = 4;
const ENDLESS_CLOSED: u8 = 5;
const ENDLESS_EXPIRED: u8 = 6;

/// All that a session can be bound to.
const KINDS: [BoundTo; 3] = [BoundTo::Network, BoundTo::NetworkAndAgent, BoundTo::Key];

/// Written when there is no seat; the state tells it from a real one.
const NO_SEAT: Seat = Seat { issued_at: 0, expires_at: 0, generation: 0, binding: None };

/// Fills a buffer from the front.
pub(super) struct Writer<'a>(pub(super) &'a mut [u8]);

/// Reads a buffer from the front.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

pub(super) fn encode(ticket: &Ticket) -> [u8; BODY_LEN] {
    let waiter = &with_binding(ticket);
    let seat = match ticket.state {
        TicketState::Held(seat) => seat,
        TicketState::Endless(endless) => seed_as_seat(endless.seed),
        TicketState::Waiting | TicketState::Ended(_) => NO_SEAT,
    };
    let state = match ticket.state {
        TicketState::Waiting => WAITING,
        TicketState::Held(_) => HELD,
        TicketState::Ended(Ending::Closed) => CLOSED,
        TicketState::Ended(Ending::Expired) => EXPIRED,
        TicketState::Endless(Endless { ended: None, .. }) => ENDLESS,
        TicketState::Endless(Endless { ended: Some(Ending::Closed), .. }) => ENDLESS_CLOSED,
        TicketState::Endless(Endless { ended: Some(Ending::Expired), .. }) => ENDLESS_EXPIRED,
    };
    let mut body = [0; BODY_LEN];
    Writer(&mut body)
        .put([state])
        .put(narrow::<5>(waiter.place.number))
        .put(waiter.place.entered_at.to_be_bytes())
        .put([waiter.place.region])
        .put(narrow::<6>(waiter.heard_at))
        .put(waiter.interval_ms.to_be_bytes())
        .put(waiter.accrued_hazard.credit.to_be_bytes())
        .put(waiter.accrued_hazard.room_hazard.to_be_bytes())
        .put(narrow::<5>(seat.issued_at))
        .put(narrow::<5>(seat.expires_at))
        .put(seat.generation.to_be_bytes());
    body
}

pub(super) fn decode(body: &[u8; BODY_LEN]) -> Option<Ticket> {
    decode_fields(body).map(take_binding_out)
}

/// The fields as they are written.
pub(super) fn decode_fields(body: &[u8; BODY_LEN]) -> Option<Ticket> {
    let mut reader = Reader(body);
    let [state] = reader.take()?;
    let place = Place {
        number: wide::<5>(reader.take()?),
        entered_at: u32::from_be_bytes(reader.take()?),
        region: u8::from_be_bytes(reader.take()?),
    };
    let heard_at = wide::<6>(reader.take()?);
    let interval_ms = u32::from_be_bytes(reader.take()?);
    let accrued_hazard = AccruedHazard {
        credit: u32::from_be_bytes(reader.take()?),
        room_hazard: u32::from_be_bytes(reader.take()?),
    };
    let seat = Seat {
        issued_at: wide::<5>(reader.take()?),
        expires_at: wide::<5>(reader.take()?),
        generation: u32::from_be_bytes(reader.take()?),
        binding: None,
    };
    let endless = |ended| TicketState::Endless(Endless { seed: seed_of(&seat), ended });
    let state = match state {
        WAITING => TicketState::Waiting,
        HELD => TicketState::Held(seat),
        CLOSED => TicketState::Ended(Ending::Closed),
        EXPIRED => TicketState::Ended(Ending::Expired),
        ENDLESS => endless(None),
        ENDLESS_CLOSED => endless(Some(Ending::Closed)),
        ENDLESS_EXPIRED => endless(Some(Ending::Expired)),
        _ => return None,
    };
    let waiter = Waiter { place, heard_at, interval_ms, accrued_hazard };
    Some(Ticket { waiter, state })
}

/// The seed of a place in the endless line, written where a seat would be.
fn seed_as_seat(seed: u64) -> Seat {
    let (high, low) = (seed >> 32, seed & u64::from(u32::MAX));
    Seat { issued_at: high, expires_at: low, ..NO_SEAT }
}

fn seed_of(seat: &Seat) -> u64 {
    seat.issued_at << 32 | seat.expires_at & u64::from(u32::MAX)
}

/// Written as the interval of someone inside whose session is bound to this.
fn mark(to: BoundTo) -> u32 {
    match to {
        BoundTo::Network => u32::MAX,
        BoundTo::NetworkAndAgent => u32::MAX - 1,
        BoundTo::Key => u32::MAX - 2,
    }
}

/// The waiter of `ticket` as it is written: with what its session is bound to, if it is bound.
fn with_binding(ticket: &Ticket) -> Waiter {
    let Some(Binding { to, digest }) = ticket.seat().and_then(|seat| seat.binding) else {
        return ticket.waiter;
    };
    let (high, low) = (digest.get() >> 32, digest.get() & u64::from(u32::MAX));
    let half = |half| u32::try_from(half).unwrap_or_default();
    Waiter {
        interval_ms: mark(to),
        accrued_hazard: AccruedHazard { credit: half(high), room_hazard: half(low) },
        ..ticket.waiter
    }
}

/// `ticket` as it is, read from how it was written.
fn take_binding_out(mut ticket: Ticket) -> Ticket {
    let Waiter { interval_ms, accrued_hazard: hazard, .. } = ticket.waiter;
    let to = KINDS.into_iter().find(|to| mark(*to) == interval_ms);
    let digest = u64::from(hazard.credit) << 32 | u64::from(hazard.room_hazard);
    let binding = to.zip(NonZeroU64::new(digest)).map(|(to, digest)| Binding { to, digest });
    if let (TicketState::Held(seat), Some(_)) = (&mut ticket.state, binding) {
        seat.binding = binding;
        ticket.waiter.interval_ms = 0;
        ticket.waiter.accrued_hazard = AccruedHazard::default();
    }
    ticket
}

/// The low `N` bytes of a number that fits in them: places have 36 bits, times in seconds need 40
/// bits for 34,000 years, times in ms 48 bits for 8,900 years.
fn narrow<const N: usize>(number: u64) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&number.to_be_bytes()[8 - N..]);
    bytes
}

fn wide<const N: usize>(bytes: [u8; N]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

// === impl Writer, Reader ===

impl Writer<'_> {
    pub(super) fn put<const N: usize>(self, bytes: [u8; N]) -> Self {
        self.put_slice(&bytes)
    }

    pub(super) fn put_slice(self, bytes: &[u8]) -> Self {
        let (head, rest) = self.0.split_at_mut(bytes.len());
        head.copy_from_slice(bytes);
        Self(rest)
    }
}

impl Reader<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }
}
