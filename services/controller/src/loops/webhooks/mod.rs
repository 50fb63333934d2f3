//! Tells webhooks, for as long as this controller leads: sees what happens in the rooms and which alarms fire
//! ([`observe`]), and sends what anybody has written down, each webhook by a task of its own ([`deliver`]), so that a slow
//! one delays no other, and no tick. Where there is no webhook it does nothing.

mod deliver;
mod metrics;
mod observe;
mod serving;
mod sight;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    task::{Id, JoinSet},
    time::{Instant, sleep},
};
use vestibule_domain::webhook::EventStream;
use vestibule_issuance::KnownWebhooks;
use vestibule_runtime::Lifecycle;
use vestibule_store::{ServerCheck, StoreError};

use self::{deliver::Deliverer, observe::Observer};
use crate::{leadership::RoleWatch, state::Controller, webhooks::WebhookMetrics};

/// How often it is looked for what has happened, and for webhooks that are new.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often old events are forgotten, and for how long they are kept: longer than a webhook is tried.
const TIDY_EVERY: Duration = Duration::from_mins(1);
const KEPT: Duration = Duration::from_hours(72);

/// What whoever leads does, from when it began to.
struct Leading {
    /// Its term. Other members make another one, in which it leads on.
    epoch: Arc<AtomicU64>,
    observer: Observer,
    deliverers: JoinSet<()>,
    busy: BTreeMap<(String, EventStream), Id>,
    /// The webhooks that were told of last.
    seen: Arc<KnownWebhooks>,
    tidied: Option<Instant>,
}

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
    loop {
        let Some(epoch) = role.see().leading() else {
            role.changed().await;
            continue;
        };
        let epoch = Arc::new(AtomicU64::new(epoch));
        let leading = Leading::new(Arc::clone(&epoch));
        tokio::select! {
            biased;
            () = is_over(controller, &mut role, &epoch) => {}
            () = leading.run(controller, check, metrics) => {}
        }
        metrics.forget();
    }
}

/// Waits until it leads no more. Each time that other controllers serve rooms there is another term, and it leads on: what
/// was seen and what is being sent stays. In between, a write of the term before may have been refused.
async fn is_over(controller: &Controller, role: &mut RoleWatch, epoch: &AtomicU64) {
    loop {
        match role.see().leading() {
            Some(now) => epoch.store(now, Ordering::Relaxed),
            None if controller.leadership.last_settled().is_some() => {}
            None => return,
        }
        role.changed().await;
    }
}

// === impl Leading ===

impl Leading {
    fn new(epoch: Arc<AtomicU64>) -> Self {
        Self {
            epoch,
            observer: Observer::new(),
            deliverers: JoinSet::new(),
            busy: BTreeMap::new(),
            seen: Arc::default(),
            tidied: None,
        }
    }

    /// Tells webhooks until it is dropped, and with it what is being sent.
    async fn run(
        mut self,
        controller: &Arc<Controller>,
        check: &ServerCheck,
        metrics: &WebhookMetrics,
    ) {
        loop {
            if let Err(error) = controller.webhooks.keep().await {
                tracing::debug!(%error, "the webhooks could not be kept");
            }
            let known = controller.outbox.known();
            self.deliver(controller, &known, metrics);
            self.tidy(controller, &known).await;
            self.seen = known;
            self.observer.look(controller, check, self.epoch.load(Ordering::Relaxed)).await;
            sleep(LOOK_EVERY).await;
        }
    }

    /// Has each webhook that is on told by somebody.
    fn deliver(
        &mut self,
        controller: &Arc<Controller>,
        known: &KnownWebhooks,
        metrics: &WebhookMetrics,
    ) {
        while let Some(ended) = self.deliverers.try_join_next_with_id() {
            let id = ended.map_or_else(
                |error| {
                    tracing::error!(%error, "a webhook is told anew");
                    error.id()
                },
                |(id, ())| id,
            );
            self.busy.retain(|_, busy| *busy != id);
        }
        metrics.see(&self.seen.set, &known.set);
        let streams = |(name, _)| EventStream::ALL.map(|stream| (String::clone(name), stream));
        for (name, stream) in known.set.on().flat_map(streams) {
            let (epoch, metrics) = (Arc::clone(&self.epoch), metrics.clone());
            let controller = Arc::clone(controller);
            let deliverers = &mut self.deliverers;
            self.busy.entry((name.clone(), stream)).or_insert_with(|| {
                let deliverer = Deliverer::new(epoch, name, stream, metrics);
                deliverers.spawn(async move { deliverer.run(&controller).await }).id()
            });
        }
    }

    /// Forgets now and then what nobody will be told, and at once what is of webhooks that are no more.
    async fn tidy(&mut self, controller: &Controller, known: &KnownWebhooks) {
        let has_changed = self.tidied.is_none() || known.text != self.seen.text;
        let is_time = self.tidied.is_some_and(|at| at.elapsed() >= TIDY_EVERY);
        if known.text.is_none() || !has_changed && (!is_time || known.set.webhooks.is_empty()) {
            return;
        }
        let epoch = self.epoch.load(Ordering::Relaxed);
        match tidy(controller, epoch, known).await {
            Ok(()) => self.tidied = Some(Instant::now()),
            Err(error) => {
                tracing::debug!(%error, "old events could not be forgotten");
                self.tidied = None;
            }
        }
    }
}

async fn tidy(
    controller: &Controller,
    epoch: u64,
    known: &KnownWebhooks,
) -> Result<(), StoreError> {
    let kept_ms = u64::try_from(KEPT.as_millis()).unwrap_or(u64::MAX);
    let noted_as = |name: &String| EventStream::ALL.map(|stream| stream.noted_as(name));
    let names: Vec<_> = known.set.webhooks.keys().flat_map(noted_as).collect();
    for stream in EventStream::ALL {
        let whose = (known.text.as_deref(), &*names);
        controller.store.tidy_outbox(epoch, stream, whose, kept_ms).await?;
    }
    Ok(())
}
