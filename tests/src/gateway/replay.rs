//! Gateways that cannot run here, replayed: what their documentation says that they send to an
//! authorizer, and what they do with its answer.
//!
//! Not a test of those gateways: a test that what Vestibule says is what they need.

use std::sync::Arc;

use anyhow::Result;
use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Response, StatusCode,
        header::{CACHE_CONTROL, CONTENT_LENGTH, COOKIE, HOST, SET_COOKIE},
        request::Parts,
        uri::Authority,
    },
};
use reqwest::{Client, Method, redirect::Policy};
use tokio::{net::TcpListener, task::JoinHandle};

use super::{Addresses, SITE_HOST};

const LARGEST: usize = 64 << 20;
const HOP_BY_HOP: [&str; 8] = [
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "proxy-connection",
    "proxy-authenticate",
];
const TOKEN: &str = "vestibule-token";
const COMMANDS: [&str; 2] = ["vestibule-command", "cf-waiting-room-command"];

/// Whose behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Documented {
    /// Traefik's `forwardAuth` with `traefik/dynamic.yml`.
    Traefik,
    /// Kong's pre-function of `kong/kong.yml`.
    Kong,
}

/// A running replay.
#[derive(Debug)]
pub(super) struct Replay {
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Settings {
    whose: Documented,
    vestibule: String,
    site: String,
    http: Client,
}

// === impl Replay ===

impl Replay {
    pub(super) async fn start(whose: Documented, addresses: &Addresses) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", addresses.port)).await?;
        let settings = Settings {
            whose,
            vestibule: format!("http://{}", addresses.vestibule),
            site: format!("http://{}", addresses.site),
            http: Client::builder().redirect(Policy::none()).no_proxy().build()?,
        };
        let router = Router::new().fallback(handle).with_state(Arc::new(settings));
        let server = tokio::spawn(async {
            // It ends with the test.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { server })
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn handle(State(settings): State<Arc<Settings>>, request: Request) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let body = to_bytes(body, LARGEST).await.unwrap_or_default();
    if !is_for_the_site(&parts) {
        return status(StatusCode::NOT_FOUND);
    }
    let question = settings.question(&parts);
    let asked = settings.call(Method::GET, "/authorize?refuse=page", question.clone()).await;
    let Ok((authorized, shown)) = asked else { return settings.is_down() };
    if !authorized.status.is_success() {
        return answer(authorized, shown);
    }
    parts.headers = dressed(&parts.headers, &authorized.headers);
    let Ok((site, text)) = settings.pass_on(parts, body).await else {
        return status(StatusCode::BAD_GATEWAY);
    };
    settings.undress(site, text, &authorized.headers, question).await
}

/// An answer without its body.
struct Head {
    status: StatusCode,
    headers: HeaderMap,
}

// === impl Settings ===

impl Settings {
    /// The headers of the request, but those of its connection, with the facts in the place of
    /// whatever a visitor sent under their names.
    fn question(&self, parts: &Parts) -> HeaderMap {
        // Kong's lines drop them all; Traefik's entry point those of other proxies, and
        // `customRequestHeaders` ours.
        let mut headers = without(&parts.headers, |name| {
            HOP_BY_HOP.contains(&name)
                || [CONTENT_LENGTH, HOST].iter().any(|it| it == name)
                || is_ours(name)
        });
        let host = host(parts);
        let host = match self.whose {
            Documented::Traefik => host,
            // kong.request.get_host
            Documented::Kong => host.split(':').next().unwrap_or_default(),
        };
        let facts = [
            ("x-forwarded-method", parts.method.as_str()),
            ("x-forwarded-proto", "http"),
            ("x-forwarded-host", host),
            ("x-forwarded-uri", parts.uri.path_and_query().map_or("/", |target| target.as_str())),
            ("x-forwarded-for", "127.0.0.1"),
        ];
        for (name, value) in facts {
            headers.insert(name, HeaderValue::from_str(value).expect("it came in a header"));
        }
        headers
    }

    async fn call(&self, method: Method, path: &str, headers: HeaderMap) -> Result<(Head, Bytes)> {
        let url = format!("{}{path}", self.vestibule);
        read(self.http.request(method, url).headers(headers).send().await?).await
    }

    async fn pass_on(&self, parts: Parts, body: Bytes) -> Result<(Head, Bytes)> {
        let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
        let url = format!("{}{target}", self.site);
        let mut headers = parts.headers;
        headers.remove(CONTENT_LENGTH);
        read(self.http.request(parts.method, url).headers(headers).body(body).send().await?).await
    }

    /// What the visitor gets: the site's answer, and the cookies of the authorizer.
    async fn undress(
        &self,
        mut site: Head,
        text: Bytes,
        authorized: &HeaderMap,
        mut question: HeaderMap,
    ) -> Response<Body> {
        let commands = COMMANDS.map(|name| site.headers.remove(name));
        for cookie in authorized.get_all(SET_COOKIE) {
            // `addAuthCookiesToResponse` copies by name.
            if self.whose == Documented::Kong || cookie.as_bytes().starts_with(b"vestibule_sale=") {
                site.headers.append(SET_COOKIE, cookie.clone());
            }
        }
        if self.whose == Documented::Kong && authorized.contains_key(SET_COOKIE) {
            site.headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        }
        let command = commands.into_iter().flatten().next();
        if let Some(command) = command.filter(|_| self.whose == Documented::Kong) {
            question.insert(COMMANDS[0], command);
            put_in_front(&mut question, authorized);
            // Kong does this just after its answer; who waits for it here only spares the test a
            // loop.
            if let Some(failure) = failure_of(self.call(Method::POST, "/revoke", question).await) {
                site.status = StatusCode::BAD_GATEWAY;
                return answer(site, failure.into());
            }
        }
        answer(site, text)
    }

    fn is_down(&self) -> Response<Body> {
        match self.whose {
            Documented::Traefik => status(StatusCode::INTERNAL_SERVER_ERROR),
            Documented::Kong => {
                let mut response = status(StatusCode::SERVICE_UNAVAILABLE);
                response.headers_mut().insert("retry-after", HeaderValue::from_static("5"));
                response
            }
        }
    }
}

/// The ticket that was just given goes before those of before.
fn put_in_front(question: &mut HeaderMap, authorized: &HeaderMap) {
    let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let given = authorized.get(SET_COOKIE).map(text).unwrap_or_default();
    let given = given.split(';').next().unwrap_or_default();
    let sent = question.get(COOKIE).map(text).unwrap_or_default();
    if let Ok(cookies) = HeaderValue::from_str(&format!("{given}; {sent}")) {
        question.insert(COOKIE, cookies);
    }
}

/// Why the visitor could not be sent out, which Kong would only log; `None`: it was.
fn failure_of(revoked: Result<(Head, Bytes)>) -> Option<String> {
    match revoked {
        Ok((head, _)) if head.status.is_success() => None,
        Ok((head, text)) => {
            Some(format!("/revoke: {} {}", head.status, String::from_utf8_lossy(&text)))
        }
        Err(error) => Some(format!("/revoke: {error:#}")),
    }
}

/// Both configurations drop these on the way to the site, and names that it could read as others.
const NOT_FOR_THE_SITE: [&str; 4] =
    ["forwarded", "http2-settings", "x-original-url", "x-rewrite-url"];

/// What the site gets: Traefik's `authResponseHeaders` replace, or remove, the visitor's own.
fn dressed(headers: &HeaderMap, authorized: &HeaderMap) -> HeaderMap {
    let is_odd = |name: &str| name.chars().any(|c| c != '-' && !c.is_ascii_alphanumeric());
    let mut headers =
        without(headers, |name| is_ours(name) || is_odd(name) || NOT_FOR_THE_SITE.contains(&name));
    for (name, value) in [("x-forwarded-for", "127.0.0.1"), ("x-forwarded-proto", "http")] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Some(token) = authorized.get(TOKEN) {
        headers.insert(TOKEN, token.clone());
    }
    headers
}

/// What no visitor may say.
fn is_ours(name: &str) -> bool {
    name.starts_with("x-forwarded-") || name.starts_with("vestibule-")
}

fn without(headers: &HeaderMap, dropped: impl Fn(&str) -> bool) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| !dropped(name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn is_for_the_site(parts: &Parts) -> bool {
    let hosts = parts.headers.get_all(HOST).iter().count();
    hosts == 1 && host(parts).split(':').next() == Some(SITE_HOST)
}

/// The request line's host goes before the header's.
fn host(parts: &Parts) -> &str {
    let header = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let named = parts.uri.authority().map(Authority::as_str);
    named.or(header).unwrap_or_default()
}

async fn read(response: reqwest::Response) -> Result<(Head, Bytes)> {
    let head = Head { status: response.status(), headers: response.headers().clone() };
    Ok((head, response.bytes().await?))
}

fn answer(head: Head, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = head.status;
    *response.headers_mut() = head.headers;
    for name in HOP_BY_HOP {
        response.headers_mut().remove(name);
    }
    response.headers_mut().remove(CONTENT_LENGTH);
    response
}

fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
