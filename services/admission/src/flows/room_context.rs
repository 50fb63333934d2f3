//! A room at the time of a call: what the flows and the edge read of it without asking Redis.

use std::{
    ops::Deref,
    sync::{Arc, LazyLock},
};

use axum::http::HeaderValue;
use vestibule_domain::{OnRedisFailure, Progress, RoomSnapshot, network_limits::NetworkLimits};
use vestibule_issuance::RoomCiphers;
use vestibule_site::{ClientNetwork, CookieAttributes, SiteBinding};
use vestibule_store::{ClaimNetwork, KnownRoom, StoreError, StoredConfig};
use vestibule_token::Thumbprint;

/// The binding of a room whose config has not been read yet.
static DEFAULT: LazyLock<SiteBinding> = LazyLock::new(SiteBinding::default);

/// A room at the time of a call. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct RoomContext {
    /// The room.
    pub(crate) known: Arc<KnownRoom>,
    /// Its last snapshot.
    pub(crate) snapshot: Arc<RoomSnapshot>,
    /// Its ciphers, of the snapshot's reset epoch.
    pub(crate) ciphers: Arc<RoomCiphers>,
    /// Its place in front of a site.
    pub(crate) binding: BindingHandle,
    /// Who calls.
    pub(crate) caller: Caller,
}

/// What is known of who calls, besides a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Whether the visitor came over https: for cookies and links. Flows do not read it.
    pub(crate) https: bool,
    /// Its network; `None`: not known.
    pub(crate) network: Option<ClientNetwork>,
    /// What it calls itself in `User-Agent`.
    pub(crate) agent: Option<HeaderValue>,
    /// What it says in `Accept-Language`.
    pub(crate) languages: Option<HeaderValue>,
    /// The key that it has proven to have.
    pub(crate) key: Option<Thumbprint>,
    /// Whether its ticket cannot be opened now: it may be of a place, which no new one may replace.
    pub(crate) may_have_place: bool,
}

/// A caller's network, and what it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LimitedNetwork {
    /// Its digest.
    pub(crate) digest: u64,
    /// The limits that hold for it.
    pub(crate) limits: NetworkLimits,
    /// Whether they are those for private networks.
    pub(crate) is_private: bool,
}

/// A room's place in front of a site, as this instance last read it. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct BindingHandle(Option<Arc<StoredConfig>>);

// === impl RoomContext ===

impl RoomContext {
    /// How far the room has come: the counters of the snapshot, or the higher ones that this instance
    /// has seen since in replies of Redis.
    pub(crate) fn progress(&self) -> Progress {
        self.known.progress(&self.snapshot)
    }

    /// Whether the room lets newcomers in though the store has failed like this.
    pub(crate) fn fails_open(&self, error: &StoreError) -> bool {
        self.snapshot.settings.on_redis_failure == OnRedisFailure::Open
            && matches!(error, StoreError::Unavailable(_))
    }

    /// The caller's network, if something of it is limited.
    pub(crate) fn limited_network(&self) -> Option<LimitedNetwork> {
        let network = self.caller.network?;
        let is_private = network.is_private();
        let limits = self.snapshot.settings.network_limits(is_private);
        let digest = || self.ciphers.clients.of("network", &[&network.to_bytes()]);
        (!limits.are_none()).then(|| LimitedNetwork { digest: digest(), limits, is_private })
    }

    /// The same, as a claim has it.
    pub(crate) fn claim_network(&self) -> Option<ClaimNetwork> {
        let LimitedNetwork { digest, limits, .. } = self.limited_network()?;
        Some(ClaimNetwork { digest, seats: limits.seats, only_logs: limits.only_logs })
    }
}

// === impl BindingHandle ===

impl BindingHandle {
    /// As it is in this config.
    #[cfg(test)]
    pub(crate) fn of(config: vestibule_domain::schedule::RoomConfig) -> Self {
        Self(Some(Arc::new(StoredConfig { config, draws: std::collections::BTreeMap::new() })))
    }

    /// That of `room`, as last read.
    pub(crate) fn for_room(room: &KnownRoom) -> Self {
        Self(room.stored_config())
    }

    /// The cookies in which browsers may still hold tickets, though they are called otherwise now.
    pub(crate) fn former_cookies(&self) -> impl Iterator<Item = &CookieAttributes> {
        self.0.iter().flat_map(|stored| stored.config.given_up.cookies())
    }

    /// The version of the room's config; `None`: not read yet.
    pub(crate) fn version(&self) -> Option<u64> {
        self.0.as_ref().map(|stored| stored.config.version)
    }
}

impl Deref for BindingHandle {
    type Target = SiteBinding;

    fn deref(&self) -> &SiteBinding {
        self.0.as_ref().map_or(&DEFAULT, |stored| &stored.config.binding)
    }
}
