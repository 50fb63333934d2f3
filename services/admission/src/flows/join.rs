//! Joining: a newcomer gets a place, or enters at once; whoever has a place keeps it.

use std::sync::Arc;

use vestibule_domain::{RoomSnapshot, Waiter, ledger::RefusedFor};
use vestibule_issuance::RoomCiphers;
use vestibule_store::{JoinMode, StoreError};
use vestibule_token::{Ticket, TicketState};
use vestibule_traces::{SpanBuilder, child, spanned};

use super::{
    CookieChange, FlowError, Flows, RoomContext, Sender, Solution, Status, VisitorResponse,
    challenge::Passage, responder::VisitorResponder, visitor_response::CurrentTicket,
};
use crate::batching::{JoinReply, Newcomer, Reach};

// === impl Flows ===

impl Flows {
    /// Gives a newcomer a place in `room`, or lets it enter at once. The holder of a `ticket` keeps
    /// its place; it gets a new one only when the old one is over.
    pub(crate) async fn join(
        &self,
        room: &RoomContext,
        ticket: Option<Ticket>,
        solution: Solution<'_>,
    ) -> Result<VisitorResponse, FlowError> {
        let Some(ticket) = ticket else { return self.join_newcomer(room, solution, None).await };
        if let Some(endless) = ticket.endless() {
            return self.rejoin_from_endless_line(room, (ticket, endless), solution).await;
        }
        match self.respond_to_holder(room, ticket).await {
            Ok(Some(response)) => Ok(response),
            Ok(None) | Err(FlowError::Stranger) => self.join_newcomer(room, solution, None).await,
            Err(error) => Err(error),
        }
    }

    /// The answer to the holder of a ticket; `None` if its place or its session is over.
    async fn respond_to_holder(
        &self,
        room: &RoomContext,
        ticket: Ticket,
    ) -> Result<Option<VisitorResponse>, FlowError> {
        let response = self.check_in(room, ticket).await?;
        let has_place = match CurrentTicket::presented(ticket, room).ticket.state {
            TicketState::Waiting => response.status.status != Status::Expired,
            TicketState::Held(_) | TicketState::Ended(_) | TicketState::Endless(_) => {
                response.status.status == Status::Admitted
            }
        };
        Ok(has_place.then_some(response))
    }

    /// `kept`: the answer to somebody who is in the endless line and stays there, unless it gets further.
    pub(super) async fn join_newcomer(
        &self,
        room: &RoomContext,
        solution: Solution<'_>,
        kept: Option<VisitorResponse>,
    ) -> Result<VisitorResponse, FlowError> {
        let joined = self.place_newcomer(room, solution, kept).await;
        joined.inspect_err(|error| self.tally.failed(room, error))
    }

    async fn place_newcomer(
        &self,
        room: &RoomContext,
        solution: Solution<'_>,
        kept: Option<VisitorResponse>,
    ) -> Result<VisitorResponse, FlowError> {
        let settings = &room.snapshot.settings;
        if room.snapshot.rejects() {
            self.tally.refused(room, RefusedFor::Closed);
            return Ok(VisitorResponder::new(self, room).respond_turned_away());
        }
        let joined = match self.number(room, solution, JoinMode::Enter).await {
            Ok(Some(joined)) => joined,
            // Everyone enters, but whoever may have no place now shall not have one afterwards.
            Ok(None)
            | Err(
                FlowError::OverLimit { .. }
                | FlowError::ChallengeRequired(_)
                | FlowError::ProviderAway,
            ) if settings.suspended => {
                let responder = VisitorResponder::new(self, room);
                return responder.respond_without_place(CookieChange::None).await;
            }
            Ok(None) if room.caller.may_have_place => return Err(unopened()),
            Ok(None) => {
                self.tally.refused(room, RefusedFor::EndlessLine);
                return kept.map_or_else(|| self.join_endless_line(room), Ok);
            }
            Err(FlowError::Store(error)) => {
                let responder = VisitorResponder::new(self, room);
                let may_have_place = room.caller.may_have_place;
                let cookie = if may_have_place { CookieChange::None } else { CookieChange::Remove };
                return responder.respond_without_store(error, cookie).await;
            }
            Err(error) => return Err(error),
        };
        let told = match self.renewed(room) {
            None => self.respond_to_newcomer(room, joined).await,
            // Boxed, because it is large and seldom.
            Some(now) => Box::pin(self.respond_to_newcomer(&now, joined)).await,
        };
        told.inspect(|told| self.tally.told(room, &told.status))
    }

    /// The room as it is known now, if it is of another generation: the join may have waited until it was brought to its
    /// latest state, and by what was known before nobody can be told how long it takes.
    fn renewed(&self, room: &RoomContext) -> Option<RoomContext> {
        let generation = |snapshot: &RoomSnapshot| (snapshot.reset_epoch, snapshot.generation);
        if generation(&room.known.snapshot()) == generation(&room.snapshot) {
            return None;
        }
        let now = self.room(room.snapshot.room.as_str())?;
        Some(RoomContext { caller: room.caller.clone(), ..now })
    }

    async fn respond_to_newcomer(
        &self,
        room: &RoomContext,
        joined: Newcomer,
    ) -> Result<VisitorResponse, FlowError> {
        let ciphers = self.ciphers_of(room, joined.reset_epoch);
        let responder = VisitorResponder::new(self, room).at(joined.now_ms).with_ciphers(&ciphers);
        let Newcomer { place, serving, awaits_draw, generation, token, .. } = joined;
        let waiter = Waiter::new(place, room.snapshot.cumulative_hazard);
        let ticket = Ticket { waiter, state: TicketState::Waiting };
        if let Some(record) = token {
            let inside = responder.respond_inside(ticket, &record, generation).await;
            // If signing fails, the visitor claims again and gets the seat that it already holds.
            return inside.or_else(|_| {
                responder.respond_with_status(CurrentTicket::new(ticket), Status::YourTurn)
            });
        }
        let served = !awaits_draw && place.number <= serving;
        if served && !room.snapshot.is_held() {
            return responder.respond_next(CurrentTicket::new(ticket));
        }
        responder.respond_waiting(CurrentTicket::new(ticket))
    }

    /// Joins as AWS-style clients do: returns a request id for later, and never takes a seat.
    pub(crate) async fn assign_number(
        &self,
        room: &RoomContext,
        solution: Solution<'_>,
    ) -> Result<String, FlowError> {
        let assigned = self.assign(room, solution).await;
        assigned.inspect_err(|error| self.tally.failed(room, error))
    }

    async fn assign(
        &self,
        room: &RoomContext,
        solution: Solution<'_>,
    ) -> Result<String, FlowError> {
        let solution = solution.by(Sender::AwsClient);
        let Some(joined) = self.number(room, solution, JoinMode::Queue).await? else {
            return Err(FlowError::ChallengeRequired(Box::new(self.demand(room, None))));
        };
        let ciphers = self.ciphers_of(room, joined.reset_epoch);
        Ok(ciphers.request_ids.seal(joined.place)?)
    }

    /// Numbers a newcomer, if it passes the room's challenge; `None`: it gets to the endless line.
    async fn number(
        &self,
        room: &RoomContext,
        solution: Solution<'_>,
        mode: JoinMode,
    ) -> Result<Option<Newcomer>, FlowError> {
        if room.caller.may_have_place {
            return Err(unopened());
        }
        let Passage::Place { spent } = self.challenge(room, solution).await? else {
            return Ok(None);
        };
        let network = room.limited_network().map(|network| {
            let reach = if network.is_private { Reach::Private } else { Reach::Public };
            (network.digest, reach)
        });
        let joined = self.joins.join(&room.snapshot.room, mode, network);
        let reply = spanned(child(|| SpanBuilder::from_name("join")), joined).await;
        let newcomer = reply.map_err(FlowError::from).and_then(place_of);
        if let (Err(_), Some(mark)) = (&newcomer, spent) {
            // It counts once for each place, and this is none: what an answer that was lost had given, somebody else gets. If
            // this fails, there is another one to solve.
            let _ = self.spends.take_back(&room.snapshot.room, mark).await;
        }
        newcomer.map(Some)
    }

    /// The ciphers of `room` in `reset_epoch`: Redis may be ahead of the snapshot.
    fn ciphers_of(&self, room: &RoomContext, reset_epoch: u64) -> Arc<RoomCiphers> {
        if room.ciphers.reset_epoch == reset_epoch {
            return Arc::clone(&room.ciphers);
        }
        self.ciphers.get(&room.snapshot.room, reset_epoch)
    }
}

/// Redis did not answer whether the caller has a place: it gets no other one, though Redis may answer by now.
fn unopened() -> FlowError {
    StoreError::Unavailable("whether a ticket is of the room cannot be asked".into()).into()
}

/// The newcomer, unless its network has reached a limit.
fn place_of(reply: JoinReply) -> Result<Newcomer, FlowError> {
    match reply {
        JoinReply::Joined(newcomer) => Ok(newcomer),
        JoinReply::OverLimit { limit, wait_s } => Err(FlowError::OverLimit { limit, wait_s }),
    }
}
