//! The webhooks, as operators set them and as Redis has them: one text, which is replaced by whoever has read it as it
//! is. Secrets are sealed before they get there.

use std::{collections::BTreeSet, sync::Arc};

use vestibule_domain::{
    access::RoomScope,
    webhook::{
        Disabled, EventStream, MAX_WEBHOOKS, MOST_OLD_SECRETS, OVERLAP_SECONDS, OldSecret, Webhook,
        Webhooks, check_address,
    },
};
use vestibule_issuance::Outbox;
use vestibule_runtime::Random;
use vestibule_store::{Store, StoreError};
use vestibule_token::{DeploymentSecret, WebhookSecret, WebhookSecretError};

/// How often a change is tried when others come in between.
const ATTEMPTS: usize = 10;

/// The webhooks.
#[derive(Debug)]
pub(crate) struct WebhookDirectory {
    store: Store,
    outbox: Outbox,
    secret: Arc<DeploymentSecret>,
    random: Random,
}

/// A webhook as an operator wants it.
#[derive(Debug, Clone)]
pub(crate) struct WebhookDraft {
    pub(crate) url: String,
    pub(crate) allow_http: bool,
    pub(crate) events: BTreeSet<String>,
    pub(crate) rooms: RoomScope,
    pub(crate) enabled: bool,
    /// Whether what has happened so far is left out.
    pub(crate) skip: bool,
    /// `None`: the one that it has, or a new one.
    pub(crate) secret: Option<WebhookSecret>,
}

/// Why the webhooks cannot be changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebhookError {
    /// Redis did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is none of this name.
    #[error("there is no webhook of this name")]
    Unknown,
    /// There are as many as there may be.
    #[error("there are {MAX_WEBHOOKS} webhooks already: delete those that nobody needs")]
    TooMany,
    /// Others keep changing them.
    #[error("others keep changing the webhooks")]
    Busy,
    /// What is in Redis cannot be read.
    #[error("the webhooks in redis cannot be read")]
    Text(#[source] serde_json::Error),
    /// A secret cannot be opened.
    #[error(transparent)]
    Secret(#[from] WebhookSecretError),
}

/// A webhook before and after a change, and the secret that was made or given.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) before: Option<Webhook>,
    pub(crate) after: Webhook,
    pub(crate) secret: Option<WebhookSecret>,
}

// === impl WebhookDirectory ===

impl WebhookDirectory {
    /// The webhooks in `store`; `outbox` is this instance's memory of them.
    pub(crate) fn new(
        store: Store,
        outbox: Outbox,
        secret: Arc<DeploymentSecret>,
        random: Random,
    ) -> Self {
        Self { store, outbox, secret, random }
    }

    /// All of them, as Redis has them this moment.
    ///
    /// # Errors
    /// If Redis does not tell.
    pub(crate) async fn all(&self) -> Result<Webhooks, WebhookError> {
        self.outbox.look().await?;
        Ok(self.outbox.known().set.clone())
    }

    /// The one of this name.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) async fn get(&self, name: &str) -> Result<Webhook, WebhookError> {
        self.all().await?.webhooks.remove(name).ok_or(WebhookError::Unknown)
    }

    /// Makes a webhook, or replaces it, at `now_ms`. A new secret replaces the one that it had, which signs for a while,
    /// too. `note` is told of it before.
    ///
    /// # Errors
    /// If there are too many.
    pub(crate) async fn put(
        &self,
        name: &str,
        draft: &WebhookDraft,
        (created_by, now_ms): (&str, u64),
        note: impl Fn(&Changed),
    ) -> Result<Changed, WebhookError> {
        // Before it is made: what happens from now on is its.
        let end = |stream| self.store.last_event(stream);
        let from = end(EventStream::Main).await?.unwrap_or_default();
        let visitors_from = end(EventStream::Visitors).await?.unwrap_or_default();
        self.change(|set| {
            let before = set.webhooks.get(name).cloned();
            let goes_on = before.as_ref().filter(|_| !draft.skip);
            if before.is_none() && set.webhooks.len() >= MAX_WEBHOOKS {
                return Err(WebhookError::TooMany);
            }
            let given = draft.secret.clone();
            let (secret, old_secrets, new) = match &before {
                None => {
                    let new = given.unwrap_or_else(|| self.make_secret());
                    (new.seal(&self.secret, name), Vec::new(), Some(new))
                }
                Some(known) => self.next_secret(name, known, given, now_ms / 1_000),
            };
            let after = Webhook {
                url: draft.url.clone(),
                allow_http: draft.allow_http,
                events: draft.events.clone(),
                rooms: draft.rooms.clone(),
                enabled: draft.enabled,
                disabled: None,
                secret,
                old_secrets,
                from: goes_on.map_or_else(|| from.clone(), |known| known.from.clone()),
                visitors_from: goes_on
                    .map_or_else(|| visitors_from.clone(), |known| known.visitors_from.clone()),
                created_at_ms: before.as_ref().map_or(now_ms, |known| known.created_at_ms),
                created_by: before
                    .as_ref()
                    .map_or_else(|| created_by.to_owned(), |known| known.created_by.clone()),
                revision: set.revision,
            };
            set.webhooks.insert(name.to_owned(), after.clone());
            let changed = Changed { before, after, secret: new };
            note(&changed);
            Ok(changed)
        })
        .await
    }

    /// Makes a new secret for a webhook at `now_ms`; the one before signs for a while, too. `note` is told of it before.
    ///
    /// # Errors
    /// If there is no such webhook.
    pub(crate) async fn rotate(
        &self,
        name: &str,
        now_ms: u64,
        note: impl Fn(&Changed),
    ) -> Result<Changed, WebhookError> {
        self.change(|set| {
            let revision = set.revision;
            let webhook = set.webhooks.get_mut(name).ok_or(WebhookError::Unknown)?;
            let before = webhook.clone();
            let made = Some(self.make_secret());
            let (secret, old_secrets, new) = self.next_secret(name, &before, made, now_ms / 1_000);
            let after = Webhook { secret, old_secrets, revision, ..before.clone() };
            *webhook = after.clone();
            let changed = Changed { before: Some(before), after, secret: new };
            note(&changed);
            Ok(changed)
        })
        .await
    }

    /// Deletes a webhook; `note` is told of it before.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) async fn delete(
        &self,
        name: &str,
        note: impl Fn(&Webhook),
    ) -> Result<(), WebhookError> {
        let remove = |set: &mut Webhooks| set.webhooks.remove(name).ok_or(WebhookError::Unknown);
        self.change(|set| remove(set).map(|deleted| note(&deleted))).await
    }

    /// Switches a webhook off that has been so since `revision`, at `now_ms`. One that was changed meanwhile stays on.
    ///
    /// # Errors
    /// If that cannot be written.
    pub(crate) async fn disable(
        &self,
        name: &str,
        revision: u64,
        why: &str,
        now_ms: u64,
    ) -> Result<(), WebhookError> {
        self.change(|set| {
            let next = set.revision;
            let known = set.webhooks.get_mut(name).filter(|known| known.revision == revision);
            if let Some(webhook) = known {
                webhook.disabled = Some(Disabled { at: now_ms / 1_000, why: why.to_owned() });
                webhook.revision = next;
            }
            Ok(())
        })
        .await
    }

    /// Puts back what Redis has lost, and seals anew what an older secret has sealed: for the leader.
    ///
    /// # Errors
    /// If that cannot be written.
    pub(crate) async fn keep(&self) -> Result<(), WebhookError> {
        let known = self.outbox.known();
        let mut set = known.set.clone();
        let resealed = self.reseal(&mut set);
        if !known.is_lost && !resealed {
            return Ok(());
        }
        let text = write(&set)?;
        if self.store.replace_webhooks(known.text.as_deref(), &text).await? {
            if known.is_lost {
                tracing::warn!("redis had lost some of the webhooks: they are whole again");
            }
            self.outbox.take(Some(text), set);
        }
        Ok(())
    }

    /// What the events of a webhook are signed with at `now`, unix seconds: its secret, and for a while those before.
    ///
    /// # Errors
    /// If its secret cannot be opened.
    pub(crate) fn secrets(
        &self,
        name: &str,
        webhook: &Webhook,
        now: u64,
    ) -> Result<Vec<WebhookSecret>, WebhookError> {
        let mut secrets = vec![WebhookSecret::open(&self.secret, name, &webhook.secret)?];
        let old = webhook.old_secrets.iter().filter(|old| now < old.until);
        secrets.extend(
            old.filter_map(|old| WebhookSecret::open(&self.secret, name, &old.secret).ok()),
        );
        Ok(secrets)
    }

    /// A number by chance, for the time of the next attempt.
    pub(crate) fn chance(&self) -> u64 {
        self.random.number()
    }

    fn make_secret(&self) -> WebhookSecret {
        WebhookSecret::make(std::array::from_fn(|_| self.random.number()))
    }

    /// The sealed secret, those before, and the new one in the clear if it is another.
    fn next_secret(
        &self,
        name: &str,
        known: &Webhook,
        given: Option<WebhookSecret>,
        now: u64,
    ) -> (String, Vec<OldSecret>, Option<WebhookSecret>) {
        let current = WebhookSecret::open(&self.secret, name, &known.secret);
        let is_same = |given: &WebhookSecret| current.as_ref().is_ok_and(|it| it.is(given));
        match given.filter(|given| !is_same(given)) {
            None => (known.secret.clone(), known.old_secrets.clone(), None),
            Some(new) => {
                let until = now + OVERLAP_SECONDS;
                let mut old = known.old_secrets.clone();
                old.retain(|old| now < old.until);
                old.push(OldSecret { secret: known.secret.clone(), until });
                old.drain(..old.len().saturating_sub(MOST_OLD_SECRETS));
                (new.seal(&self.secret, name), old, Some(new))
            }
        }
    }

    /// Whether something was sealed anew.
    fn reseal(&self, set: &mut Webhooks) -> bool {
        let mut resealed = false;
        for (name, webhook) in &mut set.webhooks {
            let old = webhook.old_secrets.iter_mut().map(|old| &mut old.secret);
            for sealed in std::iter::once(&mut webhook.secret).chain(old) {
                if let Some(anew) = WebhookSecret::reseal(&self.secret, name, sealed) {
                    *sealed = anew;
                    resealed = true;
                }
            }
        }
        if resealed {
            set.revision += 1;
        }
        resealed
    }

    /// Asks once more where there was no answer: it may have been replaced, and who has made a secret is told it once.
    async fn replace(&self, read: Option<&str>, text: &str) -> Result<bool, StoreError> {
        match self.store.replace_webhooks(read, text).await {
            Err(_) => self.store.replace_webhooks(read, text).await,
            replaced => replaced,
        }
    }

    async fn change<T>(
        &self,
        mut change: impl FnMut(&mut Webhooks) -> Result<T, WebhookError>,
    ) -> Result<T, WebhookError> {
        for _ in 0..ATTEMPTS {
            self.outbox.look().await?;
            let known = self.outbox.known();
            let mut set = known.set.clone();
            set.revision += 1;
            let changed = change(&mut set)?;
            let text = write(&set)?;
            if self.replace(known.text.as_deref(), &text).await? {
                self.outbox.take(Some(text), set);
                return Ok(changed);
            }
        }
        Err(WebhookError::Busy)
    }
}

// === impl WebhookDraft ===

impl WebhookDraft {
    /// Checks its address.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn check(&self) -> Result<(), String> {
        check_address(&self.url, self.allow_http).map(drop).map_err(|error| error.to_string())
    }
}

fn write(set: &Webhooks) -> Result<String, WebhookError> {
    serde_json::to_string(set).map_err(WebhookError::Text)
}
