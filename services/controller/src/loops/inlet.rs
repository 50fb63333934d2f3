//! Periodic inlets: once in each period of a room, the controller that serves it has more people served. What is to be
//! done in a period is decided once, by the script, which knows of it whoever asks; so here it is only asked until there
//! is an answer. A period in which nobody could ask is over, and nobody is served for it later.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::time::{MissedTickBehavior, interval};
use vestibule_domain::{RoomId, inlet::Period};
use vestibule_store::{KnownRoom, LetIn, StoreError};

use super::suspects::report_suspect;
use crate::{leadership::Term, state::Controller};

/// How often it is looked whether a period has begun.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The last period of each room that was decided, as far as this instance knows.
type Decided = BTreeMap<RoomId, String>;

/// Asks for as long as this instance serves rooms.
pub(super) async fn run(controller: Arc<Controller>) {
    let mut role = controller.leadership.watch();
    let mut decided = Decided::new();
    loop {
        let serving = role.see().serving();
        let Some(term) = serving else {
            role.changed().await;
            continue;
        };
        tokio::select! {
            biased;
            () = role.changed() => {}
            () = serve(&controller, term, &mut decided) => {}
        }
    }
}

/// Looks at every room of its share until it is dropped.
async fn serve(controller: &Controller, term: Term, decided: &mut Decided) {
    let mut looks = interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        looks.tick().await;
        decided.retain(|room, _| controller.feed.room(room.as_str()).is_some());
        for known in controller.feed.rooms() {
            let Some(period) = period_of(&known) else { continue };
            let room = known.snapshot().room.clone();
            if !term.share.has(&room) || decided.get(&room) == Some(&period.name) {
                continue;
            }
            let ask = LetIn { period: &period, leader_epoch: term.epoch };
            match controller.store.let_in(&room, ask).await {
                Ok(_) => drop(decided.insert(room, period.name)),
                Err(StoreError::Fenced { epoch: by }) => {
                    controller.leadership.overtaken(term.epoch, by);
                }
                Err(error) => {
                    if matches!(error, StoreError::RoomMissing | StoreError::Rewound) {
                        report_suspect(controller, &room, &error).await;
                    }
                    tracing::debug!(%room, %error, "an inlet could not let people in");
                }
            }
        }
    }
}

/// The period that a room is in, by its own time; `None`: it has no periodic inlet, or nothing for it to do.
fn period_of(known: &KnownRoom) -> Option<Period> {
    let snapshot = known.snapshot();
    let inlet = snapshot.settings.periodic_inlet?;
    let now = known.now_ms() / 1_000;
    inlet.period_at(now).filter(|_| snapshot.settings.has_no_limits())
}
