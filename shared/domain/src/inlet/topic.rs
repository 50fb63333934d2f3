//! The topics of Amazon SNS that a room believes, and the hosts at which their region answers. What is sent by them is
//! checked in `vestibule-token`.

use std::str::FromStr;

use url::Url;

use crate::FieldError;

/// The most topics of one room.
pub const MAX_TOPICS: usize = 10;
/// The longest name of a topic, in characters, as SNS has it.
const LONGEST_NAME: usize = 256;

/// A topic, by its ARN: `arn:aws:sns:eu-west-1:123456789012:exits`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Topic {
    arn: String,
    partition: Partition,
}

/// What AWS keeps apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Partition {
    Usual,
    China,
    UsGov,
}

/// The text names no topic that could post to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be the ARN of a standard topic, such as arn:aws:sns:eu-west-1:123456789012:exits (a FIFO topic posts to no \
     address)"
)]
pub struct TopicError;

// === impl Topic ===

impl Topic {
    /// The ARN.
    #[must_use]
    pub fn arn(&self) -> &str {
        &self.arn
    }

    /// Its last part.
    #[must_use]
    pub fn name(&self) -> &str {
        self.arn.rsplit(':').next().unwrap_or_default()
    }

    /// The one host at which SNS answers in its region.
    #[must_use]
    pub fn host(&self) -> String {
        let end =
            if self.partition == Partition::China { "amazonaws.com.cn" } else { "amazonaws.com" };
        format!("sns.{}.{end}", self.region())
    }

    /// The names of which a certificate may be that its messages are signed by.
    #[must_use]
    pub fn certificate_names(&self) -> Vec<String> {
        let of_all = (self.partition == Partition::Usual).then(|| "sns.amazonaws.com".to_owned());
        of_all.into_iter().chain([self.host()]).collect()
    }

    /// The address of a certificate, if one of its messages may name it: at its region's host, and a file that ends with
    /// `.pem`.
    #[must_use]
    pub fn certificate_address(&self, text: &str) -> Option<Url> {
        let url = self.address(text)?;
        let file = url.path().strip_prefix('/')?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_file =
            file.len() <= 200 && file.strip_suffix(".pem").is_some() && file.chars().all(plain);
        (is_file && url.query().is_none()).then_some(url)
    }

    /// The address by which a subscription is confirmed, if one of its messages may name it: at its region's host.
    #[must_use]
    pub fn confirmation_address(&self, text: &str) -> Option<Url> {
        self.address(text).filter(|url| url.path() == "/")
    }

    fn address(&self, text: &str) -> Option<Url> {
        let url = Url::parse(text).ok()?;
        let is_its = url.scheme() == "https"
            && url.host_str() == Some(&*self.host())
            && url.port().is_none()
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none();
        is_its.then_some(url)
    }

    fn region(&self) -> &str {
        self.arn.split(':').nth(3).unwrap_or_default()
    }
}

impl FromStr for Topic {
    type Err = TopicError;

    fn from_str(arn: &str) -> Result<Self, TopicError> {
        let parts: Vec<_> = arn.split(':').collect();
        let [first, partition, service, region, account, name] = parts[..] else {
            return Err(TopicError);
        };
        let partition = match partition {
            "aws" => Partition::Usual,
            "aws-cn" => Partition::China,
            "aws-us-gov" => Partition::UsGov,
            _ => return Err(TopicError),
        };
        let in_region = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let is_topic = (first, service) == ("arn", "sns")
            && (3..=30).contains(&region.len())
            && region.chars().all(in_region)
            && account.len() == 12
            && account.bytes().all(|byte| byte.is_ascii_digit())
            && (1..=LONGEST_NAME).contains(&name.len())
            && name.chars().all(in_name);
        is_topic.then(|| Self { arn: arn.to_owned(), partition }).ok_or(TopicError)
    }
}

/// What is wrong with a room's topics.
pub(super) fn errors(topics: &[String]) -> impl Iterator<Item = FieldError> + use<'_> {
    let many = topics.len();
    let many = (many > MAX_TOPICS).then(|| FieldError {
        field: "sns_topics".into(),
        reason: format!("must have at most {MAX_TOPICS} topics, and has {many}"),
    });
    let wrong = |(nth, arn): (usize, &String)| {
        let error = arn.parse::<Topic>().err()?;
        Some(FieldError { field: format!("sns_topics[{nth}]").into(), reason: error.to_string() })
    };
    many.into_iter().chain(topics.iter().enumerate().filter_map(wrong))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoomSettings;

    fn topic(arn: &str) -> Topic {
        arn.parse().unwrap()
    }

    #[test]
    fn a_topic_is_an_arn_of_sns() {
        let exits = topic("arn:aws:sns:eu-west-1:123456789012:exits");
        assert_eq!((exits.name(), &*exits.host()), ("exits", "sns.eu-west-1.amazonaws.com"));
        assert_eq!(exits.certificate_names(), ["sns.amazonaws.com", "sns.eu-west-1.amazonaws.com"]);
        let china = topic("arn:aws-cn:sns:cn-north-1:123456789012:exits");
        assert_eq!(china.certificate_names(), ["sns.cn-north-1.amazonaws.com.cn"]);
        let gov = topic("arn:aws-us-gov:sns:us-gov-west-1:123456789012:exits");
        assert_eq!(gov.certificate_names(), ["sns.us-gov-west-1.amazonaws.com"]);
        for wrong in [
            "",
            "exits",
            "arn:aws:sqs:eu-west-1:123456789012:exits",
            "arn:aws:sns:eu-west-1:123456789012:exits.fifo",
            "arn:aws:sns:eu-west-1:12345678901:exits",
            "arn:aws:sns:evil.example/:123456789012:exits",
            "arn:aws:sns:eu-west-1:123456789012:exits:subscription",
            "arn:aws:sns:eu-west-1:123456789012:*",
            "arn:aws-iso:sns:us-iso-east-1:123456789012:exits",
        ] {
            assert_eq!(wrong.parse::<Topic>(), Err(TopicError), "{wrong}");
        }
    }

    #[test]
    fn a_room_believes_few_topics_and_a_wrong_one_is_named() {
        let room = |topics: &[&str]| RoomSettings {
            sns_topics: topics.iter().map(|topic| (*topic).to_owned()).collect(),
            ..RoomSettings::default()
        };
        let exits = "arn:aws:sns:eu-west-1:123456789012:exits";
        assert_eq!(room(&[exits; MAX_TOPICS]).errors(), []);
        assert_eq!(room(&[exits; MAX_TOPICS + 1]).errors()[0].field, "sns_topics");
        let wrong = room(&[exits, "exits"]).errors();
        assert_eq!((wrong.len(), &*wrong[0].field), (1, "sns_topics[1]"));
    }

    #[test]
    fn nothing_is_fetched_but_from_the_host_of_the_topics_region() {
        let exits = topic("arn:aws:sns:eu-west-1:123456789012:exits");
        let good = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123.pem";
        assert_eq!(exits.certificate_address(good).unwrap().as_str(), good);
        for wrong in [
            "http://sns.eu-west-1.amazonaws.com/x.pem",
            "https://sns.us-east-1.amazonaws.com/x.pem",
            "https://sns.eu-west-1.amazonaws.com.evil.example/x.pem",
            "https://sns.eu-west-1.amazonaws.com.cn/x.pem",
            "https://evil.example/sns.eu-west-1.amazonaws.com/x.pem",
            "https://a:b@sns.eu-west-1.amazonaws.com/x.pem",
            "https://sns.eu-west-1.amazonaws.com:8443/x.pem",
            "https://sns.eu-west-1.amazonaws.com/x.pem?y",
            "https://sns.eu-west-1.amazonaws.com/x.pem#y",
            "https://sns.eu-west-1.amazonaws.com/a/x.pem",
            "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&x=.pem",
            "https://sns.eu-west-1.amazonaws.com/x",
            "x.pem",
        ] {
            assert_eq!(exits.certificate_address(wrong), None, "{wrong}");
        }
        let confirm = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=1";
        assert!(exits.confirmation_address(confirm).is_some());
        for wrong in ["https://sns.eu-west-1.amazonaws.com/other", "https://evil.example/?Token=1"]
        {
            assert_eq!(exits.confirmation_address(wrong), None, "{wrong}");
        }
    }
}
