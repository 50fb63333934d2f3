//! The whole pair in one thread, in virtual time, under one seed: the judge of whether it is right.
//!
//! What runs is what runs in production, without HTTP: the real scripts on a model of Redis, the store,
//! the feed, the batches, the flows and the loops of both services. Around it everything is made up
//! and decided by the seed: the network, the clock, the visitors, the operators, and what goes wrong.
//! After every script the [`Observer`] looks at what Redis holds; the [`History`] of what everybody
//! learnt is judged while it is made. The same seed gives the same run, to the last byte that
//! travels.
//!
//! A [`Scenario`] says all that a run consists of, [`run()`] runs it, and [`shrink()`] makes one that
//! failed small; [`Nights`] are many of them, judged. A [`World`] is for whoever brings visitors of its
//! own. What is *not* simulated: HTTP, the sealing of tickets, signatures, and memory.

mod api;
mod broken;
mod census;
mod chance;
mod deployment;
mod door;
mod faults;
mod history;
mod invariants;
mod limits;
mod machine;
mod network;
mod newcomers;
mod nights;
mod observer;
mod operator;
mod run;
mod scenario;
mod shrink;
mod spare;
mod visitors;
mod world;

pub use vestibule_admission::in_process::{
    Answer, CallError, Carried, Client, Instance as Admission, NewTicket, SlotsTaken, Status,
    VisitorStatus,
};

pub use self::{
    api::Reply,
    broken::Broken,
    chance::{Chance, Seed},
    deployment::{Deployment, Process, Which},
    door::{Door, Failure},
    faults::{Fault, FaultKind, FaultKinds},
    history::History,
    network::{Network, Node, Servers, SimulatedLink, Weather},
    newcomers::{Newcomers, RegionFigures},
    nights::{BrokenNight, Nights, Numbers, Seeds, Selection, Tally},
    observer::Observer,
    operator::{Operation, OperationKind},
    run::{Outcome, in_virtual_time, run},
    scenario::{RoomPlan, Scenario, Shape},
    shrink::{Shrunk, shrink},
    visitors::{
        Cast, CastShape, Habit, Habits, Hostility, Origin, Origins, Part, Person, RegionMix, Role,
        Stage, Visitor,
    },
    world::World,
};
