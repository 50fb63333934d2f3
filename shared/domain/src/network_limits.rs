//! How much of a room one network may have. What a network is, is decided at the edge; the limits are kept by the
//! scripts that hand out numbers and seats.

use serde::{Deserialize, Serialize};

use crate::RoomSettings;

/// What is done about a network that is over a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NetworkLimitMode {
    /// Its visitors are told to come back: 429 and `Retry-After`.
    #[default]
    Enforce,
    /// Nothing but counting it, to learn what is usual.
    Log,
}

/// One of the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NetworkLimit {
    /// `joins_per_network_per_minute`.
    Joins,
    /// `places_per_network`.
    Places,
    /// `seats_per_network`.
    Seats,
}

/// The limits that hold for a client. `None`: no such limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NetworkLimits {
    /// Newcomers in any minute.
    pub joins_per_minute: Option<u64>,
    /// Places in line that were taken within an hour and have not been used or given back.
    pub places: Option<u64>,
    /// Sessions at a time.
    pub seats: Option<u64>,
    /// Whether whoever is over one is only counted.
    pub only_logs: bool,
}

/// Of a carrier's address 128 customers at a time share its ports (some 500 each), so some 33,000 a /24: of these one
/// in 33 may come in the same minute.
pub(crate) const JOINS_PER_MINUTE: Option<u64> = Some(1_000);
/// And one in 13 may wait. A school or an office fits ten times.
pub(crate) const PLACES: Option<u64> = Some(2_500);
/// And one in 66 may be inside; in a room that is not large, fewer: see [`SHARE_OF_SEATS`].
pub(crate) const SEATS: Option<u64> = Some(500);
/// If nobody has decided, a network has no more than this part of a room's seats, so that whoever takes all it can get
/// costs others 2 %; but so many at least, since seats are few in a small room.
const SHARE_OF_SEATS: u64 = 50;
const FEWEST_SEATS: u64 = 20;

// === impl NetworkLimit ===

impl NetworkLimit {
    /// Its name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Joins => "joins_per_network_per_minute",
            Self::Places => "places_per_network",
            Self::Seats => "seats_per_network",
        }
    }
}

// === impl NetworkLimits ===

impl NetworkLimits {
    /// Whether there is none.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.joins_per_minute.is_none() && self.places.is_none() && self.seats.is_none()
    }
}

// === impl RoomSettings ===

impl RoomSettings {
    /// The limits for a client whose network is private or not. What nobody has decided does not hold for private
    /// networks: their addresses are those of a proxy, behind which everybody is, or of an operator's own machines.
    #[must_use]
    pub fn network_limits(&self, is_private: bool) -> NetworkLimits {
        let holds = |limit: Option<u64>, default| limit.filter(|_| !is_private || limit != default);
        NetworkLimits {
            joins_per_minute: holds(self.joins_per_network_per_minute, JOINS_PER_MINUTE),
            places: holds(self.places_per_network, PLACES),
            seats: holds(self.seats_per_network, SEATS).map(|seats| {
                if Some(seats) == SEATS { seats.min(self.share_of_seats()) } else { seats }
            }),
            only_logs: self.network_limit_mode == NetworkLimitMode::Log,
        }
    }

    /// A fiftieth of those who may be inside: by the ceiling, or, by the rate, within one session.
    fn share_of_seats(&self) -> u64 {
        let by_rate =
            self.new_users_per_minute.map(|rate| rate * self.session_duration_seconds / 60);
        let capacity = [self.total_active_users, by_rate].into_iter().flatten().min();
        capacity.map_or(u64::MAX, |seats| (seats / SHARE_OF_SEATS).max(FEWEST_SEATS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_do_not_hold_for_private_networks() {
        let room = RoomSettings::default();
        assert!(room.network_limits(true).are_none());
        let public = room.network_limits(false);
        assert_eq!(
            (public.joins_per_minute, public.places, public.seats),
            (JOINS_PER_MINUTE, PLACES, SEATS)
        );
    }

    #[test]
    fn by_default_a_network_has_a_small_part_of_the_seats() {
        let seats = |ceiling, rate, decided| {
            let room = RoomSettings {
                total_active_users: ceiling,
                new_users_per_minute: rate,
                seats_per_network: decided,
                ..RoomSettings::default()
            };
            room.network_limits(false).seats
        };
        assert_eq!(seats(Some(2_000), None, SEATS), Some(40));
        assert_eq!(seats(Some(100), None, SEATS), Some(20), "some, at least");
        assert_eq!(seats(Some(1_000_000), None, SEATS), SEATS, "and not more than of any room");
        assert_eq!(seats(Some(10_000), Some(600), SEATS), Some(60), "3,000 are inside at a time");
        assert_eq!(seats(None, None, SEATS), SEATS);
        assert_eq!(seats(Some(2_000), None, Some(300)), Some(300));
    }

    #[test]
    fn what_an_operator_decides_holds_everywhere() {
        let room = RoomSettings {
            joins_per_network_per_minute: None,
            places_per_network: Some(7),
            network_limit_mode: NetworkLimitMode::Log,
            ..RoomSettings::default()
        };
        let private = room.network_limits(true);
        assert_eq!(
            private,
            NetworkLimits { places: Some(7), only_logs: true, ..NetworkLimits::default() }
        );
        assert_eq!(room.network_limits(false), NetworkLimits { seats: SEATS, ..private });
    }
}
