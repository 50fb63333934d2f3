//! What is played, from the environment:
//!
//! | variable | default | |
//! |---|---|---|
//! | `VESTIBULE_CHAOS_SEEDS` | `1..2` | which seeds: `FROM..TO` without `TO`, or one |
//! | `VESTIBULE_CHAOS_FAULTS` | | kinds of faults by name; `all`, `none`. In `make chaos`: `all`. Unset: those by which Redis loses nothing |
//! | `VESTIBULE_CHAOS_TOPOLOGY` | each | in which form Redis is there: `pair`, `sentinels` or `cluster` |
//! | `VESTIBULE_CHAOS_SECONDS` | `20` | how long things go wrong in each run |
//! | `VESTIBULE_CHAOS_COUNT` | two for three seconds | how many faults in each run |
//! | `VESTIBULE_CHAOS_TOTAL` | `1000` | how many faults in `make chaos` |
//! | `VESTIBULE_CHAOS_KEEP` | | the folder in which every run's logs and histories stay; those of a failed run stay anyway |
//! | `VESTIBULE_CHAOS_REPORT` | | the file into which the table is written |
//! | `VESTIBULE_CHAOS_LOOPBACK` | | set: no network namespaces, as where none can be made |

use std::{env, ops::Range, path::PathBuf, str::FromStr};

use anyhow::{Context, Result, anyhow};
use tempfile::TempDir;

use crate::{
    chance::Seed,
    faults::{FaultKind, FaultKinds},
    scenario::Shape,
    stage::{Server, Topology},
};

/// What is played.
#[derive(Debug)]
pub(crate) struct Options {
    seeds: Range<u64>,
    /// Those that were asked for.
    pub(crate) kinds: Vec<FaultKind>,
    topology: Option<Topology>,
    seconds: u64,
    count: Option<u64>,
    total: u64,
    pub(crate) keep: Option<PathBuf>,
    pub(crate) report: Option<PathBuf>,
}

/// A run to play.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    pub(crate) seed: Seed,
    pub(crate) shape: Shape,
}

// === impl Options ===

impl Options {
    /// Reads them.
    pub(crate) fn read() -> Result<Self> {
        let kinds: Option<FaultKinds> = read("FAULTS")?;
        Ok(Self {
            seeds: seeds(&variable("SEEDS").unwrap_or_else(|| "1..2".to_owned()))?,
            kinds: kinds.map_or_else(brief, |kinds| kinds.0),
            topology: read("TOPOLOGY")?,
            seconds: read("SECONDS")?.unwrap_or(20),
            count: read("COUNT")?,
            total: read("TOTAL")?.unwrap_or(1_000),
            keep: variable("KEEP").map(PathBuf::from),
            report: variable("REPORT").map(PathBuf::from),
        })
    }

    /// A run for each seed, of all kinds together, with Redis in each form; shorter ones where it fails over
    /// by itself.
    pub(crate) fn pieces(&self, has_hosts: bool) -> Vec<Piece> {
        let topologies = self.topologies(has_hosts);
        let of_seed = |seed| {
            topologies.iter().map(move |topology| {
                let part = if *topology == Topology::Pair { 1 } else { 2 };
                let seconds =
                    if self.topology.is_some() { self.seconds } else { self.seconds / part };
                let shape = self.shape(self.kinds.clone(), *topology, seconds);
                Piece { seed: Seed(seed), shape }
            })
        };
        self.seeds.clone().flat_map(of_seed).collect()
    }

    /// As many runs as the total takes: of all kinds together, twice as many as of each kind alone, with Redis in
    /// each form.
    pub(crate) fn many_pieces(&self, has_hosts: bool) -> Vec<Piece> {
        let topologies = self.topologies(has_hosts);
        let together = [&self.kinds; 2].map(Clone::clone);
        let alone = self.kinds.iter().map(|kind| vec![*kind]);
        let shapes: Vec<_> = together
            .into_iter()
            .chain(alone)
            .flat_map(|kinds| {
                let shape = move |topology: &Topology| (kinds.clone(), *topology);
                topologies.iter().map(shape)
            })
            .map(|(kinds, topology)| self.shape(kinds, topology, self.seconds))
            .filter(|shape| !shape.kinds.is_empty())
            .collect();
        let mut left = self.total;
        let mut pieces = Vec::new();
        for (seed, shape) in (self.seeds.start..).zip(shapes.iter().cycle()) {
            if left == 0 {
                break;
            }
            left = left.saturating_sub(shape.faults.max(1));
            pieces.push(Piece { seed: Seed(seed), shape: shape.clone() });
        }
        pieces
    }

    fn topologies(&self, has_hosts: bool) -> Vec<Topology> {
        match self.topology {
            Some(topology) => vec![topology],
            None if has_hosts => Topology::ALL.to_vec(),
            None => vec![Topology::Pair],
        }
    }

    fn shape(&self, kinds: Vec<FaultKind>, topology: Topology, seconds: u64) -> Shape {
        let shape = Shape::of_seconds(seconds, kinds, topology);
        Shape { faults: self.count.unwrap_or(shape.faults), ..shape }
    }
}

/// A folder for a run. It goes with the value.
pub(crate) fn folder(parent: Option<&PathBuf>, seed: Seed) -> Result<TempDir> {
    let prefix = format!("seed-{}-", seed.0);
    let mut folder = tempfile::Builder::new();
    folder.prefix(&prefix);
    Ok(match parent {
        Some(parent) => {
            std::fs::create_dir_all(parent)?;
            folder.tempdir_in(parent)?
        }
        None => folder.tempdir()?,
    })
}

fn variable(name: &str) -> Option<String> {
    env::var_os(format!("VESTIBULE_CHAOS_{name}")).map(|value| value.to_string_lossy().into_owned())
}

fn read<T: FromStr<Err: std::fmt::Display>>(name: &str) -> Result<Option<T>> {
    let parse = |text: String| {
        text.parse().map_err(|why| anyhow!("VESTIBULE_CHAOS_{name} is `{text}`: {why}"))
    };
    variable(name).map(parse).transpose()
}

fn seeds(text: &str) -> Result<Range<u64>> {
    let number = |text: &str| {
        text.trim().parse::<u64>().with_context(|| format!("VESTIBULE_CHAOS_SEEDS: `{text}`"))
    };
    match text.split_once("..") {
        Some((from, to)) => Ok(number(from)?..number(to)?),
        None => number(text).map(|seed| seed..seed + 1),
    }
}

#[test]
fn seeds_are_one_or_a_range() {
    assert_eq!(seeds("7").unwrap(), 7..8);
    assert_eq!(seeds("7..9").unwrap(), 7..9);
    assert!(seeds("7..x").unwrap_err().to_string().contains("`x`"));
}

/// The kinds that can be made on this machine and are over soon: after a loss a minute's admissions may count as used.
fn brief() -> Vec<FaultKind> {
    let can_be = |kind: &FaultKind| *kind != FaultKind::Clock || Server::can_set_clocks();
    let is_brief = |kind: &FaultKind| !kind.loses_data() && can_be(kind);
    FaultKind::ALL.iter().copied().filter(is_brief).collect()
}

#[cfg(test)]
fn options(kinds: &[FaultKind], total: u64) -> Options {
    let (seconds, kinds) = (15, kinds.to_vec());
    let (topology, count, keep, report) = (None, None, None, None);
    Options { seeds: 100..102, kinds, topology, seconds, count, total, keep, report }
}

#[test]
fn a_seed_is_played_with_redis_in_each_form_that_can_be() {
    let options = options(FaultKind::ALL, 0);
    let forms = |has_hosts| {
        let pieces = options.pieces(has_hosts);
        assert!(pieces.iter().all(|piece| !piece.shape.kinds.is_empty()));
        pieces.iter().map(|piece| (piece.seed.0, piece.shape.topology)).collect::<Vec<_>>()
    };
    let of = |seed| Topology::ALL.iter().map(move |topology| (seed, *topology));
    assert_eq!(forms(true), of(100).chain(of(101)).collect::<Vec<_>>());
    assert_eq!(forms(false), [(100, Topology::Pair), (101, Topology::Pair)]);
}

#[test]
fn many_pieces_reach_the_total_with_every_kind_by_itself() {
    let pieces = options(FaultKind::ALL, 1_000).many_pieces(true);
    assert!(pieces.iter().map(|piece| piece.shape.faults).sum::<u64>() >= 1_000);
    for topology in Topology::ALL {
        let here = pieces.iter().filter(|piece| piece.shape.topology == *topology);
        for kind in FaultKind::ALL.iter().filter(|kind| kind.can_befall(*topology)) {
            assert!(here.clone().any(|piece| piece.shape.kinds == [*kind]), "{kind:?}");
        }
    }
    let mut seeds: Vec<_> = pieces.iter().map(|piece| piece.seed.0).collect();
    seeds.dedup();
    assert_eq!(seeds.len(), pieces.len());
}
