//! Hostile company, as far as it is known before a run: how many there are of each kind, and when they
//! come. What they do is in `visits`.

use serde::Serialize;

use super::{
    CompanyOptions, CrowdOptions, HoardingOptions, VisitorPlan,
    company_options::{Many, bring},
    draw_up,
};

/// How many come besides the visitors and mean no good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Company {
    /// AWS-style numbers that are taken before the first visitor comes, and never asked with.
    pub(crate) ghosts: u32,
    /// Those who send the same tickets again and again.
    pub(crate) replayers: u32,
    /// Those who poll and never claim.
    pub(crate) idlers: u32,
    /// Those of one network who take every place and seat that they can get.
    pub(crate) hoarders: u32,
    /// Those who share one ticket.
    pub(crate) sharers: u32,
}

/// A kind of hostile visitor that goes on calling; ghosts do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hostile {
    /// Sends the same tickets again and again.
    Replayer,
    /// Polls and never claims.
    Idler,
    /// Takes every place and seat that it can get.
    Hoarder,
    /// Several clients with one ticket.
    Sharers,
}

/// What one hostile visitor will do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostilePlan {
    /// Of which kind it is.
    pub(crate) kind: Hostile,
    /// How many clients it has.
    pub(crate) clients: u32,
    /// When it comes, and by which seed it acts.
    pub(crate) visitor: VisitorPlan,
}

// === impl Company ===

impl Company {
    /// The company that these options bring to a crowd.
    ///
    /// # Errors
    /// Which option asks for too many.
    pub(crate) fn new(options: &CompanyOptions, crowd: &CrowdOptions) -> Result<Self, String> {
        let visitors = crowd.visitors;
        Ok(Self {
            ghosts: bring("--ghosts", options.ghosts, visitors)?,
            replayers: options.replayers,
            idlers: bring("--idlers", Many::Share(options.idlers), visitors)?,
            ..Self::default()
        })
    }

    /// The same with those for whom it matters from where anybody comes.
    pub(crate) fn with(self, options: HoardingOptions) -> Self {
        Self { hoarders: options.hoarders, sharers: options.sharers, ..self }
    }

    /// Whether it matters from where anybody comes.
    pub(crate) fn has_networks(&self) -> bool {
        self.hoarders > 0 || self.sharers > 0
    }

    /// Whether nobody comes but the visitors.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Who they are, for a caption: `27000 ghosts before the first visitor, 40 replayers`.
    pub(crate) fn names(&self) -> String {
        let ghosts =
            plural(self.ghosts, "ghost").map(|ghosts| ghosts + " before the first visitor");
        let others = [
            plural(self.replayers, "replayer"),
            plural(self.idlers, "idler"),
            plural(self.hoarders, "hoarder").map(|hoarders| hoarders + " of one network"),
            plural(self.sharers, "sharer").map(|sharers| sharers + " of one ticket"),
        ];
        ghosts.into_iter().chain(others.into_iter().flatten()).collect::<Vec<_>>().join(", ")
    }

    /// Draws up those who go on calling, in order of arrival: they come as the crowd does. The crowd
    /// itself stays the same with any company.
    pub(crate) fn draw_up(&self, crowd: &CrowdOptions, seed: u64) -> Vec<HostilePlan> {
        let kinds = [
            (Hostile::Replayer, self.replayers, 1),
            (Hostile::Idler, self.idlers, 1),
            (Hostile::Hoarder, self.hoarders, 1),
            // They act as one.
            (Hostile::Sharers, self.sharers.min(1), self.sharers),
        ];
        let of_kind = |(kind, visitors, clients): (Hostile, u32, u32)| {
            let crowd = CrowdOptions { visitors, ..crowd.clone() };
            // A seed of its own, or they would do everything in step with the visitors.
            let seed = seed.wrapping_add(1 + kind as u64);
            draw_up(&crowd, seed).into_iter().map(move |visitor| HostilePlan {
                kind,
                clients,
                visitor,
            })
        };
        let mut plans: Vec<_> = kinds.into_iter().flat_map(of_kind).collect();
        plans.sort_by_key(|plan| plan.visitor.arrives);
        plans
    }
}

fn plural(count: u32, name: &str) -> Option<String> {
    (count > 0).then(|| format!("{count} {name}{}", if count == 1 { "" } else { "s" }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::crowd::{Arrivals, StaySpread};

    fn crowd() -> CrowdOptions {
        CrowdOptions {
            visitors: 700,
            arrive: Duration::from_secs(10),
            arrivals: Arrivals::Even,
            stay: Duration::from_secs(20),
            stay_spread: StaySpread::Fixed,
            abandon: 0.0,
            seed: None,
        }
    }

    #[test]
    fn company_comes_in_addition_to_the_visitors() {
        let options = CompanyOptions { ghosts: Many::Share(0.9), replayers: 5, idlers: 0.3 };
        let company = Company::new(&options, &crowd()).unwrap();
        assert_eq!(
            company,
            Company { ghosts: 6300, replayers: 5, idlers: 300, ..Company::default() }
        );
        let names = company.names();
        assert_eq!(names, "6300 ghosts before the first visitor, 5 replayers, 300 idlers");
        assert_eq!(Company { replayers: 1, ..Company::default() }.names(), "1 replayer");
        let with = Company::default().with(HoardingOptions { hoarders: 40, sharers: 2 });
        assert_eq!(with.names(), "40 hoarders of one network, 2 sharers of one ticket");
        assert!(with.has_networks() && !company.has_networks());
        assert!(Company::default().is_empty() && !company.is_empty());
    }

    #[test]
    fn those_who_go_on_calling_come_as_the_crowd_does() {
        let company = Company { ghosts: 9, replayers: 20, idlers: 100, ..Company::default() };
        let plans = company.draw_up(&crowd(), 1);
        assert_eq!(plans.iter().filter(|plan| plan.kind == Hostile::Idler).count(), 100);
        assert_eq!(plans.len(), 120);
        assert!(plans.is_sorted_by_key(|plan| plan.visitor.arrives));
        let early = |plan: &&HostilePlan| plan.visitor.arrives < Duration::from_secs(5);
        assert_eq!(plans.iter().filter(early).count(), 60);
        let sharers = Company { sharers: 7, ..Company::default() }.draw_up(&crowd(), 1);
        assert_eq!(sharers.iter().map(|plan| plan.clients).collect::<Vec<_>>(), [7]);
        let visitors = draw_up(&crowd(), 1);
        assert!(plans.iter().all(|plan| visitors.iter().all(|v| v.seed != plan.visitor.seed)));
    }
}
