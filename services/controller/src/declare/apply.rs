//! Applying a document: everything is checked before anything is changed, and no two applies run at a time. Each room is
//! changed in one step; should Redis fail in between, those before are changed, which is said, and the same document can
//! be applied again.

use std::collections::BTreeMap;

use serde_json::json;
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::block_in_place,
};
use vestibule_domain::{FieldError, LabelSelector, RoomId, access::Role, schedule::RoomConfig};
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, ProblemType};

use super::{
    beacons::NewRounds,
    check::{error, errors_of_names, errors_of_room, errors_of_routes},
    plan::{plan, pruned},
};
use crate::{
    access::Caller,
    api_types::{Action, Declaration, DeclaredRoom, People, Plan, Step, refuse},
    audit::Trail,
    rooms::{ApplyLease, Rollout, RoomError, require_event_id},
    state::Controller,
};

/// What shall be done.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    /// The rooms.
    pub(crate) declared: Declaration,
    /// What is wrong with the document itself.
    pub(crate) errors: Vec<FieldError>,
    /// Which rooms are deleted that are not in it.
    pub(crate) prune: Option<LabelSelector>,
    /// How many people may lose their place or their seat by that.
    pub(crate) prune_occupied: u64,
    /// Whether it is only looked at.
    pub(crate) dry_run: bool,
}

/// One apply under way.
struct Apply<'a> {
    controller: &'a Controller,
    caller: &'a Caller,
    order: &'a Order,
    now_s: u64,
}

/// How far it is.
struct Progress {
    /// The rooms that are as they shall be.
    done: Vec<RoomId>,
    /// How many more people may lose their place or their seat.
    people: u64,
}

/// Does what is ordered, and tells what that was.
///
/// # Errors
/// Everything that is wrong, with its path; what the caller may not do; that people are in a room that is to be deleted;
/// another apply under way. Then nothing was changed. What fails later has the member `done`: the rooms that were changed.
pub(crate) async fn apply(
    controller: &Controller,
    caller: &Caller,
    trail: &Trail,
    order: &Order,
) -> Result<(Plan, Rollout), Problem> {
    trail.divide();
    if !order.dry_run {
        caller.require(Role::Operator)?;
    }
    controller.rooms.require_whole_keyspace().await?;
    let now_s = controller.rooms.now_ms().await? / 1000;
    let apply = Apply { controller, caller, order, now_s };
    apply.require_rooms()?;
    if order.dry_run {
        let plan = apply.plan().await?;
        let unasked_beacons = apply.require_future_rounds().await?;
        return Ok((Plan { dry_run: true, unasked_beacons, ..plan }, Rollout::Complete));
    }
    apply.require_future_rounds_of_a_sound_document().await?;
    let mut lease = controller.configs.begin_apply().await?;
    let done = apply.run(&mut lease, trail).await;
    controller.configs.end_apply(lease).await;
    done
}

// === impl Apply ===

impl Apply<'_> {
    /// Refuses rooms that the caller's token is not for.
    fn require_rooms(&self) -> Result<(), Problem> {
        let rooms = self.order.declared.rooms.keys();
        let refused = rooms.filter_map(|room| {
            let refused = self.caller.require_room(room.as_str()).err()?;
            Some(error("rooms", room.as_str(), refused.to_string()))
        });
        refuse(Problem::new(ProblemType::Forbidden), refused.collect())
    }

    /// What is to be done, if it can be done.
    async fn plan(&self) -> Result<Plan, Problem> {
        let Order { declared, prune, .. } = self.order;
        let configs = self.configs().await?;
        self.require_event_ids(&configs)?;
        let mut errors = self.order.errors.clone();
        errors.extend(at_length(|| self.errors_of_rooms(&configs)));
        let mut own = configs.clone();
        own.retain(|room, _| self.caller.rooms.covers(room.as_str()));
        let goes: Vec<_> = pruned(declared, &own, prune.as_ref()).collect();
        let stays = |name: &RoomId| !declared.rooms.contains_key(name) && !goes.contains(&name);
        let others = || configs.iter().filter(|(name, _)| stays(name));
        let bindings = others().map(|(name, config)| (name, &config.binding));
        errors.extend(at_length(|| errors_of_routes(declared, self.caller, &configs, bindings)));
        let stay = others().map(|(name, config)| (name.clone(), config.clone()));
        let after: BTreeMap<_, _> = stay.chain(self.declared(&configs)).collect();
        let tokens = self.controller.rooms.tokens_until(configs_that_are(&after, &configs)).await?;
        errors.extend(at_length(|| {
            errors_of_names(declared, self.caller, &after, &configs, &tokens, self.now_s)
        }));
        refuse(invalid(), errors)?;
        let mut plan = at_length(|| plan(declared, &own, prune.as_ref()));
        for step in plan.steps.iter_mut().filter(|step| step.action == Action::Delete) {
            step.people = Some(self.people(&step.room).await?);
        }
        Ok(plan)
    }

    /// What is wrong with each room by itself.
    fn errors_of_rooms(&self, configs: &BTreeMap<RoomId, RoomConfig>) -> Vec<FieldError> {
        let of_room = |(name, room): (&RoomId, &DeclaredRoom)| {
            let before = configs.get(name);
            let found = errors_of_room(room, before, self.now_s).into_iter();
            let was = before.map(|before| &before.settings);
            let issuer = self.controller.issuers.error_of_room(was, &room.draft.settings);
            let at_room =
                |FieldError { field, reason }| error(&format!("rooms.{name}"), &field, reason);
            found.chain(issuer).map(at_room).collect::<Vec<_>>()
        };
        self.order.declared.rooms.iter().flat_map(of_room).collect()
    }

    /// Declared rooms as they will be.
    fn declared<'a>(
        &'a self,
        configs: &'a BTreeMap<RoomId, RoomConfig>,
    ) -> impl Iterator<Item = (RoomId, RoomConfig)> {
        self.order.declared.rooms.iter().map(|(name, room)| {
            let before = configs.get(name).cloned().unwrap_or_default();
            let mut config = before.clone();
            room.put_into(&mut config);
            config.note_given_up(&before, self.now_s);
            (name.clone(), config)
        })
    }

    /// Refuses event ids that could be names of rooms that the caller's token is not for.
    fn require_event_ids(&self, configs: &BTreeMap<RoomId, RoomConfig>) -> Result<(), Problem> {
        let refused = self.declared(configs).filter_map(|(room, config)| {
            let refused = require_event_id(self.caller, configs.get(&room), &config).err()?;
            Some(error(&format!("rooms.{room}"), "aws_event_id", refused.to_string()))
        });
        refuse(Problem::new(ProblemType::Forbidden), refused.collect())
    }

    async fn configs(&self) -> Result<BTreeMap<RoomId, RoomConfig>, Problem> {
        let configs = self.controller.rooms.latest_configs().await;
        Ok(configs.map_err(|error| problem_of(&error))?.into_iter().collect())
    }

    /// Asks beacons before the lease is taken, which they could hold up, and only if everything else is well: a document is
    /// worth no question that is refused anyway.
    async fn require_future_rounds_of_a_sound_document(&self) -> Result<(), Problem> {
        if !self.order.declared.names_beacons() {
            return Ok(());
        }
        let plan = self.plan().await?;
        self.require_role(&plan)?;
        self.require_few_people(&plan)?;
        self.require_future_rounds().await.map(drop)
    }

    /// Refuses new rounds of beacons that are public already: an operator could choose among them. For a viewer nobody is
    /// asked; returns how many would have been.
    async fn require_future_rounds(&self) -> Result<usize, Problem> {
        if !self.order.declared.names_beacons() {
            return Ok(0);
        }
        let rounds = NewRounds::of(&self.order.declared, &self.configs().await?);
        if self.caller.require(Role::Operator).is_err() {
            return Ok(rounds.count());
        }
        refuse(invalid(), rounds.errors(&self.controller.configs.future_rounds).await)?;
        Ok(0)
    }

    async fn people(&self, room: &RoomId) -> Result<People, Problem> {
        match self.controller.rooms.read(room).await {
            Ok(room) => {
                Ok(People { waiting: room.waiting(), inside: room.active + room.unconfirmed })
            }
            // Deleted by somebody else meanwhile.
            Err(RoomError::Unknown) => Ok(People { waiting: 0, inside: 0 }),
            Err(error) => Err(error.into()),
        }
    }

    /// Carries it out, while nobody else applies anything.
    async fn run(&self, lease: &mut ApplyLease, trail: &Trail) -> Result<(Plan, Rollout), Problem> {
        let plan = self.plan().await?;
        self.require_role(&plan)?;
        self.require_few_people(&plan)?;
        let mut progress = Progress { done: Vec::new(), people: self.order.prune_occupied };
        let mut failed = None;
        for step in &plan.steps {
            match self.take(step, lease, &progress, &trail.of_room(step.room.as_str())).await {
                Ok(people) => {
                    progress.people = progress.people.saturating_sub(people);
                    progress.done.push(step.room.clone());
                }
                Err(problem) => {
                    failed = Some(problem);
                    break;
                }
            }
        }
        let done = progress.done;
        let rollout = self.controller.configs.roll_out_all(&done).await;
        match failed {
            None => Ok((plan, rollout)),
            Some(problem) if done.is_empty() => Err(problem),
            Some(problem) => Err(problem.member("done", json!(done))),
        }
    }

    /// Creating and deleting rooms is for admins.
    fn require_role(&self, plan: &Plan) -> Result<(), Problem> {
        let only_changes = |step: &&Step| step.action != Action::Change;
        let Some(step) = plan.steps.iter().find(only_changes) else { return Ok(()) };
        let refused = self.caller.require(Role::Admin).err();
        let errors = refused.map(|refused| error("rooms", step.room.as_str(), refused.to_string()));
        let forbidden = Problem::new(ProblemType::Forbidden).detail("nothing was changed");
        refuse(forbidden, errors.into_iter().collect())
    }

    fn require_few_people(&self, plan: &Plan) -> Result<(), Problem> {
        let occupied = plan.steps.iter().filter_map(|step| Some((step, step.people?)));
        let occupied: Vec<_> = occupied.filter(|(_, people)| people.count() > 0).collect();
        let count = occupied.iter().fold(0, |sum, (_, people)| people.count().saturating_add(sum));
        if count <= self.order.prune_occupied {
            return Ok(());
        }
        let errors = occupied.into_iter().map(|(step, People { waiting, inside })| {
            let reason = format!("would be deleted with {waiting} who wait and {inside} inside");
            error("rooms", step.room.as_str(), reason)
        });
        let detail = format!(
            "{count} people would lose their place or their seat; nothing was changed. If that is meant, say \
             `prune_occupied={count}` (at a terminal `--prune-occupied {count}`), or more, since more may come"
        );
        refuse(Problem::new(ProblemType::Conflict).detail(detail), errors.collect())
    }

    /// Does one step, and returns how many people have lost their place or their seat by it.
    async fn take(
        &self,
        step: &Step,
        lease: &mut ApplyLease,
        progress: &Progress,
        trail: &Trail,
    ) -> Result<u64, Problem> {
        let configs = &self.controller.configs;
        configs.keep_apply(lease).await?;
        let Some(room) = self.order.declared.rooms.get(&step.room) else {
            let Progress { done, people } = progress;
            let gone = configs.prune(trail, &step.room, *people, done).await?;
            trail.done();
            return Ok(gone);
        };
        let change = |config: &mut RoomConfig, is_new: bool| {
            if is_new {
                self.caller.require(Role::Admin)?;
            }
            // Somebody may have changed it meanwhile.
            let before = (!is_new).then_some(&*config);
            let errors = errors_of_room(room, before, self.now_s).into_iter();
            let name = format!("rooms.{}", step.room);
            let at_room = |FieldError { field, reason }| error(&name, &field, reason);
            refuse(invalid(), errors.map(at_room).collect())?;
            room.put_into(config);
            Ok(())
        };
        configs.declare(trail, &step.room, self.now_s, change).await?;
        trail.done();
        Ok(0)
    }
}

/// Does what takes a processor seconds for a long document, and lets others go on meanwhile: whoever leads renews that.
fn at_length<R>(work: impl FnOnce() -> R) -> R {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::CurrentThread => work(),
        _ => block_in_place(work),
    }
}

/// Of rooms as they will be those that there are already.
fn configs_that_are<'a>(
    after: &'a BTreeMap<RoomId, RoomConfig>,
    before: &'a BTreeMap<RoomId, RoomConfig>,
) -> impl Iterator<Item = (&'a RoomId, &'a RoomConfig)> {
    after.iter().filter(|(room, _)| before.contains_key(*room))
}

fn invalid() -> Problem {
    Problem::new(ProblemType::InvalidRequest).detail("the document cannot be applied")
}
