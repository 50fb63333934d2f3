//! The promises, one file each. What they share (rules in force, resets, the serving counter) is in
//! `check/facts.rs`.

mod bound_sessions;
mod ceiling;
mod ended_stays_ended;
mod fifo_order;
mod gapless;
mod holds_kept;
mod keys_survive;
mod liveness;
mod network_joins;
mod network_places;
mod network_refusals;
mod network_seats;
mod numbers_keep_meaning;
mod one_session;
mod presence;
mod rate;
mod resets_survive;
mod rooms_survive;
mod serving_counter;
mod settings_survive;
mod suspects;
#[cfg(test)]
mod testing;
mod unique_numbers;
mod waits;

use crate::{
    ClaimedAs, Event, SessionApi, Token, What,
    check::{Check, Facts, Seen},
};

/// The checks of one room.
pub(crate) fn of_a_room() -> Vec<Box<dyn Check>> {
    vec![
        Box::<unique_numbers::UniqueNumbers>::default(),
        Box::<gapless::Gapless>::default(),
        Box::<ceiling::Ceiling>::default(),
        Box::<rate::Rate>::default(),
        Box::<one_session::OneSession>::default(),
        Box::<fifo_order::FifoOrder>::default(),
        Box::<holds_kept::HoldsKept>::default(),
        Box::<serving_counter::ServingCounter>::default(),
        Box::<numbers_keep_meaning::NumbersKeepMeaning>::default(),
        Box::<ended_stays_ended::EndedStaysEnded>::default(),
        Box::<settings_survive::SettingsSurvive>::default(),
        Box::<resets_survive::ResetsSurvive>::default(),
        Box::<rooms_survive::RoomsSurvive>::default(),
        Box::<presence::Presence>::default(),
        Box::<liveness::Liveness>::default(),
        Box::<network_joins::NetworkJoins>::default(),
        Box::<network_places::NetworkPlaces>::default(),
        Box::<network_seats::NetworkSeats>::default(),
        Box::<network_refusals::NetworkRefusals>::default(),
        Box::<bound_sessions::BoundSessions>::default(),
        Box::<waits::Waits>::default(),
    ]
}

/// The checks of the deployment.
pub(crate) fn of_the_deployment() -> Vec<Box<dyn Check>> {
    vec![Box::<keys_survive::KeysSurvive>::default()]
}

/// A token that an event shows to be held: by one visitor, or by several numbers in a row.
struct Holding<'a> {
    /// The reset epoch of the numbers.
    reset_epoch: u64,
    first: u64,
    count: u64,
    token: &'a Token,
    api: SessionApi,
    generation: u32,
    /// Whether the session began with this call.
    is_new: bool,
}

/// What `event` shows of sessions with a seat. Of those who are inside a suspended room nobody
/// counts any.
fn holding(event: &Event) -> Option<Holding<'_>> {
    match &event.what {
        What::Joined(joined) => Some(Holding {
            reset_epoch: joined.reset_epoch,
            first: joined.first,
            count: joined.entered,
            token: joined.token.as_ref().filter(|_| joined.entered > 0 && !joined.suspended)?,
            api: joined.api,
            generation: joined.generation,
            is_new: true,
        }),
        What::Claimed(claimed) => {
            let (token, is_new) = match &claimed.outcome {
                ClaimedAs::Seated(token) => (token, true),
                ClaimedAs::Repeated(token) => (token, false),
                _ => return None,
            };
            Some(Holding {
                reset_epoch: claimed.id_epoch,
                first: claimed.number,
                count: 1,
                token,
                api: claimed.api,
                generation: claimed.generation,
                is_new,
            })
        }
        What::Touched(touched) => Some(Holding {
            reset_epoch: touched.id_epoch,
            first: touched.number,
            count: 1,
            token: touched.token.as_ref()?,
            // Whichever it is, nothing more than renewal can have happened.
            api: SessionApi::Visitor,
            generation: touched.generation,
            is_new: false,
        }),
        _ => None,
    }
}

impl Holding<'_> {
    /// When those who enter by `now` were admitted, at the soonest, ms. A join that is asked again is answered as it was
    /// the first time, and its token says when that was.
    fn admitted_from(&self, now: &Seen<'_>, facts: &Facts) -> u64 {
        let (from, until) = (self.token.issued_at * 1000, (self.token.issued_at + 1) * 1000);
        let is_old = until + facts.bounds.clock_error_ms <= now.began_ms;
        match &now.what {
            What::Joined(joined) if is_old || joined.again => from.min(now.began_ms),
            _ => now.began_ms,
        }
    }

    /// The reset epoch and number of each holder.
    fn holders(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let epoch = self.reset_epoch;
        (self.first..self.first + self.count).map(move |number| (epoch, number))
    }
}

/// The sessions that a call may end, whether its outcome is known or not: reset epoch and numbers.
fn may_end(event: &Event) -> Option<(u64, Vec<u64>)> {
    match &event.what {
        What::Sent(crate::Call::End { reset_epoch, numbers })
        | What::Unknown(crate::Call::End { reset_epoch, numbers }) => {
            Some((*reset_epoch, numbers.clone()))
        }
        What::Ended(ended) => {
            let numbers = ended.sessions.iter().map(|session| session.number);
            Some((ended.reset_epoch, numbers.collect()))
        }
        _ => None,
    }
}
