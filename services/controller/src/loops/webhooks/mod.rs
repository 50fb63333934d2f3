//! Tells webhooks, for as long as this controller leads: sees what happens in the rooms and which alarms fire
//! ([`observe`]), and sends what anybody has written down, each webhook by a task of its own ([`deliver`]), so that a slow
//! one delays no other, and no tick. Where there is no webhook it does nothing.

mod deliver;
mod metrics;
mod observe;
mod sight;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::{task::JoinSet, time::sleep};
use vestibule_runtime::Lifecycle;
use vestibule_store::ServerCheck;

use self::{
    deliver::{Deliverer, forget_deleted},
    observe::Observer,
};
use crate::{state::Controller, webhooks::WebhookMetrics};

/// How often it is looked for what has happened, and for webhooks that are new.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Starts it.
pub(crate) fn spawn(
    controller: &Arc<Controller>,
    lifecycle: &Lifecycle,
    check: &ServerCheck,
    metrics: WebhookMetrics,
) {
    controller.outbox.spawn(lifecycle);
    let (controller, check, soft) =
        (Arc::clone(controller), check.clone(), lifecycle.soft().clone());
    lifecycle.spawn("webhooks", async move {
        tokio::select! {
            biased;
            () = soft.cancelled() => {}
            () = run(&controller, &check, &metrics) => {}
        }
    });
}

async fn run(controller: &Arc<Controller>, check: &ServerCheck, metrics: &WebhookMetrics) {
    let mut role = controller.leadership.watch();
    let mut observer = Observer::new();
    loop {
        // Another list of members is another role, and the same term.
        if let Some(epoch) = role.see().leading() {
            observer.begin(epoch);
            let is_over = async {
                while role.see().leading() == Some(epoch) {
                    role.changed().await;
                }
            };
            tokio::select! {
                biased;
                () = is_over => {}
                () = lead(controller, epoch, (check, metrics, &mut observer)) => {}
            }
            metrics.forget();
        } else {
            role.changed().await;
        }
    }
}

/// Tells webhooks until it is dropped, and with it what is being sent.
async fn lead(
    controller: &Arc<Controller>,
    epoch: u64,
    (check, metrics, observer): (&ServerCheck, &WebhookMetrics, &mut Observer),
) {
    let mut deliverers: JoinSet<String> = JoinSet::new();
    let mut busy: BTreeSet<String> = BTreeSet::new();
    if let Err(error) = forget_deleted(controller, epoch).await {
        tracing::debug!(%error, "the webhooks could not be kept");
    }
    loop {
        while let Some(Ok(name)) = deliverers.try_join_next() {
            metrics.fails(&name, 0);
            busy.remove(&name);
        }
        if let Err(error) = controller.webhooks.keep().await {
            tracing::debug!(%error, "the webhooks could not be kept");
        }
        let known = controller.outbox.known();
        metrics.see(&known.set);
        for (name, _) in known.set.on() {
            if busy.insert(name.clone()) {
                let deliverer = Deliverer::new(epoch, name.clone(), metrics.clone());
                let controller = Arc::clone(controller);
                deliverers.spawn(async move { deliverer.run(&controller).await });
            }
        }
        observer.look(controller, check).await;
        sleep(LOOK_EVERY).await;
    }
}
