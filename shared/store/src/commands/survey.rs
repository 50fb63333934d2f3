//! Surveying: the first half of the leader's tick.

use vestibule_domain::{
    Lease, RoomId, RoomSettings,
    advance::Survey,
    presence::{Crowd, Presence},
    slots::Use,
};

use super::keys;
use crate::{Store, StoreError, keys::Part, scripts};

/// Records of AWS-style tokens are kept this long after they expired, in seconds: a repeated call
/// still gets the same answer, and the operator's list still names them.
const TOKENS_KEPT_SECONDS: u64 = 24 * 3600;

/// A survey, and what the leader needs besides the plan.
#[derive(Debug, Clone)]
pub struct SurveyReport {
    /// What the plan is made from.
    pub survey: Survey,
    /// Sessions that ever began in this room.
    pub admitted: u64,
    /// AWS-style visitors who wait: they do not check in.
    pub unattended: u64,
    /// Leases that have lapsed, to be cleared away.
    pub lapsed: Vec<String>,
}

type Answer =
    (u64, u64, i64, u64, u64, u64, u64, u64, u64, u64, Vec<(String, u64)>, Vec<(u64, u64, u64)>);

impl Store {
    /// Lets go of what has run out in a room, and says how it stands. Refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`], or as for every call to Redis.
    pub async fn survey(
        &self,
        room: &RoomId,
        settings: &RoomSettings,
        epoch: u64,
    ) -> Result<SurveyReport, StoreError> {
        let parts = [
            Part::Line,
            Part::Sessions,
            Part::Records,
            Part::Tokens,
            Part::Settings,
            Part::Rate,
            Part::Rows,
            Part::Served,
            Part::Door,
            Part::Presence,
            Part::Unattended,
        ];
        let mut call = self.timed(&scripts::SURVEY, &keys(room, parts));
        call.arg(epoch).arg(TOKENS_KEPT_SECONDS);
        Ok(report(self.run(&call).await?, settings))
    }
}

fn report(answer: Answer, settings: &RoomSettings) -> SurveyReport {
    let (now_ms, queue_counter, serving, expired_position, active, last_minute, ..) = answer;
    let (.., promised, promised_at_ms, presence_from, admitted, fields, unattended) = answer;
    let mut lapsed = Vec::new();
    let mut crowds: Vec<_> = unattended
        .iter()
        .map(|(first, last, count)| Crowd { first: *first, last: *last, count: *count })
        .collect();
    for (field, count) in fields {
        match field.parse::<Lease>() {
            Ok(lease) if !lease.has_lapsed(now_ms) && lease.range().1 > expired_position => {
                crowds.push(lease.crowd(count));
            }
            _ => lapsed.push(field),
        }
    }
    let survey = Survey {
        now_ms,
        queue_counter,
        serving_counter: u64::try_from(serving).unwrap_or(0),
        expired_position,
        usage: Use {
            ceiling: settings.total_active_users,
            active,
            rate: settings.new_users_per_minute,
            admitted_last_minute: last_minute,
        },
        held: settings.queue_all || settings.suspended || serving < 0,
        promised,
        promised_at_ms,
        presence_incomplete_until_ms: presence_from,
        presence: Presence::new(crowds, queue_counter),
    };
    let unattended = unattended.iter().map(|(_, _, count)| count).sum();
    SurveyReport { survey, admitted, unattended, lapsed }
}
