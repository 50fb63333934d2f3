//! The background tasks: the startup, the feed, changes of rooms, the key ring, the counts of
//! presence and of the history, and what is forgotten. None of them answers a request.

pub(crate) mod forgetting;
mod startup;

use std::sync::Arc;

use vestibule_runtime::Lifecycle;

use self::startup::Startup;
use crate::state::Admission;

/// Starts the loops; they end after the last request was answered.
pub(crate) fn spawn(admission: &Arc<Admission>, lifecycle: &Lifecycle) {
    let startup = Startup::new(lifecycle.readiness());
    lifecycle.spawn("startup", startup.run(Arc::clone(admission), lifecycle.clone()));
    lifecycle.spawn("live", end_streams(Arc::clone(admission), lifecycle.clone()));
    for (name, task) in [
        ("feed", Task::Feed),
        ("changes", Task::Changes),
        ("keys", Task::Keys),
        ("check-ins", Task::CheckIns),
        ("tally", Task::Tally),
        ("forgetting", Task::Forgetting),
    ] {
        let (admission, drained) = (Arc::clone(admission), lifecycle.drained().clone());
        lifecycle.spawn(name, async move {
            tokio::select! {
                biased;
                () = task.run(&admission) => {}
                () = drained.cancelled() => {}
            }
            task.finish(&admission).await;
        });
    }
}

/// Ends the streams of live updates when the stop begins; otherwise they would delay it.
async fn end_streams(admission: Arc<Admission>, lifecycle: Lifecycle) {
    lifecycle.soft().cancelled().await;
    admission.pages.live.close();
}

#[derive(Debug, Clone, Copy)]
enum Task {
    Feed,
    Changes,
    Keys,
    CheckIns,
    Tally,
    Forgetting,
}

// === impl Task ===

impl Task {
    async fn run(self, admission: &Admission) {
        match self {
            Self::Feed => Box::pin(admission.feed.clone().run()).await,
            Self::Changes => {
                let coverage = &admission.authorizer.coverage;
                admission.feed.follow_changes(|| coverage.bring_up_to_date()).await;
            }
            Self::Keys => admission.keys.clone().run().await,
            Self::CheckIns => admission.flows.check_ins.run().await,
            Self::Tally => admission.flows.tally.run().await,
            Self::Forgetting => forgetting::run(admission).await,
        }
    }

    async fn finish(self, admission: &Admission) {
        match self {
            // The last counts, of the visitors whom this instance has just answered.
            Self::CheckIns => admission.flows.check_ins.send().await,
            Self::Tally => admission.flows.tally.send().await,
            Self::Changes => admission.feed.take_in_no_more().await,
            Self::Feed => admission.feed.say_goodbye().await,
            Self::Keys => admission.keys.look().await,
            Self::Forgetting => {}
        }
    }
}
