//! Chaos: both services as the programs that users run, over a real Redis with a replica, while one thing
//! after another goes wrong. Whether every promise was kept is judged from what all instances wrote down,
//! by the judge that also watches the simulation, and from what visitors saw.
//!
//! What the simulation plays thousands of times in virtual time is played here a few times on real
//! processes, sockets, clocks and disks: it shows that the simulation's world is like this one. What a run
//! sets out to do follows from its seed; what then happens is never the same twice.
//!
//! Redis is there in each form in which people run it (`stage/redis.rs`). What was chosen, and why:
//! - A host is a network namespace, where that may be made, and the test runs in a hub between them.
//!   Partitions, one way or both, are rules of the kernel there, so TCP meets what it meets in a real network
//!   (`stage/namespaces`). `ip` and `nsenter` are all that this needs.
//! - A *pair* is a primary at an address that moves to its replica. Each instance gets there by a proxy of
//!   its own (`stage/link`), because many kernels cannot delay packets (`netem` is a module), and none can
//!   tell a subscription from other connections: the proxy makes links late, deaf, half-open or cut, and leads
//!   to the replica after a promotion. Without the right to make namespaces, it makes partitions, too, and
//!   the pair is all that is played.
//! - With *Sentinels* and with a *Cluster* (`stage/group.rs`) services and servers find each other, so nothing
//!   is between. The kernel makes everything: connections are closed from outside with `ss -K`, on both ends, or
//!   on one end while nothing reaches the other, which makes them half-open. Nothing is late or deaf here.
//! - Redis is killed, stopped, paused, restarted from a file that was copied earlier, refused memory or
//!   replicas, wiped, and robbed of keys by its own commands and signals. Its clock is set with libfaketime,
//!   loaded before the C library, which in turn comes before the allocator that Redis brings along: that one
//!   asks for the time too early.
//! - A promotion is that of a replica that heard nothing for a while. In a split brain the old primary and
//!   some of the instances go on together.
//!
//! What is judged: the histories of all instances, by every invariant of `vestibule-history`; answers that
//! nobody may get (500, a refusal that makes no sense); two visitors with one number, and more visitors
//! inside than the ceiling, by what visitors alone saw; whether everybody was served in the end; whether
//! every process runs until it is told to stop, and then stops in order. Histories are written in the machine's
//! time, since Redis's is set.
//!
//! Environment: see [`options`].

mod chance;
mod crowd;
mod faults;
mod options;
mod report;
mod rooms;
mod run;
mod scenario;
mod stage;

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Result, ensure};
use tokio::runtime::Builder;

use self::{
    chance::Seed,
    faults::FaultKind,
    options::{Options, Piece},
    report::{Outcome, Table},
    scenario::{Scenario, Shape},
    stage::namespaces::{self, say},
};

/// Plays a run, tells what came of it, and keeps its folder if it failed or is to be kept.
async fn play(seed: Seed, shape: &Shape, keep: Option<&PathBuf>) -> Result<Outcome> {
    let scenario = Scenario::draw(seed, shape);
    say(&format!("seed {}: {} faults in {:?}", seed.0, scenario.faults.len(), scenario.lasts));
    let folder = options::folder(keep, seed)?;
    let played = run::play(&scenario, folder.path()).await;
    let failed = !played.as_ref().is_ok_and(Outcome::holds);
    if let Ok(outcome) = &played {
        std::fs::write(folder.path().join("violations"), outcome.stories.join("\n"))?;
        for story in outcome.first_stories() {
            say(story);
        }
    }
    if failed {
        let violations = played.as_ref().map(|outcome| &outcome.violations);
        say(&format!("seed {} FAILED: {:?}", seed.0, violations.unwrap_or(&BTreeMap::new())));
    }
    if failed || keep.is_some() {
        say(&format!("seed {} is kept in {}", seed.0, folder.keep().display()));
    }
    played
}

/// Plays them all, and fails if one fails.
async fn play_all(pieces: &[Piece], options: &Options) -> Result<()> {
    stage::check_programs(options.kinds.contains(&FaultKind::Clock))?;
    let mut table = Table::default();
    let mut failed = Vec::new();
    for Piece { seed, shape } in pieces {
        match play(*seed, shape, options.keep.as_ref()).await {
            Ok(outcome) => {
                if !outcome.holds() {
                    failed.push(format!("seed {}; {}", seed.0, shape.again()));
                }
                table.add(&outcome);
            }
            // The stage could not be built, or not be made good again.
            Err(error) => {
                failed.push(format!("seed {}; {}; {error:#}", seed.0, shape.again()));
                table.add_broken(*seed, shape, &error);
            }
        }
        // Each time, since somebody may end it before the end.
        if let Some(path) = &options.report {
            std::fs::write(path, table.to_string())?;
        }
    }
    say(&format!("\n{table}"));
    ensure!(failed.is_empty(), "broken promises:\n{}", failed.join("\n"));
    Ok(())
}

/// Plays what `pieces` makes of the options in the test called `name`: in a hub of network namespaces if
/// that can be.
fn test(name: &str, pieces: impl FnOnce(&Options, bool) -> Vec<Piece>) -> Result<()> {
    let options = Options::read()?;
    if let Some(ran) = namespaces::enter_hub(name) {
        let status = ran?;
        ensure!(status.success(), "in its hub: {status}");
        return Ok(());
    }
    let mut runtime = Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build()?;
    runtime.block_on(play_all(&pieces(&options, namespaces::is_hub()), &options))
}

#[test]
fn nothing_is_lost_and_nothing_happens_twice() -> Result<()> {
    test("nothing_is_lost_and_nothing_happens_twice", Options::pieces)
}

#[test]
#[ignore = "takes most of an hour: `make chaos`"]
fn a_thousand_faults() -> Result<()> {
    test("a_thousand_faults", Options::many_pieces)
}
