//! SNS is asked for what it signed by, once, and for nothing that it did not sign.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::*;

const CERTIFICATE: &[u8] =
    include_bytes!("../../../../shared/token/src/sns/fixtures/certificate.pem");
const CONFIRMATION: &[u8] =
    include_bytes!("../../../../shared/token/src/sns/fixtures/confirmation_1.json");
const NOTIFICATION: &[u8] =
    include_bytes!("../../../../shared/token/src/sns/fixtures/notification_2.json");
const NOW: i64 = 1_825_408_800;
const FILE: &str = "SimpleNotificationService-0123456789abcdef0123456789abcdef.pem";

/// Notes what it is asked for, and answers the certificate, unless it is said to be away.
#[derive(Debug, Clone, Default)]
struct Noting {
    asked: Arc<Mutex<Vec<String>>>,
    is_away: bool,
}

impl Fetch for Noting {
    fn get<'a>(&'a self, address: &'a Url) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        self.asked.lock().unwrap().push(address.to_string());
        let answer = if self.is_away { Err("away".to_owned()) } else { Ok(CERTIFICATE.to_vec()) };
        Box::pin(async { answer })
    }
}

fn topic() -> Topic {
    "arn:aws:sns:eu-west-1:123456789012:exits".parse().unwrap()
}

fn asking(noting: &Noting) -> Sns {
    Sns::over(Box::new(noting.clone()), BTreeMap::new())
}

#[tokio::test]
async fn a_certificate_is_fetched_once_and_a_subscription_confirmed_by_its_address() {
    let noting = Noting::default();
    let sns = asking(&noting);
    for body in [NOTIFICATION, CONFIRMATION] {
        let message = SnsMessage::read(body).unwrap();
        sns.check(&message, &topic(), NOW).await.unwrap();
    }
    let certificate = format!("https://sns.eu-west-1.amazonaws.com/{FILE}");
    assert_eq!(*noting.asked.lock().unwrap(), std::slice::from_ref(&certificate));
    sns.confirm(&SnsMessage::read(CONFIRMATION).unwrap(), &topic()).await.unwrap();
    let confirmed = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=\
        arn:aws:sns:eu-west-1:123456789012:exits&Token=2336412f37";
    assert_eq!(*noting.asked.lock().unwrap(), [certificate, confirmed.to_owned()]);
}

#[tokio::test]
async fn nothing_is_asked_for_a_message_that_is_too_old_or_of_another_region() {
    let noting = Noting::default();
    let sns = asking(&noting);
    let message = SnsMessage::read(NOTIFICATION).unwrap();
    let old = sns.check(&message, &topic(), NOW + 4_000).await;
    assert!(matches!(old, Err(AskError::Unbelieved(SnsError::Time))), "{old:?}");
    let other = "arn:aws:sns:us-east-1:123456789012:exits".parse().unwrap();
    let other = sns.check(&message, &other, NOW).await;
    assert!(matches!(other, Err(AskError::Unbelieved(SnsError::Address(_)))), "{other:?}");
    assert!(noting.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_given_certificate_is_not_asked_for_and_without_an_answer_nothing_is_believed() {
    let noting = Noting { is_away: true, ..Noting::default() };
    let message = SnsMessage::read(NOTIFICATION).unwrap();
    let away = asking(&noting).check(&message, &topic(), NOW).await;
    assert!(matches!(away, Err(AskError::Unanswered(_))), "{away:?}");
    let given = [(FILE.to_owned(), SnsCertificate::read(CERTIFICATE).unwrap())];
    let sns = Sns::over(Box::new(noting.clone()), given.into());
    sns.check(&message, &topic(), NOW).await.unwrap();
    assert_eq!(noting.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn no_more_is_remembered_than_there_may_be() {
    let sns = asking(&Noting::default());
    for nth in 0..100 {
        let address = format!("https://sns.eu-west-1.amazonaws.com/{nth}.pem").parse().unwrap();
        sns.certificate(&address).await.unwrap();
        assert!(sns.certificates.lock().unwrap().len() <= MOST_CERTIFICATES);
    }
}
