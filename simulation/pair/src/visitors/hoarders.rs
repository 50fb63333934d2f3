//! Hoarders: many clients of one network, who join as fast as they can, claim, keep what they get, leave and come again,
//! whatever they are answered and whatever becomes of the services.

use vestibule_admission::in_process::{Carried, NewTicket};

use super::{Call, Told, Visitor, origin::Origin};

/// How long they go on, ms.
const GOES_ON_MS: u64 = 120_000;
/// How many tickets they keep at most.
const MOST_KEPT: usize = 40;

// === impl Visitor ===

impl Visitor {
    /// Comes with so many clients of `network`, who act one after the other, together so often a second.
    pub(super) async fn hoard_in(
        mut self,
        network: u64,
        (arrives_ms, clients, times_per_second): (u64, u64, u64),
    ) {
        self.wait_ms(arrives_ms).await;
        let end_ms = self.stage.history.now_ms() + GOES_ON_MS;
        let mut kept: Vec<(Carried, u64)> = Vec::new();
        while self.stage.history.now_ms() < end_ms {
            self.take_or_keep((network, clients), &mut kept).await;
            self.wait_ms(1_000 / times_per_second.clamp(1, 1_000)).await;
        }
    }

    /// One of them joins, or does something with one of their tickets.
    async fn take_or_keep(
        &mut self,
        (network, clients): (u64, u64),
        kept: &mut Vec<(Carried, u64)>,
    ) {
        let chosen = self.chance.unit();
        if kept.is_empty() || kept.len() < MOST_KEPT && chosen < 0.5 {
            let host = self.chance.within(0..clients);
            self.be_host(network, host);
            if let (_, NewTicket::Carry(ticket)) = self.call_with(Call::Join, None).await {
                kept.push((ticket, host));
            }
            return;
        }
        let at = usize::try_from(self.chance.within(0..kept.len() as u64)).unwrap_or(0);
        let (ticket, host) = kept[at];
        let call = match chosen {
            chosen if chosen > 0.93 => Call::Leave,
            chosen if chosen > 0.88 => Call::Hold,
            chosen if chosen > 0.7 => Call::Page,
            _ => Call::Claim,
        };
        self.be_host(network, host);
        let (told, new) = self.call_with(call, Some(ticket)).await;
        match new {
            NewTicket::Carry(ticket) => kept[at].0 = ticket,
            NewTicket::Drop(_) => drop(kept.swap_remove(at)),
            // Whoever has left comes again with another place.
            NewTicket::Keep if call == Call::Leave && told != Told::Nothing => {
                kept.swap_remove(at);
            }
            NewTicket::Keep => {}
        }
    }

    fn be_host(&mut self, network: u64, host: u64) {
        self.origin = Some(Origin { network, host, agent: host % 3 });
    }
}
