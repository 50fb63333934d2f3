//! Asks Amazon SNS: for the certificates that its messages are signed by, and to confirm subscriptions. What is believed
//! is decided in `vestibule_token` and by the room's topics; nothing is asked for that these do not allow.

mod fetch;
mod given;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::Semaphore;
use url::Url;
use vestibule_domain::inlet::Topic;
use vestibule_runtime::{Problem, ProblemType};
use vestibule_token::{SnsCertificate, SnsError, SnsMessage};

use self::fetch::{Fetch, OverHttps};
pub(crate) use self::given::{GivenCertificatesError, read_given};

/// So many certificates are remembered: SNS has one in each region, and replaces it once in a while.
const MOST_CERTIFICATES: usize = 32;
/// So many requests at the same time: whoever posts nonsense may make some of them.
const AT_ONCE: usize = 2;

/// Why a message cannot be checked, or a subscription cannot be confirmed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    /// The message is not believed.
    #[error(transparent)]
    Unbelieved(#[from] SnsError),
    /// SNS does not answer, or does not answer what was asked for.
    #[error("SNS cannot be asked: {0}")]
    Unanswered(String),
}

/// What is known of SNS.
#[derive(Debug)]
pub(crate) struct Sns {
    fetch: Box<dyn Fetch>,
    places: Semaphore,
    /// By their addresses.
    certificates: Mutex<BTreeMap<String, Arc<SnsCertificate>>>,
    /// Those that an option gives, by the names of their files: for them SNS is not asked.
    given: BTreeMap<String, Arc<SnsCertificate>>,
}

// === impl Sns ===

impl Sns {
    /// Knows these certificates, by the names of their files at SNS, and fetches all others.
    pub(crate) fn new(given: BTreeMap<String, SnsCertificate>) -> Self {
        Self::over(Box::new(OverHttps::default()), given)
    }

    fn over(fetch: Box<dyn Fetch>, given: BTreeMap<String, SnsCertificate>) -> Self {
        let given = given.into_iter().map(|(file, certificate)| (file, Arc::new(certificate)));
        Self {
            fetch,
            places: Semaphore::new(AT_ONCE),
            certificates: Mutex::default(),
            given: given.collect(),
        }
    }

    /// Passes if the message was sent lately by this topic, which the room believes. `now`: unix seconds.
    ///
    /// # Errors
    /// [`AskError`].
    pub(crate) async fn check(
        &self,
        message: &SnsMessage,
        topic: &Topic,
        now: i64,
    ) -> Result<(), AskError> {
        message.check_time(now)?;
        let address = message.certificate_address(topic)?;
        let certificate = self.certificate(&address).await?;
        Ok(certificate.verify(message, &topic.certificate_names(), now)?)
    }

    /// Says to SNS that the room agrees to the subscription. The message was checked.
    ///
    /// # Errors
    /// [`AskError`].
    pub(crate) async fn confirm(
        &self,
        message: &SnsMessage,
        topic: &Topic,
    ) -> Result<(), AskError> {
        let address = message.confirmation_address(topic)?;
        self.get(&address).await.map(drop)
    }

    async fn certificate(&self, address: &Url) -> Result<Arc<SnsCertificate>, AskError> {
        let file = address.path().trim_start_matches('/');
        if let Some(given) = self.given.get(file) {
            return Ok(Arc::clone(given));
        }
        let known = || {
            let certificates = self.certificates.lock().unwrap_or_else(PoisonError::into_inner);
            certificates.get(address.as_str()).cloned()
        };
        if let Some(certificate) = known() {
            return Ok(certificate);
        }
        let fetched = self.get(address).await?;
        let certificate = Arc::new(SnsCertificate::read(&fetched)?);
        let mut certificates = self.certificates.lock().unwrap_or_else(PoisonError::into_inner);
        if certificates.len() >= MOST_CERTIFICATES {
            certificates.clear();
        }
        certificates.insert(address.as_str().to_owned(), Arc::clone(&certificate));
        Ok(certificate)
    }

    async fn get(&self, address: &Url) -> Result<Vec<u8>, AskError> {
        let busy = |_| AskError::Unanswered("it is being asked for others".to_owned());
        let _place = self.places.try_acquire().map_err(busy)?;
        self.fetch.get(address).await.map_err(AskError::Unanswered)
    }
}

// === impl AskError ===

impl From<AskError> for Problem {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Unbelieved(SnsError::Malformed(_)) => {
                Self::new(ProblemType::InvalidRequest).detail(error.to_string())
            }
            AskError::Unbelieved(_) => {
                tracing::info!(%error, "a message of sns is not believed");
                Self::new(ProblemType::UnbelievedMessage).detail(error.to_string())
            }
            AskError::Unanswered(_) => {
                tracing::warn!(%error, "sns cannot be asked");
                Self::new(ProblemType::SnsUnavailable)
            }
        }
    }
}

#[cfg(test)]
mod tests;
