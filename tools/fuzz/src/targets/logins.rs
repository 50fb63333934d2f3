//! What sites ask the provider of OpenID Connect for: a visitor is led to an address of the client and nowhere else, with
//! the state as it came; and nobody is a client who does not show its secret.
//!
//! An input is a query and, after a line's end, the pair of `Authorization: Basic`.

use std::{borrow::Cow, sync::LazyLock};

use axum::http::HeaderValue;
use base64::{Engine, engine::general_purpose::STANDARD};
use secrecy::SecretString;
use url::Url;
use vestibule_admission::described::{Led, led_to, proves};
use vestibule_site::{OidcClient, SiteBinding};
use vestibule_token::ClientSecret;

use super::{Target, text};

pub(super) const TARGET: Target = Target {
    name: "logins",
    run,
    words: &[
        "&",
        "=",
        "+",
        "%",
        "%26",
        "%3D",
        "%0d%0a",
        "#",
        "\n",
        ":",
        "client_id=shop",
        "client_id=app",
        "redirect_uri=https%3A%2F%2Fshop.example%2Fcb",
        "redirect_uri=https%3A%2F%2Fevil.example",
        "response_type=code",
        "scope=openid",
        "state=",
        "nonce=",
        "prompt=none",
        "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "code_challenge_method=S256",
        "code_verifier=",
        "grant_type=authorization_code",
        "code=",
        "client_secret=",
    ],
};

const ISSUER: &str = "https://wait.example/oidc/sale";
const CODE: &str = "c-_0";
const SECRET: &str = "the-secret-of-the-shop";
const ADDRESSES: &[&str] = &["https://shop.example/cb", "https://shop.example/cb?of=shop"];

static BINDING: LazyLock<SiteBinding> = LazyLock::new(|| {
    let client = |id: &str| OidcClient {
        id: id.to_owned(),
        redirect_uris: ADDRESSES.iter().map(|&address| address.to_owned()).collect(),
        ..OidcClient::default()
    };
    let hash = ClientSecret::shown(SecretString::from(SECRET)).hash();
    let shop = OidcClient { secret_hashes: Some(vec![hash]), ..client("shop") };
    let app = OidcClient { public: true, ..client("app") };
    SiteBinding { oidc_clients: vec![shop, app], ..SiteBinding::default() }
});

fn run(bytes: &[u8]) {
    let given = text(bytes);
    let (query, pair) = given.split_once('\n').unwrap_or((&given, ""));
    check_leading(query);
    check_proof(query, pair);
}

fn check_leading(query: &str) {
    let (Led::Refused(address) | Led::Asked(address)) = led_to(query, &BINDING, ISSUER, CODE)
    else {
        return;
    };
    let known = ADDRESSES.iter().rfind(|known| address.starts_with(*known));
    let known = Url::parse(known.expect("an address of the client")).expect("an address");
    assert!(HeaderValue::from_str(&address).is_ok(), "{address:?} is no header's value");
    let read = Url::parse(&address).expect("an address");
    assert_eq!(read.fragment(), None, "{address}");
    let place = |url: &Url| (url.origin(), url.path().to_owned());
    assert_eq!(place(&read), place(&known), "{query:?} leads elsewhere");
    let told = |name: &str| -> Vec<_> {
        let pairs = read.query_pairs().filter(|(key, _)| key == name);
        pairs.map(|(_, value)| value.into_owned()).collect()
    };
    let mut asked = form_urlencoded::parse(query.as_bytes());
    let state = asked.find(|(key, value)| key == "state" && !value.is_empty());
    assert_eq!(told("state"), Vec::from_iter(state.map(|(_, value)| value)), "{query:?}");
    assert_eq!(told("iss"), [ISSUER]);
    assert_eq!(told("code").len() + told("error").len(), 1, "{address}");
}

fn check_proof(form: &str, pair: &str) {
    let authorization = format!("Basic {}", STANDARD.encode(pair));
    let authorization = HeaderValue::from_str(&authorization).expect("base64");
    let authorization = (!pair.is_empty()).then_some(&authorization);
    if !proves(authorization, form, &BINDING) {
        return;
    }
    let mut fields = form_urlencoded::parse(form.as_bytes());
    let by_header = pair.split_once(':').is_some_and(|(id, secret)| {
        let encoded: String = form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
        let decoded = |text: &str| {
            percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
        };
        decoded(id) == "shop" && (secret == encoded || decoded(secret) == SECRET)
    });
    let by_form = |(key, value): (Cow<str>, Cow<str>)| match &*key {
        "client_secret" => value == SECRET,
        "client_id" => value == "app" && pair.is_empty(),
        _ => false,
    };
    assert!(by_header || fields.any(by_form), "{form:?} and {pair:?} prove nothing");
}
