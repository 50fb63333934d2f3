//! Sharers: one of them waits and enters as people do; meanwhile and afterwards the others, each from a network of its
//! own or with an agent of its own, show every ticket that it ever had.

use vestibule_admission::in_process::{Carried, NewTicket, Status};

use super::{Call, Told, Visitor, origin::Origin};

/// How long they go on, ms.
const GOES_ON_MS: u64 = 120_000;
/// Their networks begin with this number.
const NETWORKS: u64 = 50;
/// How many of their tickets they keep: the first ones, and the last.
const MOST_KEPT: usize = 8;

// === impl Visitor ===

impl Visitor {
    /// Comes with so many others, who together show a ticket so often a second.
    pub(super) async fn share(mut self, (arrives_ms, clients, times_per_second): (u64, u64, u64)) {
        self.wait_ms(arrives_ms).await;
        let end_ms = self.stage.history.now_ms() + GOES_ON_MS;
        let mut kept: Vec<Carried> = Vec::new();
        let (mut own, mut asks_at_ms) = (None, 0);
        while self.stage.history.now_ms() < end_ms {
            if self.stage.history.now_ms() >= asks_at_ms {
                asks_at_ms =
                    self.stage.history.now_ms() + self.ask_as_holder(&mut own, &mut kept).await;
            } else if !kept.is_empty() {
                self.show(clients, &mut kept).await;
            }
            self.wait_ms(1_000 / times_per_second.clamp(1, 1_000)).await;
        }
    }

    /// The one whose ticket it is asks as it is told to; when to ask again, ms.
    async fn ask_as_holder(&mut self, own: &mut Option<Carried>, kept: &mut Vec<Carried>) -> u64 {
        self.be_sharer(0);
        let call = match own {
            None => Call::Join,
            Some(ticket) if ticket.ticket.seat().is_some() => Call::Page,
            Some(_) => Call::Claim,
        };
        let (told, new) = self.call_with(call, *own).await;
        match new {
            NewTicket::Carry(ticket) => {
                *own = Some(ticket);
                keep(ticket, kept);
            }
            NewTicket::Drop(_) => *own = None,
            NewTicket::Keep => {}
        }
        match told {
            Told::Stands(Status::Waiting | Status::YourTurn, next_ms) => next_ms.clamp(200, 2_000),
            _ => 1_000,
        }
    }

    /// One of the others shows a ticket.
    async fn show(&mut self, clients: u64, kept: &mut Vec<Carried>) {
        let client = self.chance.within(1..clients.max(1) + 1);
        self.be_sharer(client);
        let ticket = *self.chance.one_of(kept);
        let calls = [Call::Page, Call::Page, Call::Page, Call::Status, Call::Claim, Call::Join];
        let call =
            if self.chance.happens(0.03) { Call::Leave } else { *self.chance.one_of(&calls) };
        if let (_, NewTicket::Carry(ticket)) = self.call_with(call, Some(ticket)).await {
            keep(ticket, kept);
        }
    }

    /// Every other one is in the network of the first, and differs by its agent alone.
    fn be_sharer(&mut self, client: u64) {
        let network = NETWORKS + if client.is_multiple_of(2) { 0 } else { client };
        self.origin = Some(Origin { network, host: client, agent: client });
    }
}

fn keep(ticket: Carried, kept: &mut Vec<Carried>) {
    if !kept.contains(&ticket) {
        if kept.len() == MOST_KEPT {
            kept.remove(MOST_KEPT / 2);
        }
        kept.push(ticket);
    }
}
