//! Messages that `openssl` has signed, by a key that nobody has any more.

use serde_json::{Value, json};

use super::*;

const CERTIFICATE: &[u8] = include_bytes!("fixtures/certificate.pem");
const NOTIFICATION_1: &str = include_str!("fixtures/notification_1.json");
const NOTIFICATION_2: &str = include_str!("fixtures/notification_2.json");
const CONFIRMATION_1: &str = include_str!("fixtures/confirmation_1.json");
const ALL: [&str; 3] = [NOTIFICATION_1, NOTIFICATION_2, CONFIRMATION_1];
/// 2027-11-05T10:00:00Z
const NOW: i64 = 1_825_408_800;

fn hosts() -> Vec<String> {
    vec!["sns.amazonaws.com".to_owned(), "sns.eu-west-1.amazonaws.com".to_owned()]
}

fn changed(text: &str, field: &str, value: Value) -> String {
    let mut message: Value = serde_json::from_str(text).unwrap();
    message[field] = value;
    message.to_string()
}

fn accepts(text: &str) -> Result<(), SnsError> {
    let message = SnsMessage::read(text.as_bytes())?;
    message.check_time(NOW)?;
    SnsCertificate::read(CERTIFICATE)?.verify(&message, &hosts(), NOW)
}

#[test]
fn both_versions_and_both_kinds_are_verified() {
    for text in ALL {
        assert_eq!(accepts(text), Ok(()), "{text}");
    }
}

#[test]
fn what_is_signed_is_as_aws_documents_it() {
    let text = |text: &str| SnsMessage::read(text.as_bytes()).unwrap().signed_text();
    assert_eq!(
        text(NOTIFICATION_1),
        "Message\n{\"exited\": \"2\",\n \"completed\": []}\nMessageId\n22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324\nSubject\nMy \
         First Message\nTimestamp\n2027-11-05T10:00:00.655Z\nTopicArn\narn:aws:sns:eu-west-1:123456789012:exits\nType\n\
         Notification\n"
    );
    let confirmation = text(CONFIRMATION_1);
    let names: Vec<_> =
        confirmation.lines().filter(|line| !line.contains(' ')).step_by(2).collect();
    assert_eq!(names[..2], ["Message", "165545c9-2a5c-472c-8df2-7ff2be2b3b1b"]);
    assert!(confirmation.ends_with("Type\nSubscriptionConfirmation\n"));
    let [url, token] =
        ["\nSubscribeURL\n", "\nToken\n"].map(|name| confirmation.find(name).unwrap());
    assert!(url < confirmation.find("\nTimestamp\n").unwrap() && url < token);
}

#[test]
fn nothing_that_is_signed_can_be_altered() {
    for text in ALL {
        for field in ["Message", "MessageId", "TopicArn"] {
            assert_eq!(
                accepts(&changed(text, field, json!("x"))),
                Err(SnsError::Signature),
                "{field}"
            );
        }
        let later = changed(text, "Timestamp", json!("2027-11-05T10:00:01.655Z"));
        assert_eq!(accepts(&later), Err(SnsError::Signature));
        let none = changed(text, "Signature", json!(""));
        assert_eq!(accepts(&none), Err(SnsError::Signature));
    }
    assert_eq!(accepts(&changed(NOTIFICATION_1, "Subject", json!(null))), Err(SnsError::Signature));
    assert_eq!(accepts(&changed(NOTIFICATION_2, "Subject", json!("x"))), Err(SnsError::Signature));
    assert_eq!(accepts(&changed(CONFIRMATION_1, "Token", json!("x"))), Err(SnsError::Signature));
    let kind = changed(CONFIRMATION_1, "Type", json!("Notification"));
    assert_eq!(accepts(&kind), Err(SnsError::Signature));
    let version = changed(NOTIFICATION_2, "SignatureVersion", json!("1"));
    assert_eq!(accepts(&version), Err(SnsError::Signature));
}

/// The values of a signed text, cut in another way.
#[test]
fn no_field_but_the_message_has_lines() {
    for field in ["MessageId", "TopicArn", "Timestamp", "Subject"] {
        let read = SnsMessage::read(changed(NOTIFICATION_1, field, json!("x\nType")).as_bytes());
        assert!(matches!(read, Err(SnsError::Malformed(_))), "{field}");
    }
}

#[test]
fn old_messages_and_those_of_the_future_are_refused() {
    let message = SnsMessage::read(NOTIFICATION_1.as_bytes()).unwrap();
    for (now, expected) in [
        (NOW, Ok(())),
        (NOW + SNS_OLDEST_SECONDS, Ok(())),
        (NOW + SNS_OLDEST_SECONDS + 1, Err(SnsError::Time)),
        (NOW - AHEAD_SECONDS, Ok(())),
        (NOW - AHEAD_SECONDS - 1, Err(SnsError::Time)),
    ] {
        assert_eq!(message.check_time(now), expected, "{now}");
    }
    assert_eq!(message.sent_ms(), Ok(1_825_408_800_655));
}

#[test]
fn a_certificate_is_for_a_time_and_for_a_host() {
    let certificate = SnsCertificate::read(CERTIFICATE).unwrap();
    let message = SnsMessage::read(NOTIFICATION_1.as_bytes()).unwrap();
    let other = certificate.verify(&message, &["sns.evil.example".to_owned()], NOW);
    assert_eq!(other, Err(SnsError::Certificate("is somebody else's")));
    for (now, _) in [(0, "early"), (i64::MAX, "late")] {
        let wrong = certificate.verify(&message, &hosts(), now);
        assert_eq!(wrong, Err(SnsError::Certificate("is not valid now")));
    }
    for none in [&b""[..], b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", b"x"]
    {
        assert!(SnsCertificate::read(none).is_err());
    }
}

#[test]
fn what_is_no_message_is_refused() {
    for text in ["", "{}", "[]", r#"{"exited": 5}"#] {
        assert!(matches!(SnsMessage::read(text.as_bytes()), Err(SnsError::Malformed(_))), "{text}");
    }
    for (field, value) in [
        ("Type", json!("Other")),
        ("SignatureVersion", json!("3")),
        ("Timestamp", json!("soon")),
        ("MessageId", json!("")),
        ("MessageId", json!("a:b")),
    ] {
        let text = changed(NOTIFICATION_1, field, value);
        assert!(matches!(SnsMessage::read(text.as_bytes()), Err(SnsError::Malformed(_))), "{text}");
    }
}

#[test]
fn nothing_is_fetched_from_elsewhere_than_the_topics_region() {
    let topic = "arn:aws:sns:eu-west-1:123456789012:exits".parse().unwrap();
    let other = "arn:aws:sns:us-east-1:123456789012:exits".parse().unwrap();
    let message = SnsMessage::read(CONFIRMATION_1.as_bytes()).unwrap();
    assert!(
        message.certificate_address(&topic).is_ok() && message.confirmation_address(&topic).is_ok()
    );
    let wrong = [message.certificate_address(&other), message.confirmation_address(&other)];
    assert_eq!(
        wrong,
        [Err(SnsError::Address("SigningCertURL")), Err(SnsError::Address("SubscribeURL"))]
    );
}
