//! Periodic inlets: once in each period of a room, the controller that serves it has more people served. What is to be
//! done in a period is decided once, by the script, which knows of it whoever asks; so here it is only asked until there
//! is an answer. A period in which nobody could ask is over, and nobody is served for it later.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::{StreamExt, stream};
use tokio::time::{MissedTickBehavior, interval};
use vestibule_domain::{RoomId, inlet::Period};
use vestibule_store::{KnownRoom, LetIn, StoreError};

use super::{ROOMS_AT_ONCE, suspects::report_suspect};
use crate::{away::Away, leadership::Term, state::Controller};

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
        let (due, away) = (due(controller, term, decided), &Away::default());
        let asked = stream::iter(due).map(|(room, period)| async move {
            let is_decided = let_in(controller, term, away, &room, &period).await;
            is_decided.then_some((room, period.name))
        });
        let now: Vec<_> = asked.buffer_unordered(ROOMS_AT_ONCE).collect().await;
        decided.extend(now.into_iter().flatten());
    }
}

/// The rooms of its share that are in a period of which this instance does not know that it was decided.
fn due(controller: &Controller, term: Term, decided: &Decided) -> Vec<(RoomId, Period)> {
    let in_period = controller.feed.rooms().into_iter().filter_map(|known| {
        let period = period_of(&known)?;
        Some((known.snapshot().room.clone(), period))
    });
    let is_due = |(room, period): &(RoomId, Period)| {
        term.share.has(room) && decided.get(room) != Some(&period.name)
    };
    in_period.filter(is_due).collect()
}

/// Has people let in, and returns whether what is done in this period is decided.
async fn let_in(
    controller: &Controller,
    term: Term,
    away: &Away,
    room: &RoomId,
    period: &Period,
) -> bool {
    let ask = LetIn { period, leader_epoch: term.epoch };
    match away.ask(&controller.store, room, controller.store.let_in(room, ask)).await {
        Ok(_) => return true,
        Err(StoreError::Fenced { epoch: by }) => controller.leadership.overtaken(term.epoch, by),
        Err(error) => {
            if matches!(error, StoreError::RoomMissing | StoreError::Rewound) {
                report_suspect(controller, room, &error).await;
            }
            tracing::debug!(%room, %error, "an inlet could not let people in");
        }
    }
    false
}

/// The period that a room is in, by its own time; `None`: it has no periodic inlet, or nothing for it to do.
fn period_of(known: &KnownRoom) -> Option<Period> {
    let snapshot = known.snapshot();
    let inlet = snapshot.settings.periodic_inlet?;
    let now = known.now_ms() / 1_000;
    inlet.period_at(now).filter(|_| snapshot.settings.has_no_limits())
}
