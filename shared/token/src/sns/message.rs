//! A message of SNS as it is posted, and the text of it that is signed.

use jiff::Timestamp;
use serde::Deserialize;
use url::Url;
use vestibule_domain::inlet::Topic;

use super::{AHEAD_SECONDS, SNS_OLDEST_SECONDS, SnsError};

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum SnsKind {
    /// Somebody has published something.
    Notification,
    /// Somebody has subscribed this address, which has to say that it agrees.
    SubscriptionConfirmation,
    /// The subscription was ended.
    UnsubscribeConfirmation,
}

/// A message, of which nobody knows yet who has sent it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct SnsMessage {
    /// What it is about.
    #[serde(rename = "Type")]
    pub kind: SnsKind,
    /// Names it: letters, digits and `-`. It comes again under the same name.
    pub message_id: String,
    /// The ARN of its topic.
    pub topic_arn: String,
    /// What was published.
    pub message: String,
    timestamp: String,
    subject: Option<String>,
    token: Option<String>,
    #[serde(rename = "SubscribeURL")]
    subscribe_url: Option<String>,
    signature_version: String,
    pub(super) signature: String,
    #[serde(rename = "SigningCertURL")]
    signing_cert_url: String,
}

/// By which digest a message is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Digest {
    Sha1,
    Sha256,
}

// === impl SnsMessage ===

impl SnsMessage {
    /// Reads a message.
    ///
    /// # Errors
    /// [`SnsError::Malformed`].
    pub fn read(body: &[u8]) -> Result<Self, SnsError> {
        let read: Self = serde_json::from_slice(body)
            .map_err(|_| SnsError::Malformed("its JSON lacks what SNS sends"))?;
        // Else a text could be cut in another way than it was signed: of all fields, only `Message` may have lines.
        let others = [&read.message_id, &read.topic_arn, &read.timestamp];
        let more = [&read.subject, &read.token, &read.subscribe_url].into_iter().flatten();
        if others.into_iter().chain(more).any(|text| text.chars().any(char::is_control)) {
            return Err(SnsError::Malformed("a field has a line break"));
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if !(1..=60).contains(&read.message_id.len()) || !read.message_id.bytes().all(plain) {
            return Err(SnsError::Malformed("its MessageId is none"));
        }
        read.digest()?;
        read.sent_ms()?;
        Ok(read)
    }

    /// When it was published, unix ms.
    ///
    /// # Errors
    /// [`SnsError::Malformed`].
    pub fn sent_ms(&self) -> Result<u64, SnsError> {
        let sent: Option<Timestamp> = self.timestamp.parse().ok();
        let sent = sent.and_then(|sent| u64::try_from(sent.as_millisecond()).ok());
        sent.ok_or(SnsError::Malformed("its Timestamp is no time"))
    }

    /// Passes if it was sent lately, seen from `now`, unix seconds.
    ///
    /// # Errors
    /// [`SnsError::Time`].
    pub fn check_time(&self, now: i64) -> Result<(), SnsError> {
        let sent = i64::try_from(self.sent_ms()? / 1_000).map_err(|_| SnsError::Time)?;
        let is_late = now.saturating_sub(sent) > SNS_OLDEST_SECONDS;
        if is_late || sent.saturating_sub(now) > AHEAD_SECONDS {
            return Err(SnsError::Time);
        }
        Ok(())
    }

    /// Where the certificate is that it was signed by.
    ///
    /// # Errors
    /// [`SnsError::Address`], if it names anything else than a certificate of the topic's region.
    pub fn certificate_address(&self, topic: &Topic) -> Result<Url, SnsError> {
        let address = topic.certificate_address(&self.signing_cert_url);
        address.ok_or(SnsError::Address("SigningCertURL"))
    }

    /// What to ask for, to say that the subscription is agreed to.
    ///
    /// # Errors
    /// [`SnsError::Address`], if it names anything else than SNS in the topic's region.
    pub fn confirmation_address(&self, topic: &Topic) -> Result<Url, SnsError> {
        let address = self.subscribe_url.as_deref();
        let address = address.and_then(|address| topic.confirmation_address(address));
        address.ok_or(SnsError::Address("SubscribeURL"))
    }

    pub(super) fn digest(&self) -> Result<Digest, SnsError> {
        match &*self.signature_version {
            "1" => Ok(Digest::Sha1),
            "2" => Ok(Digest::Sha256),
            _ => Err(SnsError::Malformed("its SignatureVersion is neither 1 nor 2")),
        }
    }

    /// The text that is signed: names and values, a line each, in this order.
    pub(super) fn signed_text(&self) -> String {
        let of_all = |name, value| (name, Some(value));
        let kind = match self.kind {
            SnsKind::Notification => "Notification",
            SnsKind::SubscriptionConfirmation => "SubscriptionConfirmation",
            SnsKind::UnsubscribeConfirmation => "UnsubscribeConfirmation",
        };
        let is_notification = self.kind == SnsKind::Notification;
        let fields = [
            of_all("Message", &*self.message),
            of_all("MessageId", &*self.message_id),
            ("Subject", self.subject.as_deref().filter(|_| is_notification)),
            ("SubscribeURL", self.subscribe_url.as_deref().filter(|_| !is_notification)),
            of_all("Timestamp", &*self.timestamp),
            ("Token", self.token.as_deref().filter(|_| !is_notification)),
            of_all("TopicArn", &*self.topic_arn),
            of_all("Type", kind),
        ];
        let lines =
            fields.iter().filter_map(|(name, value)| Some(format!("{name}\n{}\n", (*value)?)));
        lines.collect()
    }
}
