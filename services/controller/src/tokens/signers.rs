//! The keys by which callers sign their requests: those of the option, and those that were made by calls. In Redis these
//! are sealed; in memory they are opened once, when the set is read.

use vestibule_domain::access::{self, ApiSigner, ApiTokens};
use vestibule_token::{DeploymentSecret, SigV4Key};

use super::{Known, TokenError, Tokens};
use crate::access::Caller;

/// A key that was made by a call, opened.
#[derive(Debug)]
pub(super) struct Opened {
    signer: ApiSigner,
    key: SigV4Key,
}

/// Whose key an access key id is.
#[derive(Debug)]
pub(crate) enum FoundSigners {
    /// Theirs: one, but for the time in which both sides of a split have made one of this id. None: nobody's.
    Keys(Vec<(Caller, SigV4Key)>),
    /// It may be somebody's: this instance has not read the keys yet.
    NotYet,
}

/// The keys of a set that the secret opens.
pub(super) fn open_all(set: &ApiTokens, secret: &DeploymentSecret) -> Vec<Opened> {
    let open = |signer: &ApiSigner| {
        let key = SigV4Key::open(secret, &signer.key_id, &signer.sealed);
        let key = key.inspect_err(|error| {
            tracing::warn!(key_id = signer.key_id, %error, "a stored key for signed requests cannot be used");
        });
        Some(Opened { signer: signer.clone(), key: key.ok()? })
    };
    set.signers.values().filter_map(open).collect()
}

// === impl Tokens ===

impl Tokens {
    /// What was read, its keys sealed as they are known where this secret does not open them: Redis has gone back to before
    /// they were sealed anew, and the older secret is forgotten.
    pub(super) fn sealed_as_known(&self, mut read: ApiTokens) -> ApiTokens {
        let known = self.known();
        for (digest, signer) in &mut read.signers {
            let own = known.set.signers.get(digest).filter(|own| own.sealed != signer.sealed);
            let opens = || SigV4Key::open(&self.secret, &signer.key_id, &signer.sealed).is_ok();
            if let Some(own) = own.filter(|_| !opens()) {
                signer.sealed.clone_from(&own.sealed);
            }
        }
        read
    }

    /// Whose keys have this id. One that others have just made is looked for in Redis.
    pub(crate) async fn find_signers(&self, key_id: &str) -> FoundSigners {
        let found = self.signers(key_id);
        if !found.is_empty() {
            return FoundSigners::Keys(found);
        }
        self.look_for_new_ones().await;
        if self.known().is_read {
            FoundSigners::Keys(self.signers(key_id))
        } else {
            FoundSigners::NotYet
        }
    }

    /// Those of the option, by access key id.
    pub(crate) fn given_signers(&self) -> impl Iterator<Item = &Caller> {
        self.given_signers.iter().map(|given| &given.caller)
    }

    /// Those that were made by calls, as Redis has them this moment; of each whether a session token is part of it,
    /// `None`: the secret does not open it.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) async fn made_signers(&self) -> Result<Vec<(ApiSigner, Option<bool>)>, TokenError> {
        self.look().await?;
        let known = self.known();
        let is_temporary = |signer: &ApiSigner| {
            let opened = known.opened.iter().find(|opened| opened.signer == *signer);
            opened.map(|opened| opened.key.is_temporary())
        };
        let signers = known.set.signers.values();
        let mut signers: Vec<_> =
            signers.map(|signer| (signer.clone(), is_temporary(signer))).collect();
        signers.sort_by(|(one, _), (other, _)| one.key_id.cmp(&other.key_id));
        Ok(signers)
    }

    /// A text that nobody may guess.
    pub(crate) fn random_text(&self) -> String {
        access::random_text(std::array::from_fn(|_| self.random.number()))
    }

    /// Takes a key in, which `signer` says of whom it is; what is sealed is made here.
    ///
    /// # Errors
    /// If its name is taken, or there are too many.
    pub(crate) async fn create_signer(
        &self,
        signer: &ApiSigner,
        key: &SigV4Key,
    ) -> Result<(), TokenError> {
        self.refuse_given(&signer.key_id)?;
        let sealed = key.seal(&self.secret, &signer.key_id).map_err(TokenError::Sealing)?;
        let digest = access::digest(&sealed);
        let signer = ApiSigner { sealed, ..signer.clone() };
        self.change(|set| Ok(set.take_signer(digest.clone(), signer.clone())?)).await
    }

    /// Revokes the key of this id at `now`, unix seconds.
    ///
    /// # Errors
    /// If there is none, or only the option has it.
    pub(crate) async fn revoke_signer(
        &self,
        key_id: &str,
        now: u64,
        note: impl Fn(&ApiSigner),
    ) -> Result<(), TokenError> {
        let revoke = |set: &mut ApiTokens| {
            set.revoke_signer(key_id, now).ok_or_else(|| self.no_made(key_id))
        };
        self.change(|set| revoke(set).map(|revoked| note(&revoked))).await
    }

    /// Seals under the current secret what another one has sealed that is known.
    pub(super) async fn reseal_signers(&self) -> Result<(), TokenError> {
        let reseal =
            |signer: &ApiSigner| SigV4Key::reseal(&self.secret, &signer.key_id, &signer.sealed);
        let known = self.known();
        if !self.secret.is_being_replaced()
            || !known.set.signers.values().any(|s| reseal(s).is_some())
        {
            return Ok(());
        }
        self.change(|set| {
            for signer in set.signers.values_mut() {
                if let Some(sealed) = reseal(signer) {
                    signer.sealed = sealed;
                }
            }
            Ok(())
        })
        .await
    }

    fn signers(&self, key_id: &str) -> Vec<(Caller, SigV4Key)> {
        let given = self.given_signers.iter().filter(|given| *given.caller.name == *key_id);
        let given = given.map(|given| (given.caller.clone(), given.key.clone()));
        let known = self.known();
        let made = known.opened.iter().filter(|opened| opened.is_of(key_id, &known));
        given
            .chain(made.map(|Opened { signer, key }| (Caller::from(signer), key.clone())))
            .collect()
    }
}

// === impl Opened ===

impl Opened {
    fn is_of(&self, key_id: &str, known: &Known) -> bool {
        let Self { signer, .. } = self;
        let is_over = signer.expires_at.is_some() && signer.is_over(known.now());
        signer.key_id == key_id && !is_over
    }
}

impl From<&ApiSigner> for Caller {
    fn from(signer: &ApiSigner) -> Self {
        Self::new(&signer.key_id, signer.role, signer.rooms.clone())
    }
}
