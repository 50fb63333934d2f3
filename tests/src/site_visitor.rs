//! A visitor of a site behind a gateway that asks the authorizer about each request, with cookies
//! kept as a browser keeps them.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Result, ensure};
use reqwest::{
    Method,
    header::{COOKIE, HeaderName, SET_COOKIE},
};

use crate::{Fleet, Reply, eventually};

/// One browser at one host. A clone is the same visitor with a copy of its cookies.
#[derive(Debug, Clone)]
pub struct SiteVisitor {
    fleet: Fleet,
    host: String,
    proto: &'static str,
    refuse: Option<&'static str>,
    address: String,
    headers: Vec<(&'static str, String)>,
    /// By name.
    pub cookies: BTreeMap<String, String>,
}

// === impl SiteVisitor ===

impl SiteVisitor {
    /// A visitor of `host` who has never been there.
    #[must_use]
    pub fn new(fleet: Fleet, host: &str) -> Self {
        let (host, cookies, address) = (host.to_owned(), BTreeMap::new(), "203.0.113.9".to_owned());
        Self { fleet, host, proto: "https", refuse: None, address, headers: Vec::new(), cookies }
    }

    /// The same visitor at other instances.
    #[must_use]
    pub fn at(mut self, fleet: Fleet) -> Self {
        self.fleet = fleet;
        self
    }

    /// The same visitor at another host: its cookies stay behind.
    #[must_use]
    pub fn at_host(mut self, host: &str) -> Self {
        host.clone_into(&mut self.host);
        self.cookies.clear();
        self
    }

    /// The same visitor at another address.
    #[must_use]
    pub fn at_address(mut self, address: impl Into<String>) -> Self {
        self.address = address.into();
        self
    }

    /// The same visitor without encryption.
    #[must_use]
    pub fn over_http(mut self) -> Self {
        self.proto = "http";
        self
    }

    /// The same visitor behind a gateway that wants refusals in this form.
    #[must_use]
    pub fn refused_by(mut self, refuse: &'static str) -> Self {
        self.refuse = Some(refuse);
        self
    }

    /// The same visitor, who sends one more header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The same visitor with one more cookie.
    #[must_use]
    pub fn with_cookie(mut self, name: &str, value: impl Into<String>) -> Self {
        self.cookies.insert(name.to_owned(), value.into());
        self
    }

    /// What the authorizer says to a `GET` of this path.
    pub async fn get(&mut self, target: &str) -> Result<Reply> {
        self.asks("GET", target).await
    }

    /// What the authorizer says to a request.
    pub async fn asks(&mut self, method: &str, target: &str) -> Result<Reply> {
        let query = self.refuse.map(|refuse| format!("?refuse={refuse}")).unwrap_or_default();
        self.call(Method::GET, &format!("/authorize{query}"), method, target, &[]).await
    }

    /// Waits until every instance knows which room covers a path: what a room covers reaches them a
    /// moment after the room itself. It asks as a browser asks whether it may ask, which counts
    /// nowhere.
    pub async fn finds_a_room(&self, target: &str, within: Duration) -> Result<()> {
        for instance in self.fleet.each() {
            let browser =
                self.clone().at(instance).with_header("origin", "https://elsewhere.example");
            let browser = browser.with_header("access-control-request-method", "POST");
            eventually(within, "a room that covers it", || {
                let mut browser = browser.clone();
                async move {
                    let reply = browser.asks("OPTIONS", target).await?;
                    let decision = reply.header("vestibule-decision");
                    let covered = matches!(decision, "preflight" | "bypassed");
                    ensure!(covered, "{target} is `{decision}`: {}", reply.text);
                    Ok(())
                }
            })
            .await?;
        }
        Ok(())
    }

    /// What happens when the site answers a request with this command.
    pub async fn site_commands(&mut self, header: &str, command: &str) -> Result<Reply> {
        self.call(Method::POST, "/revoke", "GET", "/sale", &[(header, command)]).await
    }

    async fn call(
        &mut self,
        asked: Method,
        path: &str,
        method: &str,
        target: &str,
        more: &[(&str, &str)],
    ) -> Result<Reply> {
        let mut request = self
            .fleet
            .http()
            .request(asked, self.fleet.at(path)?)
            .header("x-forwarded-method", method)
            .header("x-forwarded-proto", self.proto)
            .header("x-forwarded-host", &self.host)
            .header("x-forwarded-uri", target)
            .header("x-forwarded-for", &self.address);
        let pairs: Vec<_> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !pairs.is_empty() {
            request = request.header(COOKIE, pairs.join("; "));
        }
        for (name, value) in &self.headers {
            request = request.header(HeaderName::from_static(name), value);
        }
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        let reply = Reply::of(request).await?;
        self.keep_cookies(&reply);
        Ok(reply)
    }

    fn keep_cookies(&mut self, reply: &Reply) {
        let lines = reply.headers.get_all(SET_COOKIE).into_iter();
        for line in lines.filter_map(|line| line.to_str().ok()) {
            let Some((name, value)) = line.split(';').next().and_then(|pair| pair.split_once('='))
            else {
                continue;
            };
            if line.contains("Max-Age=0;") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}
