//! Visitors who do what nobody should: replay tickets, hoard places, join and say nothing more, leave
//! and come back, and send everything in the wrong order.

use vestibule_admission::in_process::{Carried, Instance, NewTicket};

use super::{Call, Visitor};

/// A way of being hostile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hostility {
    /// Sends one waiting ticket's status again and again.
    ReplaysStatus,
    /// Sends one ticket's `leave`, and then old tickets, again and again.
    ReplaysLeave,
    /// Joins many times and claims with whatever comes first.
    Hoards,
    /// Joins many times and is never heard of again.
    SendsGhosts,
    /// Enters, leaves and comes back at once, with its old ticket too.
    ComesBack,
    /// Sends any call with any of its tickets, in any order.
    Shuffles,
    /// Takes AWS-style numbers and is never heard of again.
    SendsAwsGhosts,
    /// Enters, and from then on sends the tickets of its first entry, whether it left or not.
    ReplaysSeats,
}

/// How long hostile visitors go on, ms.
const GOES_ON_MS: u64 = 120_000;

// === impl Hostility ===

impl Hostility {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::ReplaysStatus,
        Self::ReplaysLeave,
        Self::Hoards,
        Self::SendsGhosts,
        Self::ComesBack,
        Self::Shuffles,
        Self::SendsAwsGhosts,
        Self::ReplaysSeats,
    ];
}

// === impl Visitor ===

impl Visitor {
    /// Comes, and does it `times` a second for a while.
    pub(super) async fn be_hostile(
        mut self,
        arrives_ms: u64,
        hostility: Hostility,
        times_per_second: u64,
    ) {
        self.wait_ms(arrives_ms).await;
        let end_ms = self.stage.history.now_ms() + GOES_ON_MS;
        let pause_ms = 1000 / times_per_second.clamp(1, 1000);
        let mut kept: Vec<Carried> = Vec::new();
        while self.stage.history.now_ms() < end_ms {
            self.one_act(hostility, &mut kept).await;
            self.wait_ms(pause_ms.max(1)).await;
        }
    }

    async fn one_act(&mut self, hostility: Hostility, kept: &mut Vec<Carried>) {
        match hostility {
            Hostility::ReplaysStatus => self.replay_status(kept).await,
            Hostility::ReplaysLeave => self.replay_leave(kept).await,
            Hostility::Hoards => self.hoard(kept).await,
            Hostility::SendsGhosts => self.join_up_to(500, kept).await,
            Hostility::SendsAwsGhosts => self.take_an_aws_number().await,
            Hostility::ReplaysSeats => self.replay_a_seat(kept).await,
            Hostility::ComesBack => self.come_back(kept).await,
            Hostility::Shuffles => self.shuffle(kept).await,
        }
    }

    /// Its first ticket, whatever it was answered since.
    async fn replay_status(&mut self, kept: &mut Vec<Carried>) {
        self.join_up_to(1, kept).await;
        if let Some(first) = kept.first() {
            self.replay(Call::Status, *first).await;
        }
    }

    async fn replay_leave(&mut self, kept: &mut Vec<Carried>) {
        if kept.len() < 3 {
            return self.join_up_to(3, kept).await;
        }
        let ticket = *self.chance.one_of(kept);
        let call = if self.chance.happens(0.5) { Call::Leave } else { Call::Status };
        self.replay(call, ticket).await;
    }

    async fn hoard(&mut self, kept: &mut Vec<Carried>) {
        self.join_up_to(50, kept).await;
        if let Some(first) = kept.first() {
            self.send(Call::Claim, *first, kept).await;
        }
    }

    async fn take_an_aws_number(&mut self) {
        let room = self.stage.room.as_str();
        let call = async |admission: &Instance| admission.assign_queue_num(room).await;
        let _ = self.stage.door.visit(&mut self.chance, call).await;
    }

    /// The first ticket with a seat is kept, left with once, and then sent for ever.
    async fn replay_a_seat(&mut self, kept: &mut Vec<Carried>) {
        let seated = kept.iter().position(|ticket| ticket.ticket.seat().is_some());
        match (kept.last().copied(), seated) {
            (None, _) => self.join_up_to(1, kept).await,
            (Some(last), None) => self.send(Call::Claim, last, kept).await,
            (Some(_), Some(at)) => {
                let (ticket, is_first_time) = (kept[at], kept.len() <= at + 1);
                let call = if is_first_time { Call::Leave } else { Call::Status };
                self.replay(call, ticket).await;
                if is_first_time {
                    kept.push(ticket);
                }
            }
        }
    }

    async fn come_back(&mut self, kept: &mut Vec<Carried>) {
        match kept.last().copied() {
            None => self.join_up_to(1, kept).await,
            Some(last) if last.ticket.seat().is_some() => {
                self.send(Call::Leave, last, kept).await;
                self.send(Call::Page, last, kept).await;
                kept.clear();
            }
            Some(last) => self.send(Call::Claim, last, kept).await,
        }
        kept.drain(..kept.len().saturating_sub(4));
    }

    async fn shuffle(&mut self, kept: &mut Vec<Carried>) {
        let some = if self.chance.happens(0.1) { kept.len() + 1 } else { 3 };
        self.join_up_to(some, kept).await;
        let calls = [Call::Join, Call::Status, Call::Claim, Call::Leave, Call::Page];
        let call = *self.chance.one_of(&calls);
        if kept.is_empty() {
            return;
        }
        let ticket = *self.chance.one_of(kept);
        self.send(call, ticket, kept).await;
        kept.drain(..kept.len().saturating_sub(20));
    }

    /// Joins once more, unless it has so many tickets.
    async fn join_up_to(&mut self, most: usize, kept: &mut Vec<Carried>) {
        if kept.len() < most {
            let (_, ticket) = self.call_with(Call::Join, None).await;
            keep(ticket, kept);
        }
    }

    /// Sends a ticket and keeps the one that it is answered.
    async fn send(&mut self, call: Call, ticket: Carried, kept: &mut Vec<Carried>) {
        let (_, ticket) = self.call_with(call, Some(ticket)).await;
        keep(ticket, kept);
    }

    /// Sends a ticket and throws away what it is answered.
    async fn replay(&mut self, call: Call, ticket: Carried) {
        let _ = self.call_with(call, Some(ticket)).await;
    }
}

fn keep(ticket: NewTicket, kept: &mut Vec<Carried>) {
    match ticket {
        NewTicket::Carry(ticket) | NewTicket::Drop(Some(ticket)) => kept.push(ticket),
        NewTicket::Keep | NewTicket::Drop(None) => {}
    }
}
