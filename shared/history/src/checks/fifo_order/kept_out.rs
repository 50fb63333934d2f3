//! Whom their networks keep out, or may: these are not at the door.

use rustc_hash::FxHashSet;

use super::is_kept_out;
use crate::{Claimed, ClaimedAs, Event, Joined, JoinedAs, NetworksJoined, What};

/// Whom their networks may keep out, since the last reset.
#[derive(Debug, Clone, Default)]
pub(super) struct KeptOut {
    reset_epoch: u64,
    /// The networks of which somebody has entered.
    entered: FxHashSet<u64>,
    /// The positions of newcomers from those who got no seat, and of those who were kept out.
    pub(super) positions: FxHashSet<u64>,
}

// === impl KeptOut ===

impl KeptOut {
    pub(super) fn learn(&mut self, event: &Event) {
        if let Some(reset_epoch) = event.reset_epoch().filter(|epoch| *epoch > self.reset_epoch) {
            *self = Self { reset_epoch, ..Self::default() };
        }
        match &event.what {
            What::Joined(Joined { networks: Some(networks), .. }) => self.join(networks),
            What::Claimed(claimed) => self.claim(claimed),
            _ => {}
        }
    }

    fn join(&mut self, NetworksJoined { limits, newcomers }: &NetworksJoined) {
        if limits.seats.is_none() || limits.only_logs {
            return;
        }
        for (network, became) in newcomers {
            match became {
                JoinedAs::Seated(_) => drop(self.entered.insert(*network)),
                JoinedAs::Placed(number) if self.entered.contains(network) => {
                    self.positions.insert(*number);
                }
                _ => {}
            }
        }
    }

    fn claim(&mut self, claimed: &Claimed) {
        let Some(position) = claimed.position else { return };
        if is_kept_out(claimed) {
            self.positions.insert(position);
        } else {
            self.positions.remove(&position);
        }
        let in_vain = matches!(claimed.outcome, ClaimedAs::NoSeat | ClaimedAs::NotServed);
        self.entered.extend(claimed.network.filter(|_| !in_vain).map(|claims| claims.network));
    }
}
