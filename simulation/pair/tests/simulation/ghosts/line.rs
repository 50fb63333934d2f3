//! Lines in which most people never come.

use vestibule_simulation::Seed;

/// Who stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Checks in every second, and claims when its turn comes.
    Web,
    /// Looks at the public counter and at its number every two seconds, and asks when its turn comes.
    Aws,
    /// Took an AWS-style number, and is never heard of again.
    AwsGhost,
    /// Joined, and closed the tab.
    WebGhost,
    /// Checks in, is told its turn, and never claims.
    Idler,
}

/// Where the ghosts stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Anywhere.
    Mixed,
    /// Before everybody else.
    First,
    /// In blocks, by turns with blocks of the others.
    Blocks,
    /// All together, after a third of the others: when it was learnt that everybody comes.
    Sprung,
}

/// A line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    pub(crate) honest: Kind,
    pub(crate) ghost: Kind,
    /// The share of ghosts.
    pub(crate) share: f64,
    pub(crate) layout: Layout,
}

/// So many blocks of ghosts there are.
const BLOCKS: usize = 6;

// === impl Layout ===

impl Layout {
    pub(crate) const ALL: [Self; 4] = [Self::Mixed, Self::First, Self::Blocks, Self::Sprung];
}

// === impl Line ===

impl Line {
    /// Who stands in it, with so many honest people.
    pub(crate) fn people(self, honest: usize) -> Vec<Kind> {
        let ghosts = self.ghosts(honest);
        let others = |count| vec![self.honest; count];
        let silent = |count| vec![self.ghost; count];
        match self.layout {
            Layout::Mixed => self.mixed(honest, ghosts),
            Layout::First => [silent(ghosts), others(honest)].concat(),
            Layout::Blocks => {
                [silent(ghosts / BLOCKS), others(honest / BLOCKS)].concat().repeat(BLOCKS)
            }
            Layout::Sprung => [others(honest / 3), silent(ghosts), others(honest * 2 / 3)].concat(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of people")]
    fn ghosts(self, honest: usize) -> usize {
        (honest as f64 * self.share / (1.0 - self.share)).round() as usize
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    fn mixed(self, mut honest: usize, mut ghosts: usize) -> Vec<Kind> {
        let mut chance = Seed(7).chance("line", 0);
        let mut people = Vec::new();
        while honest + ghosts > 0 {
            let is_ghost = chance.happens(ghosts as f64 / (honest + ghosts) as f64);
            let left = if is_ghost { &mut ghosts } else { &mut honest };
            *left -= 1;
            people.push(if is_ghost { self.ghost } else { self.honest });
        }
        people
    }
}
