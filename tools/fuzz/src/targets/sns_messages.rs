//! Messages of Amazon SNS: whatever is posted, nothing is believed but what SNS has signed, and nothing is asked for
//! anywhere but at its host.

use vestibule_domain::inlet::Topic;
use vestibule_token::{SnsCertificate, SnsMessage};

use super::{Target, text};

pub(super) const TARGET: Target = Target {
    name: "sns-messages",
    run,
    words: &[
        "\"Type\":",
        "\"Notification\"",
        "\"SubscriptionConfirmation\"",
        "\"Message\":",
        "\"MessageId\":",
        "\"Subject\":",
        "\"Timestamp\":",
        "\"Token\":",
        "\"TopicArn\":",
        "\"SubscribeURL\":",
        "\"SigningCertURL\":",
        "https://sns.eu-west-1.amazonaws.com/",
        "\\n",
        "\\u0000",
        ".pem",
        "@",
        "null",
    ],
};

const CERTIFICATE: &[u8] =
    include_bytes!("../../../../shared/token/src/sns/fixtures/certificate.pem");
const SIGNED: &str = include_str!("../../../../shared/token/src/sns/fixtures/notification_1.json");
const CONFIRMATION: &str =
    include_str!("../../../../shared/token/src/sns/fixtures/confirmation_1.json");
const ARN: &str = "arn:aws:sns:eu-west-1:123456789012:exits";
/// 2027-11-05T10:00:00Z
const NOW: i64 = 1_825_408_800;

fn accepted(body: &[u8]) -> Option<SnsMessage> {
    let message = SnsMessage::read(body).ok()?;
    let topic: Topic = ARN.parse().ok()?;
    for address in [message.certificate_address(&topic), message.confirmation_address(&topic)] {
        let Ok(address) = address else { continue };
        assert_eq!(address.host_str(), Some("sns.eu-west-1.amazonaws.com"), "{address}");
        assert_eq!((address.scheme(), address.port()), ("https", None), "{address}");
        assert!(address.username().is_empty() && address.password().is_none(), "{address}");
    }
    message.check_time(NOW).ok()?;
    let certificate = SnsCertificate::read(CERTIFICATE).ok()?;
    certificate.verify(&message, &topic.certificate_names(), NOW).ok()?;
    Some(message)
}

/// Whether it says what was signed, whatever else is in it.
fn check(body: &[u8]) {
    let said = |message: &SnsMessage| {
        (
            message.kind,
            message.message_id.clone(),
            message.topic_arn.clone(),
            message.message.clone(),
        )
    };
    if let Some(message) = accepted(body) {
        let signed = [SIGNED, CONFIRMATION].map(|text| SnsMessage::read(text.as_bytes()).ok());
        let is_signed = signed.iter().flatten().any(|signed| said(signed) == said(&message));
        assert!(is_signed, "nobody has signed this: {message:?}");
    }
}

fn run(bytes: &[u8]) {
    assert!(accepted(SIGNED.as_bytes()).is_some());
    check(bytes);
    // Whatever is taken for a certificate, nothing panics.
    drop(SnsCertificate::read(bytes));
    let Some(([high, low], put)) = bytes.split_first_chunk::<2>() else { return };
    // A piece of the message is replaced by what was given.
    let mut changed = SIGNED.as_bytes().to_vec();
    let from = usize::from(u16::from_be_bytes([*high, *low])) % changed.len();
    let to = (from + put.len()).min(changed.len());
    changed.splice(from..to, put.iter().copied());
    check(text(&changed).as_bytes());
}
