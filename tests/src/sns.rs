//! A topic of Amazon SNS: what it posts is signed by a key of its own, whose certificate is in a folder that controllers
//! are given (`VESTIBULE_SNS_CERTIFICATES`), because no test reaches AWS. By other code than ours.

use std::path::Path;

use anyhow::Result;
use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use rcgen::{CertificateParams, DnType, KeyPair, PKCS_RSA_SHA256, RsaKeySize, SigningKey};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Fleet, Reply};

const FILE: &str = "SimpleNotificationService-00000000000000000000000000000000.pem";

/// A topic.
#[derive(Debug)]
pub struct SnsTopic {
    /// Its ARN.
    pub arn: String,
    key: KeyPair,
    folder: TempDir,
    /// How many messages were made.
    sent: std::sync::atomic::AtomicU32,
}

// === impl SnsTopic ===

impl SnsTopic {
    /// One of this name, in a region that there is not.
    pub fn new(name: &str) -> Result<Self> {
        let key = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048)?;
        let mut params = CertificateParams::new(vec!["sns.amazonaws.com".to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, "sns.amazonaws.com");
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join(FILE), params.self_signed(&key)?.pem())?;
        let arn = format!("arn:aws:sns:xx-test-1:123456789012:{name}");
        Ok(Self { arn, key, folder, sent: std::sync::atomic::AtomicU32::default() })
    }

    /// Where its certificate is.
    #[must_use]
    pub fn certificates(&self) -> &Path {
        self.folder.path()
    }

    /// A message with this published in it.
    pub fn notification(&self, published: &Value) -> Result<Value> {
        self.notification_at(published, Timestamp::now())
    }

    /// The same, sent at this moment.
    pub fn notification_at(&self, published: &Value, at: Timestamp) -> Result<Value> {
        let nth = self.sent.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (message, id) = (published.to_string(), format!("22b80b92-fdea-4c2c-8f9d-{nth:012}"));
        let (arn, timestamp) = (&self.arn, at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string());
        let signed = format!(
            "Message\n{message}\nMessageId\n{id}\nTimestamp\n{timestamp}\nTopicArn\n{arn}\nType\nNotification\n"
        );
        Ok(json!({
            "Type": "Notification",
            "MessageId": id,
            "TopicArn": arn,
            "Message": message,
            "Timestamp": timestamp,
            "SignatureVersion": "2",
            "Signature": STANDARD.encode(self.key.sign(signed.as_bytes())?),
            "SigningCertURL": format!("https://sns.xx-test-1.amazonaws.com/{FILE}"),
            "UnsubscribeURL": "https://sns.xx-test-1.amazonaws.com/?Action=Unsubscribe",
        }))
    }

    /// Posts a message to a room, as SNS does.
    pub async fn post(&self, controllers: &Fleet, room: &str, message: &Value) -> Result<Reply> {
        let url = controllers.at(&format!("/v1/rooms/{room}/inlet/sns"))?;
        let request = controllers.http().post(url);
        let request = request.header("content-type", "text/plain; charset=UTF-8");
        let request = request.header("x-amz-sns-message-type", "Notification");
        Reply::of(request.body(message.to_string())).await
    }
}
