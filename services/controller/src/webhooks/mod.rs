//! Webhooks: who is told of events, as operators have set it ([`WebhookDirectory`]); sending one event
//! ([`WebhookClient`]) and many ([`batch`], [`lanes`]); what an event says ([`news`]); and what is measured of all that. When
//! something is sent, and by which controller, is in `loops/webhooks`.

pub(crate) mod batch;
mod client;
mod directory;
mod lanes;
mod metrics;
pub(crate) mod news;
mod resolver;
mod settle;

pub(crate) use self::{
    client::{AGENT, EncryptedClient, Envelope, Sent, WebhookClient, encrypted_client},
    directory::{Changed, WebhookDirectory, WebhookDraft, WebhookError},
    metrics::WebhookMetrics,
    resolver::CheckedResolver,
    settle::Round,
};
