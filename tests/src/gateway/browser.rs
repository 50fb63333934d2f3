//! A visitor's browser, as far as gateways see one: it keeps cookies by the rules of browsers, and
//! sends the headers of one.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context, Result, ensure};
use reqwest::{
    Client, Method, RequestBuilder, Url,
    cookie::{CookieStore, Jar},
    header::{ACCEPT, ACCEPT_LANGUAGE, USER_AGENT},
    redirect::Policy,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::{SITE_HOST, Scheme, site::WEBSOCKET};
use crate::Reply;

const CALL: Duration = Duration::from_secs(15);
const HTML: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// A browser. It does not follow redirects, so that tests see them.
#[derive(Debug, Clone)]
pub struct Browser {
    http: Client,
    jar: Arc<Jar>,
    scheme: Scheme,
    port: u16,
}

/// A connection that was upgraded.
#[derive(Debug)]
pub struct Tunnel(TcpStream);

// === impl Browser ===

impl Browser {
    /// A browser without cookies, for which the site is at `port` of this machine.
    pub fn new(scheme: Scheme, port: u16) -> Result<Self> {
        let jar = Arc::new(Jar::default());
        let http = Client::builder()
            .timeout(CALL)
            .redirect(Policy::none())
            .cookie_provider(Arc::clone(&jar))
            // The certificates of the tests are signed by nobody else.
            .tls_danger_accept_invalid_certs(true)
            .resolve(SITE_HOST, SocketAddr::from(([127, 0, 0, 1], port)))
            .no_proxy()
            .build()?;
        Ok(Self { http, jar, scheme, port })
    }

    /// Goes to a page.
    pub async fn get(&self, target: &str) -> Result<Reply> {
        Reply::of(self.request(Method::GET, target)).await
    }

    /// Asks as an app does that wants JSON and nothing else.
    pub async fn get_json(&self, target: &str) -> Result<Reply> {
        Reply::of(self.accepting("application/json", Method::GET, target)).await
    }

    /// Any request, with the headers of a browser.
    pub fn request(&self, method: Method, target: &str) -> RequestBuilder {
        self.accepting(HTML, method, target)
    }

    /// Any request, for an answer of this kind.
    pub fn accepting(&self, accept: &str, method: Method, target: &str) -> RequestBuilder {
        let request = self.http.request(method, self.url(target));
        let request = request.header(USER_AGENT, "Mozilla/5.0 (a test)").header(ACCEPT, accept);
        request.header(ACCEPT_LANGUAGE, "de-AT,de;q=0.9,en;q=0.5")
    }

    /// The value of one of its cookies.
    #[must_use]
    pub fn cookie(&self, name: &str) -> Option<String> {
        let all = self.jar.cookies(&self.url("/").parse::<Url>().ok()?)?;
        let mut pairs = all.to_str().ok()?.split("; ").filter_map(|pair| pair.split_once('='));
        Some(pairs.find(|(key, _)| *key == name)?.1.to_owned())
    }

    /// Its ticket of a room: over TLS in a cookie that only this host can have set.
    #[must_use]
    pub fn ticket(&self, room: &str) -> Option<String> {
        let prefix = if self.scheme == Scheme::Https { "__Host-" } else { "" };
        self.cookie(&format!("{prefix}vestibule_{room}"))
    }

    /// Opens a WebSocket's connection, as far as a gateway looks at one.
    pub async fn tunnel(&self, target: &str) -> Result<Tunnel> {
        let (tunnel, head) = self.upgrade(target, "Upgrade: websocket").await?;
        ensure!(head.starts_with("HTTP/1.1 101"), "no upgrade: {head}");
        Ok(tunnel)
    }

    /// Asks for another protocol by the header lines `asked`, and gives the head of the answer, too.
    pub async fn upgrade(&self, target: &str, asked: &str) -> Result<(Tunnel, String)> {
        let cookies = self.jar.cookies(&self.url(target).parse()?);
        let cookies = cookies.as_ref().map_or("", |all| all.to_str().unwrap_or_default());
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: {SITE_HOST}:{}\r\n\
             Connection: Upgrade, HTTP2-Settings\r\n{asked}\r\n\
             HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: {}\r\nCookie: {cookies}\r\n\r\n",
            self.port, WEBSOCKET.0
        );
        let mut tunnel = Tunnel(TcpStream::connect(("127.0.0.1", self.port)).await?);
        tunnel.0.write_all(request.as_bytes()).await?;
        let head = tunnel.read_until(b"\r\n\r\n").await?;
        Ok((tunnel, head))
    }

    /// Sends bytes as they are, and gives the whole answer: for what no client would send.
    pub async fn raw(&self, request: &str) -> Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        timeout(CALL, stream.read_to_end(&mut answer)).await.context("no end of the answer")??;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    fn url(&self, target: &str) -> String {
        format!("{}://{SITE_HOST}:{}{target}", self.scheme.name(), self.port)
    }
}

// === impl Tunnel ===

impl Tunnel {
    /// Sends a line, and gives the line that comes back.
    pub async fn echo(&mut self, line: &str) -> Result<String> {
        self.0.write_all(line.as_bytes()).await?;
        self.0.write_all(b"\n").await?;
        Ok(self.read_until(b"\n").await?.trim_end().to_owned())
    }

    async fn read_until(&mut self, end: &[u8]) -> Result<String> {
        let mut read = Vec::new();
        timeout(CALL, async {
            while !read.ends_with(end) {
                read.push(self.0.read_u8().await?);
            }
            Ok(()) as std::io::Result<()>
        })
        .await
        .context("the tunnel is silent")??;
        Ok(String::from_utf8_lossy(&read).into_owned())
    }
}
