//! Who comes to the rooms of a run: drawn under the seed, each from a generator of its own, so that
//! leaving one out changes nothing for the others.

use std::fmt;

use super::{Stage, Visitor, hostile::Hostility, origin::Origin, person::Person};
use crate::Seed;

/// Who comes.
#[derive(Debug, Clone, Default)]
pub struct Cast(pub Vec<Part>);

/// One who comes.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its number, which also decides its generator.
    pub number: u64,
    /// To which room, by its place in the scenario.
    pub room: usize,
    /// What it does.
    pub role: Role,
    /// From where it calls; `None`: nobody knows, so that nothing of its network is limited.
    pub origin: Option<Origin>,
}

/// What a visitor does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Role {
    /// Waits, enters, leaves.
    Polite(Person),
    /// Uses the AWS-style calls.
    Aws {
        /// When it comes, ms.
        arrives_ms: u64,
        /// How long it waits at most, ms.
        waits_ms: u64,
    },
    /// Does what nobody should.
    Hostile {
        /// When it comes, ms.
        arrives_ms: u64,
        /// What it does.
        hostility: Hostility,
        /// How often.
        times_per_second: u64,
    },
    /// Many clients of one network, who take all that they can get.
    Hoarders {
        /// Which network.
        network: u64,
        /// When they come, ms; how many they are; how often they do something together, a second.
        times: (u64, u64, u64),
    },
    /// Many clients with one ticket.
    Sharers {
        /// As for hoarders.
        times: (u64, u64, u64),
    },
}

/// What a cast is like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CastShape {
    /// How many come.
    pub visitors: u64,
    /// Over how long, ms.
    pub arrive_ms: u64,
    /// How long they stay, ms, about.
    pub stay_ms: u64,
    /// The share of hostile ones.
    pub hostile: f64,
    /// The share of AWS-style clients.
    pub aws: f64,
    /// How many rooms there are.
    pub rooms: usize,
}

// === impl Cast ===

impl Cast {
    /// Draws up a cast.
    #[must_use]
    pub fn draw(seed: Seed, shape: &CastShape) -> Self {
        Self((0..shape.visitors).map(|number| Part::draw(seed, shape, number)).collect())
    }

    /// Whether some of them take places that nobody will use.
    #[must_use]
    pub fn has_ghosts(&self) -> bool {
        use Hostility::{Hoards, SendsAwsGhosts, SendsGhosts};
        self.0.iter().any(|part| match part.role {
            Role::Hostile { hostility, .. } => {
                matches!(hostility, Hoards | SendsGhosts | SendsAwsGhosts)
            }
            Role::Hoarders { .. } => true,
            Role::Polite(_) | Role::Aws { .. } | Role::Sharers { .. } => false,
        })
    }

    /// Whether it is known from where some of them call.
    #[must_use]
    pub fn has_networks(&self) -> bool {
        self.0.iter().any(|part| part.origin.is_some())
    }
}

// === impl Part ===

impl Part {
    fn draw(seed: Seed, shape: &CastShape, number: u64) -> Self {
        let mut chance = seed.chance("part", number);
        let room = usize::try_from(chance.within(0..shape.rooms as u64)).unwrap_or(0);
        // Half of them come in a rush at the begin.
        let over_ms = if chance.happens(0.5) { shape.arrive_ms / 8 } else { shape.arrive_ms };
        let arrives_ms = chance.within(0..over_ms.max(1));
        let role = if chance.happens(shape.hostile) {
            let hostility = *chance.one_of(&Hostility::ALL);
            let times_per_second = *chance.one_of(&[1, 5, 20]);
            Role::Hostile { arrives_ms, hostility, times_per_second }
        } else if chance.happens(shape.aws) {
            Role::Aws { arrives_ms, waits_ms: chance.within(5_000..120_000) }
        } else {
            Role::Polite(Person::some(&mut chance, arrives_ms, shape.stay_ms))
        };
        Self { number, room, role, origin: None }
    }

    /// Plays the part on `stage`.
    pub(crate) async fn play(self, stage: Stage, seed: Seed) {
        let chance = seed.chance("visitor", self.number);
        let visitor = |word: &str, honest| {
            let name = format!("{word}-{}", self.number);
            Visitor::new(stage, &name, chance, honest).coming_from(self.origin)
        };
        match self.role {
            Role::Polite(person) => visitor("visitor", true).be_polite(person).await,
            Role::Aws { arrives_ms, waits_ms } => {
                visitor("aws", true).be_aws_style(arrives_ms, waits_ms).await;
            }
            Role::Hostile { arrives_ms, hostility, times_per_second } => {
                let hostile = visitor("hostile", false);
                hostile.be_hostile(arrives_ms, hostility, times_per_second).await;
            }
            Role::Hoarders { network, times } => {
                visitor("hoarders", false).hoard_in(network, times).await;
            }
            Role::Sharers { times } => visitor("sharers", false).share(times).await,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "visitor {} in room {}: {:?}", self.number, self.room, self.role)
    }
}
