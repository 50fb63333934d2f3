//! What gateways say of the requests that they ask about: only whom we trust is heard, nothing is there twice, the request
//! is the one that was described, and no visitor chooses its own address.
//!
//! An input is text. Its first line is the way of asking, the caller, and (Envoy's ways) method and target; then one
//! header a line.

use std::{net::SocketAddr, sync::LazyLock};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, request::Parts};
use envoy_types::{
    ext_authz::v3::pb::CheckRequest,
    pb::envoy::service::auth::v3::{
        AttributeContext, attribute_context, attribute_context::HttpRequest,
    },
};
use vestibule_admission::described::{Described, Question, Refused, read};
use vestibule_runtime::{Peer, TrustedProxies};

use super::{Target, paths, text};

pub(super) const TARGET: Target = Target { name: "ext_authz", run, words: WORDS };

const WORDS: &[&str] = &[
    "forwarded ",
    "prefixed ",
    "called ",
    "127.0.0.1:1 ",
    "10.0.0.9:443 ",
    "203.0.113.7:5 ",
    "[::1]:80 ",
    "[::ffff:10.0.0.9]:1 ",
    "GET ",
    "POST ",
    "CONNECT ",
    "\n",
    ": ",
    "x-forwarded-method: GET\n",
    "x-forwarded-proto: https\n",
    "X-Forwarded-Proto: ws\n",
    "x-forwarded-host: shop.example\n",
    "x-forwarded-uri: /sale\n",
    "x-forwarded-uri: ",
    "host: shop.example:8443\n",
    "x-forwarded-for: ",
    "10.1.2.3",
    "198.51.100.9",
    "2001:db8::9",
    ", ",
    "/sale",
    "//",
    "/../",
    "%2f",
    "%2e%2e",
    "\\",
    ";a=b",
    "?",
    "#",
    "http://h/sale",
    "*",
    "@",
    "\t",
    "\u{0}",
    "ü",
];

/// Where gateways run.
static PROXIES: LazyLock<TrustedProxies> = LazyLock::new(|| {
    let networks = ["127.0.0.0/8", "10.0.0.0/8", "::1/128"];
    TrustedProxies::new(&networks.map(|network| network.parse().expect("a network")))
});

/// Which of three ways of asking.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Forwarded,
    Prefixed,
    Called,
}

/// An input, taken apart.
#[derive(Debug, Clone)]
struct Asked<'a> {
    way: Way,
    peer: Option<SocketAddr>,
    method: &'a str,
    target: &'a str,
    headers: HeaderMap,
}

fn run(bytes: &[u8]) {
    let text = text(bytes);
    let asked = Asked::of(&text);
    let Some(question) = asked.question() else { return };
    let described = match read(question, &PROXIES) {
        Ok(described) => described,
        Err(refused) => {
            let may_ask = refused != Refused::Untrusted;
            assert!(may_ask || !asked.is_trusted(), "{asked:?} is of a gateway");
            return;
        }
    };
    assert!(asked.is_trusted(), "{asked:?} is of a stranger");
    match asked.way {
        Way::Forwarded => asked.assert_forwarded(&described),
        Way::Prefixed | Way::Called => asked.assert_envoys(&described),
    }
    assert!(described.target.starts_with('/'), "{described:?}");
    assert_eq!(described.target.split('?').next(), Some(described.path.raw()));
    paths::assert_not_free(&described.path);
    asked.assert_told_by_gateways(&described);
}

// === impl Asked ===

impl<'a> Asked<'a> {
    fn of(text: &'a str) -> Self {
        let (first, lines) = text.split_once('\n').unwrap_or((text, ""));
        let mut words = first.split(' ');
        let way = match words.next() {
            Some("prefixed") => Way::Prefixed,
            Some("called") => Way::Called,
            _ => Way::Forwarded,
        };
        let peer = words.next().and_then(|peer| peer.parse().ok());
        let (method, target) = (words.next().unwrap_or("GET"), words.next().unwrap_or("/"));
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            let name: HeaderName = name.parse().ok()?;
            Some((name, HeaderValue::from_bytes(value.trim().as_bytes()).ok()?))
        };
        let mut headers = HeaderMap::new();
        for (name, value) in lines.lines().filter_map(header) {
            headers.append(name, value);
        }
        Self { way, peer, method, target, headers }
    }

    fn question(&self) -> Option<Question> {
        Some(match self.way {
            Way::Forwarded => Question::Forwarded(self.parts("GET", "/authorize")?),
            Way::Prefixed => {
                let target = format!("/authorize/envoy{}", self.target);
                Question::Prefixed(self.parts(self.method, &target)?)
            }
            Way::Called => Question::Called(Box::new(self.call()), self.peer.map(Peer)),
        })
    }

    fn parts(&self, method: &str, target: &str) -> Option<Parts> {
        let (mut parts, ()) =
            Request::builder().method(method).uri(target).body(()).ok()?.into_parts();
        parts.headers = self.headers.clone();
        if let Some(peer) = self.peer {
            parts.extensions.insert(Peer(peer));
        }
        Some(parts)
    }

    fn call(&self) -> CheckRequest {
        let header = |(name, value): (&HeaderName, &HeaderValue)| {
            Some((name.to_string(), value.to_str().ok()?.to_owned()))
        };
        let http = HttpRequest {
            method: self.method.to_owned(),
            host: self.only("host").unwrap_or_default().to_owned(),
            path: self.target.to_owned(),
            scheme: "https".to_owned(),
            headers: self.headers.iter().filter_map(header).collect(),
            ..Default::default()
        };
        let request = attribute_context::Request { http: Some(http), ..Default::default() };
        CheckRequest {
            attributes: Some(AttributeContext { request: Some(request), ..Default::default() }),
        }
    }

    /// The value of a header that is there once.
    fn only(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let first = values.next()?.to_str().ok()?;
        values.next().is_none().then_some(first)
    }

    /// Written without a look at how the product does it.
    fn is_trusted(&self) -> bool {
        self.peer.is_some_and(|peer| match peer.ip().to_canonical() {
            std::net::IpAddr::V4(address) => matches!(address.octets()[0], 10 | 127),
            std::net::IpAddr::V6(address) => address.is_loopback(),
        })
    }

    fn assert_forwarded(&self, described: &Described) {
        let told = |name: &str| self.only(&format!("x-forwarded-{name}"));
        assert_eq!(told("method"), Some(described.method.as_str()));
        assert_eq!(told("host"), Some(described.authority.as_str()));
        assert_eq!(told("uri"), Some(described.target.as_str()));
        let proto = told("proto").expect("there once");
        assert_eq!(described.https, ["https", "wss"].contains(&proto), "{proto}");
    }

    fn assert_envoys(&self, described: &Described) {
        assert_eq!(described.method, self.method);
        // What is behind a `#` is never sent. Of a whole address, which only a call can have, the path counts.
        if self.target.starts_with('/') || self.way == Way::Prefixed {
            assert_eq!(Some(described.target.as_str()), self.target.split('#').next());
        }
        if self.way == Way::Prefixed {
            assert_eq!(self.only("host"), Some(described.authority.as_str()));
            let told = self.headers.get_all("x-forwarded-proto").iter().count();
            assert!(told < 2 && (told == 1 || !described.https), "{described:?}");
        }
    }

    /// What a visitor writes in front of the addresses that gateways add changes nothing.
    fn assert_told_by_gateways(&self, described: &Described) {
        let is_gateways = PROXIES.contains(described.client);
        let Some(told) = self.only("x-forwarded-for").filter(|_| !is_gateways) else { return };
        let mut asked = self.clone();
        let lie = HeaderValue::from_str(&format!("10.6.6.6, 192.0.2.66, {told}")).expect("a value");
        asked.headers.insert("x-forwarded-for", lie);
        let question = asked.question().expect("only an address differs");
        let client = read(question, &PROXIES).map(|described| described.client);
        assert_eq!(client, Ok(described.client), "{told:?}");
    }
}
