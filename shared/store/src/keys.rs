//! The one place that spells Redis keys.
//!
//! All keys of a room carry the hash tag `{room}`, so that its scripts run on one shard of a
//! cluster and rooms spread over the shards. All other keys carry `{deployment}`.
//!
//! | key | type | expires | what |
//! |---|---|---|---|
//! | `vestibule:room:{R}:line` | hash | no | counters and epochs of the line |
//! | `vestibule:room:{R}:settings` | hash | no | settings and events as JSON; the phase under way and the next, as the scripts need them; `created_epoch`: the room's first reset epoch, unless it was lost |
//! | `vestibule:room:{R}:sessions` | sorted set | swept | queue number → last ms of its session |
//! | `vestibule:room:{R}:records` | hash | swept | queue number → the record of its token |
//! | `vestibule:room:{R}:tokens` | sorted set | swept | queue number → expiry of its AWS-style tokens |
//! | `vestibule:room:{R}:entered:C` | bitmap | no | one bit per position whose visitor has entered or left; chunk C |
//! | `vestibule:room:{R}:entered:pools:C` | bitmap | no | one bit per number that was given up while it waited for a draw |
//! | `vestibule:room:{R}:unattended:C` | bitmap | no | one bit per number of an AWS-style visitor who has not entered |
//! | `vestibule:room:{R}:there:L:B:G:C` | bitmap | three generations | one bit per place that has checked in: in the line or a pool L, band B, generation G |
//! | `vestibule:room:{R}:scratch:N` | bitmap | in the script | sums of such bitmaps |
//! | `vestibule:room:{R}:rate` | hash | rolls | admissions of the last 60 s in 100 ms buckets |
//! | `vestibule:room:{R}:rows` | sorted set | swept | serving counter → when it was reached |
//! | `vestibule:room:{R}:grants` | hash | each tick | region → slots for its newcomers |
//! | `vestibule:room:{R}:draws` | hash | no | draw id → its published record, JSON |
//! | `vestibule:room:{R}:door` | sorted set | swept | position → its rank among those who keep asking for a seat |
//! | `vestibule:room:{R}:asked` | sorted set | swept | position → until when its last request was open |
//! | `vestibule:room:{R}:passed` | sorted set | swept | position → when somebody higher passed it at the door |
//! | `vestibule:room:{R}:seatless` | sorted set | swept | position → when it last asked and found no seat; `w` and position → when it last waited without asking; `h` and position → when it last asked for a hold it might not have |
//! | `vestibule:room:{R}:holds` | sorted set | swept | position → until when a seat is or was held for it |
//! | `vestibule:room:{R}:traffic` | hash | moved | minutes not yet closed into the history |
//! | `vestibule:room:{R}:counts` | hash | moved | what else was counted in minutes not yet closed: see `scripts/lib/counts.lua` |
//! | `vestibule:room:{R}:history:D` | hash | 2 days | newcomers and admissions by closed minutes of day D (days since 1970) |
//! | `vestibule:room:{R}:minutes:D` | hash | 2 days | hour → rows of other figures by closed minutes of day D: see `scripts/lib/ledger.lua` |
//! | `vestibule:room:{R}:ledger:D` | hash | 31 days | hour → rows of all figures by five minutes of day D |
//! | `vestibule:room:{R}:ended` | sorted set | swept | queue number of a session that was ended → when its last token expires |
//! | `vestibule:room:{R}:calls` | sorted set | 15 days | what follows it in the name of a key, below, that moves with the room → until when that lasts, ms: see `scripts/lib/listed.lua` |
//! | `vestibule:room:{R}:calls:E:N` | string | 60 s | what the call named N was answered in reset epoch E, JSON |
//! | `vestibule:room:{R}:calls:inlet:period:P` | string | two periods and 10 min | what became of the period P of the periodic inlet, JSON |
//! | `vestibule:room:{R}:inlet` | hash | no | how the alarm stands that stops the periodic inlet (`alarm`), and of which moment that is (`at_ms`) |
//! | `vestibule:room:{R}:networks` | sorted set | 15 days | the same of networks' seats |
//! | `vestibule:room:{R}:networks:E:P` | hash | 2 h 20 min | digest of a network -> its newcomers and places of period P (70 min), in reset epoch E |
//! | `vestibule:room:{R}:networks:E:seats:D` | sorted set | 6 h | number -> end of its session, ms, of the network with digest D |
//! | `vestibule:room:{R}:calls:spent:M` | set | a minute after all in it | solutions and passes that were used, of those that expire in minute M (since 1970) |
//! | `vestibule:room:{R}:revoked:E` | sorted set | 1 day | queue number of a place that an operator has revoked in reset epoch E -> when, ms; the newest 10,000 |
//! | `vestibule:room:{R}:testimony` | hash | 1 h | `round`: of the leader's questions; `by:` and instance → what it has seen of the room, JSON |
//! | `vestibule:room:{R}:testimony:T:N` | string | 1 h | page N of what was told under the name T: seats and endings, JSON; or the bits of places of one chunk |
//! | `vestibule:{deployment}:rooms` | set | no | the rooms there are |
//! | `vestibule:{deployment}:tombstones` | hash | 31 days | room that was deleted → its reset epoch then |
//! | `vestibule:{deployment}:burials` | sorted set | 31 days | such a room → when it was deleted: revisions, which rise |
//! | `vestibule:{deployment}:schema` | string | no | the keyspace's version |
//! | `vestibule:{deployment}:import` | string | until all is there | a restore has begun here: what there is may be a part of it |
//! | `vestibule:{deployment}:keys` | string | no | the sealed key ring, JSON |
//! | `vestibule:{deployment}:regions` | hash | no | region → its index in request ids |
//! | `vestibule:{deployment}:lease` | string | 2 s | the leading controller |
//! | `vestibule:{deployment}:lease-length` | string | 2 s | for how long it was given the lease, ms |
//! | `vestibule:{deployment}:epoch` | string | no | the leader's fencing epoch |
//! | `vestibule:{deployment}:controllers` | sorted set | swept | controller → when it asked for the lease last |
//! | `vestibule:{deployment}:term` | hash | 2 s | the leader's term: its holder, its epoch, who serves rooms in it |
//! | `vestibule:{deployment}:routes` | string | 10 s | the caller that may change routes now |
//! | `vestibule:{deployment}:routes-length` | string | 10 s | for how long, ms |
//! | `vestibule:{deployment}:routes-epoch` | string | no | counts such changes |
//! | `vestibule:{deployment}:routes-changed` | sorted set | newest 1000 | room → when such a change of it was begun last, ms |
//! | `vestibule:{deployment}:config-changes` | sorted set | newest 1000 | room → revision of its last change of config |
//! | `vestibule:{deployment}:clock` | hash | no | the deployment's time when it was told last, and how far it is ahead of the server's clock, ms |
//! | `vestibule:{deployment}:formats` | hash | swept | instance → when it was last seen, and which formats it reads |
//! | `vestibule:{deployment}:stops` | hash | 1 day | instance that has stopped and told all that it had seen → when, and to which server process |
//! | `vestibule:{deployment}:servers` | hash | 1 day | server process → when a service announced itself to it first, and last, ms |
//! | `vestibule:{deployment}:api-tokens` | string | no | the tokens that were made by calls, JSON: their hashes, and those that were revoked |
//! | `vestibule:{deployment}:audit` | sorted set | capped | what was changed by whom, JSON → its id |
//! | `vestibule:{deployment}:audit-bytes` | string | no | how many bytes these entries have |
//! | `vestibule:{deployment}:visits-audit` | sorted set | capped | the same of calls for single visitors |
//! | `vestibule:{deployment}:visits-audit-bytes` | string | no | how many bytes these entries have |
//! | `vestibule:{deployment}:webhooks` | string | no | who is told of events, JSON; secrets are sealed |
//! | `vestibule:{deployment}:outbox` | stream | capped | events that webhooks are told: nth, id, kind, room, body; three days |
//! | `vestibule:{deployment}:visits-outbox` | stream | capped | the same of single visitors |
//! | `vestibule:{deployment}:observed` | hash | no | room, counter or alarm → how the leader has seen it last, JSON |
//! | `vestibule:{deployment}:deliveries` | hash | no | webhook, or its name and `:visitors` → how far it was told, JSON |
//! | `vestibule:{deployment}:admissions` | hash | swept | admission → when it was last seen, and the revision it applies |
//!
//! The channels of pushes are below. A room of a Cluster has one of its own, `vestibule:room:{R}:pushes`.

use vestibule_domain::RoomId;

// Scripts push by the kinds of `CHANNELS`: see `scripts/lib/push.lua`.

/// Channel on which snapshots are pushed, as JSON.
pub(crate) const SNAPSHOTS: &str = "vestibule:snapshots";
/// Channel on which differences from snapshots are pushed, as JSON: a release that reads none does not hear them.
pub(crate) const DIFFERENCES: &str = "vestibule:differences";
/// Channel on which the names of deleted rooms are pushed.
pub(crate) const DELETIONS: &str = "vestibule:deletions";
/// Channel on which ended sessions are pushed, as JSON.
pub(crate) const ENDINGS: &str = "vestibule:endings";
/// Channel on which is pushed what operators' calls were answered, as JSON.
pub(crate) const CALLS: &str = "vestibule:calls";
/// Channel on which the names of rooms are pushed whose config was changed.
pub(crate) const CHANGES: &str = "vestibule:changes";

/// Channel on which the names of rooms are pushed of which a service has told what it has seen.
pub(crate) const TESTIMONIES: &str = "vestibule:testimonies";
/// Channel on which the names of rooms are pushed whose state in Redis may not be the latest.
pub(crate) const ALARMS: &str = "vestibule:alarms";
/// Channel on which the names of rooms are pushed that rested, and that somebody has changed.
pub(crate) const WAKES: &str = "vestibule:wakes";

/// What is pushed, by its kind, and the channel on which everybody hears it. On a Cluster, what is of a room is pushed on
/// [`RoomKeys::pushes`] instead, where the kind comes first, and then a space.
pub(crate) const CHANNELS: [(&str, &str); 9] = [
    ("snapshots", SNAPSHOTS),
    ("differences", DIFFERENCES),
    ("deletions", DELETIONS),
    ("endings", ENDINGS),
    ("calls", CALLS),
    ("changes", CHANGES),
    ("testimonies", TESTIMONIES),
    ("alarms", ALARMS),
    ("wakes", WAKES),
];
/// Sharded channel of no room, by which a service finds out whether it may use such channels.
pub(crate) const ATTEMPTS: &str = "vestibule:{deployment}:attempts";

/// A key that is never written, of the shard that this number comes to: see `name_server.lua`.
pub(crate) fn probe(number: usize) -> String {
    format!("vestibule:probe:{{{number}}}")
}

pub(crate) const ROOMS: &str = "vestibule:{deployment}:rooms";
pub(crate) const TOMBSTONES: &str = "vestibule:{deployment}:tombstones";
pub(crate) const BURIALS: &str = "vestibule:{deployment}:burials";
pub(crate) const SCHEMA: &str = "vestibule:{deployment}:schema";
pub(crate) const IMPORT: &str = "vestibule:{deployment}:import";
pub(crate) const KEY_RING: &str = "vestibule:{deployment}:keys";
pub(crate) const REGIONS: &str = "vestibule:{deployment}:regions";
pub(crate) const LEASE: &str = "vestibule:{deployment}:lease";
pub(crate) const LEASE_LENGTH: &str = "vestibule:{deployment}:lease-length";
pub(crate) const EPOCH: &str = "vestibule:{deployment}:epoch";
pub(crate) const CONTROLLERS: &str = "vestibule:{deployment}:controllers";
pub(crate) const TERM: &str = "vestibule:{deployment}:term";
pub(crate) const ROUTES_LEASE: &str = "vestibule:{deployment}:routes";
pub(crate) const ROUTES_LENGTH: &str = "vestibule:{deployment}:routes-length";
pub(crate) const ROUTES_EPOCH: &str = "vestibule:{deployment}:routes-epoch";
pub(crate) const ROUTES_CHANGED: &str = "vestibule:{deployment}:routes-changed";
pub(crate) const CONFIG_CHANGES: &str = "vestibule:{deployment}:config-changes";
pub(crate) const CLOCK: &str = "vestibule:{deployment}:clock";
pub(crate) const FORMATS: &str = "vestibule:{deployment}:formats";
pub(crate) const STOPS: &str = "vestibule:{deployment}:stops";
pub(crate) const SERVERS: &str = "vestibule:{deployment}:servers";
pub(crate) const ADMISSIONS: &str = "vestibule:{deployment}:admissions";
pub(crate) const API_TOKENS: &str = "vestibule:{deployment}:api-tokens";
pub(crate) const WEBHOOKS: &str = "vestibule:{deployment}:webhooks";
pub(crate) const OUTBOX: &str = "vestibule:{deployment}:outbox";
pub(crate) const VISITS_OUTBOX: &str = "vestibule:{deployment}:visits-outbox";
pub(crate) const OBSERVED: &str = "vestibule:{deployment}:observed";
pub(crate) const DELIVERIES: &str = "vestibule:{deployment}:deliveries";
pub(crate) const AUDIT: &str = "vestibule:{deployment}:audit";
pub(crate) const AUDIT_BYTES: &str = "vestibule:{deployment}:audit-bytes";
pub(crate) const VISITS_AUDIT: &str = "vestibule:{deployment}:visits-audit";
pub(crate) const VISITS_AUDIT_BYTES: &str = "vestibule:{deployment}:visits-audit-bytes";

/// One kind of data that a room has in Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Line,
    Settings,
    Sessions,
    Records,
    Tokens,
    Entered,
    Unattended,
    Rate,
    Rows,
    Grants,
    Draws,
    Door,
    Asked,
    Passed,
    Seatless,
    Holds,
    There,
    Scratch,
    Traffic,
    Ended,
    Testimony,
    Calls,
    Networks,
    Revoked,
    Counts,
    Inlet,
}

/// The keys of one room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoomKeys<'a>(pub(crate) &'a RoomId);

// === impl Part ===

impl Part {
    /// All parts of a room.
    pub(crate) const ALL: [Self; 26] = [
        Self::Inlet,
        Self::Draws,
        Self::Networks,
        Self::Revoked,
        Self::Counts,
        Self::Line,
        Self::Settings,
        Self::Sessions,
        Self::Records,
        Self::Tokens,
        Self::Entered,
        Self::Unattended,
        Self::Rate,
        Self::Rows,
        Self::Grants,
        Self::Door,
        Self::Asked,
        Self::Passed,
        Self::Seatless,
        Self::Holds,
        Self::There,
        Self::Scratch,
        Self::Traffic,
        Self::Ended,
        Self::Testimony,
        Self::Calls,
    ];

    /// The keys of the scripts that begin a line anew, a reset's and the one that finds that there was one: all but
    /// the inlet's alarm, which is not of the line, the draws, and what networks had and who was revoked, whose keys say
    /// the epoch. They delete all of these but the settings, the rate, what was counted, what services have told, and the
    /// list of calls.
    pub(crate) const RESET: &[Self] = Self::ALL.split_at(4).1;
    /// The same, but for what was counted.
    pub(crate) const RECONCILE: &[Self] = Self::ALL.split_at(5).1;

    /// Its name in its key, and in scripts. The keys of [`Self::Entered`], [`Self::Unattended`],
    /// [`Self::There`] and [`Self::Scratch`] only begin with it: scripts add which chunk it is of; those of
    /// [`Self::Calls`], which call; those of [`Self::Networks`], which period or network; those of [`Self::Revoked`],
    /// which epoch.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Settings => "settings",
            Self::Sessions => "sessions",
            Self::Records => "records",
            Self::Tokens => "tokens",
            Self::Entered => "entered",
            Self::Unattended => "unattended",
            Self::Rate => "rate",
            Self::Rows => "rows",
            Self::Grants => "grants",
            Self::Draws => "draws",
            Self::Door => "door",
            Self::Asked => "asked",
            Self::Passed => "passed",
            Self::Seatless => "seatless",
            Self::Holds => "holds",
            Self::There => "there",
            Self::Scratch => "scratch",
            Self::Traffic => "traffic",
            Self::Ended => "ended",
            Self::Testimony => "testimony",
            Self::Calls => "calls",
            Self::Networks => "networks",
            Self::Revoked => "revoked",
            Self::Counts => "counts",
            Self::Inlet => "inlet",
        }
    }
}

// === impl RoomKeys ===

impl RoomKeys<'_> {
    /// The key of one part.
    pub(crate) fn key(self, part: Part) -> String {
        self.named(part.name())
    }

    /// The key whose name ends so.
    pub(crate) fn named(self, end: &str) -> String {
        format!("vestibule:room:{{{}}}:{end}", self.0)
    }

    /// The sharded channel of all that is pushed of the room.
    pub(crate) fn pushes(self) -> String {
        self.named("pushes")
    }

    /// The key of what a call was answered, of this kind and name.
    pub(crate) fn call(self, name: &str) -> String {
        format!("{}:{name}", self.key(Part::Calls))
    }

    /// The key of a page of what a service has told.
    pub(crate) fn testimony_page(self, name: &str, page: usize) -> String {
        format!("{}:{name}:{page}", self.key(Part::Testimony))
    }

    /// The key of the places that were revoked in a reset epoch.
    pub(crate) fn revoked(self, reset_epoch: u64) -> String {
        format!("{}:{reset_epoch}", self.key(Part::Revoked))
    }

    /// The key of the history of a day.
    pub(crate) fn history(self, day: u64) -> String {
        self.named(&format!("history:{day}"))
    }

    /// The key of the other figures of that day, by minutes.
    pub(crate) fn minutes(self, day: u64) -> String {
        self.named(&format!("minutes:{day}"))
    }

    /// The key of all figures of that day, by five minutes.
    pub(crate) fn ledger(self, day: u64) -> String {
        self.named(&format!("ledger:{day}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spelling_is_fixed() {
        let room = RoomId::new("on-sale_1").unwrap();
        let keys = RoomKeys(&room);
        assert_eq!(keys.key(Part::Line), "vestibule:room:{on-sale_1}:line");
        assert_eq!(keys.history(20_000), "vestibule:room:{on-sale_1}:history:20000");
        assert_eq!(keys.pushes(), "vestibule:room:{on-sale_1}:pushes");
    }
}
