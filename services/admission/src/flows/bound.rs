//! Whose session it is: what the session of whoever calls is bound to, and whether a ticket's session is bound to
//! somebody else. A stranger is answered as somebody without a ticket, and the holder notices nothing.
//!
//! A ticket carries the binding, so that nobody asks Redis about visitors inside; and the session's record has it, because
//! the ticket of before the claim, which is bound to nothing, may have been handed on as well.

use std::num::NonZeroU64;

use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue},
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};
use vestibule_domain::{BindSessions, Binding, BoundTo};
use vestibule_store::CallerBindings;
use vestibule_token::{Seat, Thumbprint, Ticket};

use super::RoomContext;

/// Counts strangers who present somebody's ticket. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct StrangerCounter(Family<Labels, Counter>);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    reason: Stranger,
}

/// By what a stranger is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
#[expect(non_camel_case_types, reason = "labels")]
pub(crate) enum Stranger {
    /// The ticket is of a session that is bound to another network.
    network,
    /// The same, or to another user agent.
    network_and_agent,
    /// The session that the ticket came to is bound to another client.
    session,
    /// There is no good proof of the key that the session is bound to.
    key,
}

// === impl StrangerCounter ===

impl StrangerCounter {
    /// Registers the counter.
    pub(crate) fn register(&self, registry: &mut Registry) {
        // From the start, so that the first one is seen as a change.
        for reason in
            [Stranger::network, Stranger::network_and_agent, Stranger::session, Stranger::key]
        {
            drop(self.0.get_or_create(&Labels { reason }));
        }
        let help = "Tickets that came from another client than their session is bound to";
        registry.register("strangers_tickets", help, self.0.clone());
    }

    /// Counts one.
    pub(crate) fn count(&self, reason: Stranger) {
        self.0.get_or_create(&Labels { reason }).inc();
    }
}

// === impl RoomContext ===

impl RoomContext {
    /// By what the caller is known to be a stranger to the session of `ticket`; `None`: it is none. Whether it has the key
    /// that a session is bound to is asked elsewhere.
    pub(crate) fn stranger_to(&self, ticket: &Ticket) -> Option<Stranger> {
        let binding = ticket.seat()?.binding?;
        let settings = &self.snapshot.settings;
        let stranger = match (binding.to, settings.bind_sessions) {
            (BoundTo::Network, BindSessions::Network) => Stranger::network,
            (BoundTo::NetworkAndAgent, BindSessions::NetworkAndAgent) => {
                Stranger::network_and_agent
            }
            // What the room asks for no more, or in another way, is put right when the session is renewed.
            _ => return None,
        };
        let is_other = !self.bindings_to(binding.to).contains(&binding);
        is_other.then_some(stranger)
    }

    /// Who the caller is to the script, where it claims: a session that begins is bound to the caller's key, if it has one.
    pub(super) fn claiming(&self) -> CallerBindings {
        self.known_by(&self.new_bindings())
    }

    /// Who the caller is to the script, where it renews the session of `seat`.
    pub(super) fn renewing(&self, seat: &Seat) -> CallerBindings {
        match seat.binding {
            Some(Binding { to: BoundTo::Key, .. }) => {
                self.known_by(&self.bindings_to(BoundTo::Key))
            }
            _ => self.known_by(&self.own_bindings()),
        }
    }

    fn known_by(&self, bindings: &[Binding]) -> CallerBindings {
        if bindings.is_empty() && self.binds_sessions() {
            return CallerBindings::unknown();
        }
        CallerBindings::any_of(bindings)
    }

    /// What a session that the caller begins is bound to.
    pub(super) fn new_binding(&self) -> Option<Binding> {
        self.new_bindings().first().copied()
    }

    fn new_bindings(&self) -> Vec<Binding> {
        [self.bindings_to(BoundTo::Key), self.own_bindings()].concat()
    }

    /// What the session of `seat` is bound to from now on, of which its record says `noted`; while Redis is away, nothing.
    pub(super) fn binding_of(&self, noted: Option<Binding>, seat: &Seat) -> Option<Binding> {
        let key = seat.binding.filter(|binding| binding.to == BoundTo::Key);
        noted.or(key).or_else(|| self.own_bindings().first().copied())
    }

    /// What a session of the caller may be bound to, as the room wants it; under the current secret first.
    fn own_bindings(&self) -> Vec<Binding> {
        match self.snapshot.settings.bind_sessions {
            BindSessions::None => Vec::new(),
            BindSessions::Network => self.bindings_to(BoundTo::Network),
            BindSessions::NetworkAndAgent => self.bindings_to(BoundTo::NetworkAndAgent),
        }
    }

    /// Whether sessions are bound to where their visitors are.
    pub(super) fn binds_sessions(&self) -> bool {
        self.snapshot.settings.bind_sessions != BindSessions::None
    }

    /// Whether the ticket of `seat` says to what the room binds sessions now, or to which key: then it was compared with the
    /// caller where it was opened.
    pub(super) fn is_bound_as_wanted(&self, seat: &Seat) -> bool {
        let wanted = self.snapshot.settings.bind_sessions;
        seat.binding.is_some_and(|binding| match binding.to {
            BoundTo::Key => true,
            BoundTo::Network => wanted == BindSessions::Network,
            BoundTo::NetworkAndAgent => wanted == BindSessions::NetworkAndAgent,
        })
    }

    /// The bindings of this kind that are the caller's; none, if the room does not ask for them, or the caller is not
    /// known.
    pub(crate) fn bindings_to(&self, to: BoundTo) -> Vec<Binding> {
        let asked = match to {
            BoundTo::Network => BindSessions::Network,
            BoundTo::NetworkAndAgent => BindSessions::NetworkAndAgent,
            BoundTo::Key => {
                let key = self.caller.key.as_ref().map(Thumbprint::as_bytes);
                return key.map_or_else(Vec::new, |key| self.digests(to, &[key]));
            }
        };
        if asked != self.snapshot.settings.bind_sessions {
            return Vec::new();
        }
        let Some(network) = self.caller.network.map(|network| network.to_bytes()) else {
            return Vec::new();
        };
        let agent = self.caller.agent.as_ref().map_or(&[][..], |agent| agent.as_bytes());
        match to {
            BoundTo::NetworkAndAgent => self.digests(to, &[&network, agent]),
            BoundTo::Network | BoundTo::Key => self.digests(to, &[&network]),
        }
    }

    fn digests(&self, to: BoundTo, parts: &[&[u8]]) -> Vec<Binding> {
        let purpose = match to {
            BoundTo::Network | BoundTo::NetworkAndAgent => "session",
            BoundTo::Key => "session key",
        };
        let digests = self.ciphers.clients.all(purpose, parts);
        digests
            .filter_map(|digest| Some(Binding { to, digest: NonZeroU64::new(digest)? }))
            .collect()
    }
}
