//! Tickets: only what was sealed opens, and it opens as what it was, in its own room alone.

use std::{num::NonZeroU64, sync::LazyLock};

use vestibule_domain::{Binding, BoundTo, Place, RoomId, Waiter, accrued_hazard::AccruedHazard};
use vestibule_token::{DeploymentSecret, Ending, Seat, Ticket, TicketSealer, TicketState};

use super::{Target, text};

pub(super) const TARGET: Target =
    Target { name: "tickets", run, words: &["A", "_", "-", "=", "+", "/", "BAAA", "\u{0}"] };

static SEALERS: LazyLock<[TicketSealer; 3]> = LazyLock::new(|| {
    let secret = DeploymentSecret::new(&[7; 32]).expect("long enough");
    let of = |room: &str, epoch| {
        TicketSealer::new(&secret, &RoomId::new(room).expect("a room's name"), epoch)
    };
    [of("sale", 0), of("sale", 1), of("other", 0)]
});

fn run(bytes: &[u8]) {
    let [ours, others @ ..] = &*SEALERS;
    let given = text(bytes);
    assert!(ours.open(&given).is_err(), "{given:?} was never sealed, and opens");
    assert!(!ours.is_current(bytes) || given.is_empty() || ours.open(&given).is_err());

    let Some((ticket, change)) = ticket(bytes) else { return };
    let sealed = ours.seal(&ticket);
    assert_eq!(ours.open(&sealed), Ok(ticket));
    for other in others {
        assert!(other.open(&sealed).is_err(), "it opens elsewhere");
    }
    let mut changed = sealed.clone().into_bytes();
    let at = usize::from(change[0]) % changed.len();
    changed[at] = change[1];
    if changed != sealed.as_bytes() {
        assert!(ours.open(&text(&changed)).is_err(), "changed at {at} to {}, it opens", change[1]);
    }
}

/// A reader of numbers.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next<const N: usize>(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(number.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    fn small(&mut self) -> Option<u32> {
        self.next::<4>().and_then(|number| number.try_into().ok())
    }
}

fn ticket(bytes: &[u8]) -> Option<(Ticket, [u8; 2])> {
    let mut numbers = Numbers(bytes);
    let place = Place {
        number: numbers.next::<5>()?,
        entered_at: numbers.small()?,
        region: numbers.next::<1>()?.try_into().ok()?,
    };
    let accrued_hazard = AccruedHazard { credit: numbers.small()?, room_hazard: numbers.small()? };
    let state = match numbers.next::<1>()? % 4 {
        0 => TicketState::Waiting,
        1 => TicketState::Ended(Ending::Closed),
        2 => TicketState::Ended(Ending::Expired),
        _ => TicketState::Held(Seat {
            issued_at: numbers.small()?.into(),
            expires_at: numbers.small()?.into(),
            generation: numbers.small()?,
            binding: NonZeroU64::new(numbers.next::<8>()?)
                .map(|digest| Binding { to: BoundTo::NetworkAndAgent, digest }),
        }),
    };
    // While it waits it says when it was heard; afterwards it needs not.
    let (heard_at, interval_ms) = match state {
        TicketState::Waiting => (numbers.next::<5>()?, numbers.next::<2>()?.try_into().ok()?),
        _ => (0, 0),
    };
    // What a session is bound to stands in the place of its chances.
    let is_bound = matches!(state, TicketState::Held(Seat { binding: Some(_), .. }));
    let accrued_hazard = if is_bound { AccruedHazard::default() } else { accrued_hazard };
    let waiter = Waiter { place, heard_at, interval_ms, accrued_hazard };
    Some((Ticket { waiter, state }, *numbers.0.first_chunk()?))
}
