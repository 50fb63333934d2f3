//! What a link is told besides the address.

use std::{num::NonZeroU32, time::Duration};

use crate::StoreError;

/// What a link is told besides the address.
#[derive(Debug, Clone)]
pub struct LinkOptions {
    pub(super) timeout: Duration,
    pub(super) authorities: Option<Vec<u8>>,
    pub(super) wait: Option<Wait>,
}

/// How many replicas are waited for, and for how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    pub(super) replicas: NonZeroU32,
    pub(super) within: Duration,
}

// === impl LinkOptions ===

impl LinkOptions {
    /// Accepting a connection and each reply may take `timeout`. Certificates are checked by the public
    /// authorities, and nothing waits for replicas.
    #[must_use]
    pub fn new(timeout: Duration) -> Self {
        Self { timeout, authorities: None, wait: None }
    }

    /// Servers' certificates are checked by these authorities, in PEM, in the place of the public ones.
    ///
    /// # Errors
    /// [`StoreError::Address`] if there is no certificate.
    pub fn authorities(mut self, pem: Vec<u8>) -> Result<Self, StoreError> {
        let begin = b"-----BEGIN CERTIFICATE-----";
        if !pem.windows(begin.len()).any(|window| window == begin) {
            let why = "the file of VESTIBULE_REDIS_CA_FILE has no certificate in PEM, which begins \
                       with -----BEGIN CERTIFICATE-----";
            return Err(StoreError::Address(why.into()));
        }
        self.authorities = Some(pem);
        Ok(self)
    }

    /// What must not be lost waits up to `within` for `replicas` replicas; 0: it does not.
    #[must_use]
    pub fn wait(mut self, replicas: u32, within: Duration) -> Self {
        self.wait = NonZeroU32::new(replicas).map(|replicas| Wait { replicas, within });
        self
    }

    pub(crate) fn replicas_wanted(&self) -> u32 {
        self.wait.map_or(0, |wait| wait.replicas.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_refused() {
        let options = || LinkOptions::new(Duration::from_secs(1));
        assert!(options().authorities(b"nothing".to_vec()).is_err());
        let some = b"x\n-----BEGIN CERTIFICATE-----\nx".to_vec();
        assert!(options().authorities(some).is_ok());
    }
}
