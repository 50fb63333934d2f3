//! A certificate of SNS: for when and for whom it is, and whether a message is signed by its key.

use std::fmt;

use aws_lc_rs::signature::{
    RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use x509_parser::{extensions::GeneralName, pem::parse_x509_pem, prelude::X509Certificate};

use super::{SnsError, SnsMessage, message::Digest};

/// A certificate.
#[derive(Clone, PartialEq, Eq)]
pub struct SnsCertificate {
    /// Unix seconds: from when until when it is valid.
    valid: (i64, i64),
    /// The hosts that it is for.
    names: Vec<String>,
    /// Its RSA key.
    key: Vec<u8>,
}

// === impl SnsCertificate ===

impl SnsCertificate {
    /// Reads the first certificate of a PEM file.
    ///
    /// # Errors
    /// [`SnsError::Certificate`].
    pub fn read(pem: &[u8]) -> Result<Self, SnsError> {
        let (_, pem) = parse_x509_pem(pem).map_err(|_| SnsError::Certificate("is no PEM file"))?;
        let certificate = pem.parse_x509().map_err(|_| SnsError::Certificate("cannot be read"))?;
        let validity = certificate.validity();
        Ok(Self {
            valid: (validity.not_before.timestamp(), validity.not_after.timestamp()),
            names: names(&certificate),
            key: certificate.public_key().subject_public_key.data.to_vec(),
        })
    }

    /// Passes if the message is signed by its key, and the certificate is valid at `now`, unix seconds, and for one of
    /// these hosts.
    ///
    /// # Errors
    /// [`SnsError::Certificate`], [`SnsError::Signature`].
    pub fn verify(&self, message: &SnsMessage, hosts: &[String], now: i64) -> Result<(), SnsError> {
        if !(self.valid.0..=self.valid.1).contains(&now) {
            return Err(SnsError::Certificate("is not valid now"));
        }
        if !self.names.iter().any(|name| hosts.contains(name)) {
            return Err(SnsError::Certificate("is somebody else's"));
        }
        let algorithm = match message.digest()? {
            Digest::Sha1 => &RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY,
            Digest::Sha256 => &RSA_PKCS1_2048_8192_SHA256,
        };
        let signature = STANDARD.decode(&message.signature).map_err(|_| SnsError::Signature)?;
        let key = UnparsedPublicKey::new(algorithm, &self.key);
        let verified = key.verify(message.signed_text().as_bytes(), &signature);
        verified.map_err(|_| SnsError::Signature)
    }
}

impl fmt::Debug for SnsCertificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SnsCertificate").field("names", &self.names).finish_non_exhaustive()
    }
}

/// Those of its extension, or else of its subject.
fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let alternative = certificate.subject_alternative_name().ok().flatten();
    let Some(alternative) = alternative else {
        let common = certificate.subject().iter_common_name();
        return common.filter_map(|name| Some(name.as_str().ok()?.to_owned())).collect();
    };
    let dns = |name: &GeneralName<'_>| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        _ => None,
    };
    alternative.value.general_names.iter().filter_map(dns).collect()
}
