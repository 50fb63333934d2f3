//! A client of OpenID Connect: a site or a gateway that logs its visitors in at a room. What the calls are, and what is
//! told of whom, is not here.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    SiteBinding,
    errors::{FieldError, error},
};

/// The most clients of a room.
pub const MAX_CLIENTS: usize = 20;
/// The most addresses of a client.
const MAX_ADDRESSES: usize = 20;
/// The longest address, in bytes.
const MAX_ADDRESS: usize = 1_024;
/// The most secrets of a client: the one in use, the next one, and two more.
const MAX_HASHES: usize = 4;
/// The longest id of a client, and the longest name.
const MAX_NAME: usize = 128;

/// A client of OpenID Connect: a site or a gateway that logs its visitors in here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OidcClient {
    /// Its `client_id`: 1 to 128 letters, digits, and `-._~`, and not the name or event id of another room. An AWS-style
    /// client's is its event's.
    #[cfg_attr(
        feature = "openapi",
        schema(
            min_length = 1,
            max_length = 128,
            pattern = "^[A-Za-z0-9._~-]{1,128}$",
            example = "shop"
        )
    )]
    pub id: String,
    /// What operators call it.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_length = 128, required = false))]
    pub name: String,
    /// Where its visitors may come back to: whole addresses, of which one must be asked for exactly as it is written
    /// here. `http` and `https`, and for apps schemes of their own with a dot in their name.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 20, example = json!(["https://shop.example/callback"])))]
    pub redirect_uris: Vec<String>,
    /// Whether it can keep no secret, as an app or a page cannot: then it must use PKCE.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub public: bool,
    /// Its secrets, each as `sha256:` and 64 hexadecimal digits. Any of them will do, so that one can be replaced without
    /// a pause. Without one, and not public, it gets no tokens. `POST …/oidc_clients/{client}/secret` makes one and adds
    /// its hash. Left out, a client that the room had already keeps those that it has; an empty list takes them away.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, max_items = 4, required = false))]
    pub secret_hashes: Option<Vec<String>>,
}

// === impl SiteBinding ===

impl SiteBinding {
    /// The client of OpenID Connect with this id.
    #[must_use]
    pub fn oidc_client(&self, id: &str) -> Option<&OidcClient> {
        self.oidc_clients.iter().find(|client| client.id == id)
    }

    /// Gives clients that say nothing of their secrets those that they had `before`. A public one has none.
    pub fn keep_secrets_of(&mut self, before: &Self) {
        for client in self.oidc_clients.iter_mut().filter(|client| client.secret_hashes.is_none()) {
            let had = before.oidc_client(&client.id).filter(|_| !client.public);
            client.secret_hashes = Some(had.map_or(&[][..], OidcClient::hashes).to_vec());
        }
    }

    pub(crate) fn client_errors(&self) -> Vec<FieldError> {
        if self.oidc_clients.len() > MAX_CLIENTS {
            return vec![error("oidc_clients", format!("must be at most {MAX_CLIENTS}"))];
        }
        let of_one = |(index, client): (usize, &OidcClient)| {
            let same = self.oidc_clients[..index].iter().position(|other| other.id == client.id);
            let twice = same.map(|same| ("id".to_owned(), format!("is that of number {same}")));
            let wrong = client.errors().into_iter().chain(twice);
            wrong
                .map(|(field, reason)| error(format!("oidc_clients[{index}].{field}"), reason))
                .collect::<Vec<_>>()
        };
        self.oidc_clients.iter().enumerate().flat_map(of_one).collect()
    }
}

// === impl OidcClient ===

impl OidcClient {
    /// Whether its visitors may come back to `address`.
    #[must_use]
    pub fn may_return_to(&self, address: &str) -> bool {
        self.redirect_uris.iter().any(|known| known == address)
    }

    /// The hashes of its secrets.
    #[must_use]
    pub fn hashes(&self) -> &[String] {
        self.secret_hashes.as_deref().unwrap_or_default()
    }

    /// Fields and reasons.
    fn errors(&self) -> Vec<(String, String)> {
        let mut errors = Vec::new();
        let mut wrong = |field: String, reason: &str| errors.push((field, reason.to_owned()));
        if !is_id(&self.id) {
            wrong("id".into(), "must have 1 to 128 letters, digits, `-`, `.`, `_` and `~`");
        }
        if self.name.len() > MAX_NAME || self.name.chars().any(char::is_control) {
            wrong("name".into(), "must have at most 128 bytes, and no control characters");
        }
        if !(1..=MAX_ADDRESSES).contains(&self.redirect_uris.len()) {
            wrong("redirect_uris".into(), "must be 1 to 20 addresses");
        }
        for (place, address) in self.redirect_uris.iter().enumerate() {
            if let Some(reason) = address_error(address) {
                wrong(format!("redirect_uris[{place}]"), reason);
            }
        }
        if self.hashes().len() > MAX_HASHES {
            wrong("secret_hashes".into(), "must be at most 4: take out those that nobody uses");
        }
        if self.public && !self.hashes().is_empty() {
            wrong("secret_hashes".into(), "must be empty: a public client keeps no secret");
        }
        for (place, hash) in self.hashes().iter().enumerate() {
            if !is_hash(hash) {
                let reason = "must be `sha256:` and the 64 lower-case hexadecimal digits of the secret's SHA-256";
                wrong(format!("secret_hashes[{place}]"), reason);
            }
        }
        errors
    }
}

fn is_id(id: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    (1..=MAX_NAME).contains(&id.len()) && id.bytes().all(letter)
}

/// Null is no list.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    Vec::deserialize(deserializer).map(Some)
}

fn is_hash(hash: &str) -> bool {
    let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let digits = hash.strip_prefix("sha256:");
    digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(digit))
}

fn address_error(address: &str) -> Option<&'static str> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !br#"\"<>"#.contains(&byte);
    let (scheme, rest) = address.split_once(':').unwrap_or_default();
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    if address.len() > MAX_ADDRESS || !address.bytes().all(plain) {
        Some("must be printable ASCII, at most 1,024 bytes, without `\\`, `\"`, `<` and `>`")
    } else if address.contains('#') {
        Some("must have no fragment (`#…`): the answer would be lost in it")
    } else if ["http", "https"].contains(&scheme) {
        let authority = rest.strip_prefix("//").and_then(|rest| rest.split(['/', '?']).next());
        let is_host = authority.is_some_and(|host| !host.is_empty() && !host.contains('@'));
        (!is_host).then_some("must be a whole address: `https://shop.example/callback`")
    } else if scheme.contains('.') && scheme.bytes().all(letter) && !rest.is_empty() {
        None
    } else {
        Some(
            "must begin with `https://` or `http://`, or with an app's scheme that has a dot in it",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(id: &str) -> OidcClient {
        let redirect_uris = vec!["https://shop.example/callback".into()];
        OidcClient { id: id.into(), redirect_uris, ..OidcClient::default() }
    }

    fn wrong(clients: &[OidcClient]) -> Vec<String> {
        let binding = SiteBinding { oidc_clients: clients.to_vec(), ..SiteBinding::default() };
        binding.errors().into_iter().map(|error| error.field.into_owned()).collect()
    }

    #[test]
    fn sound_clients_have_no_errors() {
        let hash = format!("sha256:{}", "0a".repeat(32));
        let shop = OidcClient { secret_hashes: Some(vec![hash; 4]), ..client("shop") };
        let app = OidcClient {
            public: true,
            redirect_uris: vec![
                "com.example.app:/cb".into(),
                "http://127.0.0.1:8080/cb?a=b".into(),
            ],
            ..client("app~1.2_x")
        };
        assert_eq!(wrong(&[shop, app]), Vec::<String>::new());
    }

    #[test]
    fn each_wrong_field_is_named() {
        assert_eq!(wrong(&[client("shop"), client("shop")]), ["oidc_clients[1].id"]);
        assert_eq!(wrong(&[client("a b")]), ["oidc_clients[0].id"]);
        assert_eq!(wrong(&[client("")]), ["oidc_clients[0].id"]);
        let named = OidcClient { name: "a\nb".into(), ..client("a") };
        assert_eq!(wrong(&[named]), ["oidc_clients[0].name"]);
        let nowhere = OidcClient { redirect_uris: Vec::new(), ..client("a") };
        assert_eq!(wrong(&[nowhere]), ["oidc_clients[0].redirect_uris"]);
        let hash = format!("sha256:{}", "0a".repeat(32));
        let many = OidcClient { secret_hashes: Some(vec![hash.clone(); 5]), ..client("a") };
        assert_eq!(wrong(&[many]), ["oidc_clients[0].secret_hashes"]);
        let public = OidcClient { public: true, secret_hashes: Some(vec![hash]), ..client("a") };
        assert_eq!(wrong(&[public]), ["oidc_clients[0].secret_hashes"]);
        let plain = OidcClient { secret_hashes: Some(vec!["hunter2".into()]), ..client("a") };
        assert_eq!(wrong(&[plain]), ["oidc_clients[0].secret_hashes[0]"]);
        let many: Vec<_> = (0..=MAX_CLIENTS).map(|number| client(&number.to_string())).collect();
        assert_eq!(wrong(&many), ["oidc_clients"]);
    }

    #[test]
    fn secrets_stay_unless_something_is_said_of_them() {
        let hash = format!("sha256:{}", "0a".repeat(32));
        let of = |client: OidcClient| SiteBinding {
            oidc_clients: vec![client],
            ..SiteBinding::default()
        };
        let before = of(OidcClient { secret_hashes: Some(vec![hash.clone()]), ..client("shop") });
        let kept = |json: &str| {
            let client = json.replace("URI", r#""redirect_uris":["https://a/"]"#);
            let mut after = of(serde_json::from_str(&client).unwrap());
            after.keep_secrets_of(&before);
            after.oidc_clients[0].secret_hashes.clone().unwrap()
        };
        assert_eq!(kept(r#"{"id":"shop",URI}"#), [hash]);
        assert_eq!(kept(r#"{"id":"shop",URI,"secret_hashes":[]}"#), [""; 0]);
        assert_eq!(kept(r#"{"id":"shop",URI,"secret_hashes":["x"]}"#), ["x"]);
        assert_eq!(kept(r#"{"id":"shop",URI,"public":true}"#), [""; 0]);
        assert_eq!(kept(r#"{"id":"other",URI}"#), [""; 0]);
        let null = r#"{"id":"a","redirect_uris":[],"secret_hashes":null}"#;
        assert!(serde_json::from_str::<OidcClient>(null).is_err());
    }

    #[test]
    fn addresses_that_lead_nowhere_or_run_something_are_refused() {
        for address in [
            "",
            "/callback",
            "//shop.example/cb",
            "https:/shop.example",
            "https://",
            "https:///cb",
            "https://user@shop.example/cb",
            "https://shop.example/cb#x",
            "https://shop.example/a b",
            "https://shop.example/\\evil",
            "https://shop.example/ü",
            "javascript:alert(1)",
            "data:text/html,x",
            "app:/cb",
            "com.example.app:",
            "HTTPS://shop.example/cb",
        ] {
            let of = OidcClient { redirect_uris: vec![address.into()], ..client("a") };
            assert_eq!(wrong(&[of]), ["oidc_clients[0].redirect_uris[0]"], "{address}");
        }
    }

    #[test]
    fn only_the_very_address_is_returned_to() {
        let shop = client("shop");
        assert!(shop.may_return_to("https://shop.example/callback"));
        for other in [
            "https://shop.example/callback/",
            "https://shop.example/callback?x",
            "https://SHOP.example/callback",
            "https://shop.example:443/callback",
        ] {
            assert!(!shop.may_return_to(other), "{other}");
        }
    }
}
