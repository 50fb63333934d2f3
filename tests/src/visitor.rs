//! A visitor: what a page or an app does with the `/v1/rooms/{room}/…` calls.
//!
//! It carries its newest ticket, as a cookie or in the header, and sends it with every call.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::{
    Method,
    header::{ACCEPT, COOKIE, HeaderMap, SET_COOKIE},
};
use tokio::time::{Instant, sleep};

use crate::{Fleet, Reply};

/// Pause between two calls of one who waits for an answer.
const PAUSE: Duration = Duration::from_millis(50);

/// The header that carries a ticket.
const TICKET: &str = "vestibule-ticket";
const FORWARDED_FOR: &str = "x-forwarded-for";

/// How a visitor carries its ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carries {
    /// In the header, as an app does.
    Header,
    /// In the cookie, as a browser does.
    Cookie,
}

/// One visitor of one room. A clone is the same visitor in a second tab.
#[derive(Debug, Clone)]
pub struct Visitor {
    fleet: Fleet,
    room: String,
    carries: Carries,
    ticket: Option<String>,
    accept: Option<&'static str>,
    headers: Vec<(&'static str, String)>,
}

// === impl Visitor ===

impl Visitor {
    /// A visitor that has never been here.
    #[must_use]
    pub fn new(fleet: Fleet, room: &str, carries: Carries) -> Self {
        Self {
            fleet,
            room: room.to_owned(),
            carries,
            ticket: None,
            accept: None,
            headers: Vec::new(),
        }
    }

    /// The same visitor at other instances.
    #[must_use]
    pub fn at(mut self, fleet: Fleet) -> Self {
        self.fleet = fleet;
        self
    }

    /// The same visitor with another ticket.
    #[must_use]
    pub fn with_ticket(mut self, ticket: impl Into<String>) -> Self {
        self.ticket = Some(ticket.into());
        self
    }

    /// The same visitor, who asks for answers of this kind.
    #[must_use]
    pub fn accepting(mut self, accept: &'static str) -> Self {
        self.accept = Some(accept);
        self
    }

    /// The same visitor, whose proxy says that it is at this address.
    #[must_use]
    pub fn from(mut self, address: impl Into<String>) -> Self {
        self.headers.retain(|(name, _)| *name != FORWARDED_FOR);
        self.with_header(FORWARDED_FOR, address)
    }

    /// The same visitor, who sends one more header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Its newest ticket; empty before it has one.
    #[must_use]
    pub fn ticket(&self) -> &str {
        self.ticket.as_deref().unwrap_or_default()
    }

    /// Takes a place in the line.
    pub async fn join(&mut self) -> Result<Reply> {
        self.call(Method::POST, "join").await
    }

    /// Checks in.
    pub async fn status(&mut self) -> Result<Reply> {
        self.call(Method::GET, "status").await
    }

    /// Takes the seat.
    pub async fn claim(&mut self) -> Result<Reply> {
        self.call(Method::POST, "claim").await
    }

    /// Gives the seat back.
    pub async fn leave(&mut self) -> Result<Reply> {
        self.call(Method::POST, "leave").await
    }

    /// Asks for the status until it is this one.
    pub async fn sees(&mut self, status: &str, within: Duration) -> Result<Reply> {
        self.until(Method::GET, "status", status, within).await
    }

    /// Claims until it is inside.
    pub async fn claims(&mut self, within: Duration) -> Result<Reply> {
        self.until(Method::POST, "claim", "admitted", within).await
    }

    /// Claims until a seat is held for it.
    pub async fn holds(&mut self, within: Duration) -> Result<Reply> {
        let deadline = Instant::now() + within;
        loop {
            let reply = self.call(Method::POST, "claim?turn=hold").await?.expect(200)?;
            if !reply.body["seat_held_seconds"].is_null() {
                return Ok(reply);
            }
            ensure!(Instant::now() < deadline, "no seat is held in {within:?}: {}", reply.text);
        }
    }

    async fn until(
        &mut self,
        method: Method,
        name: &str,
        status: &str,
        within: Duration,
    ) -> Result<Reply> {
        let deadline = Instant::now() + within;
        loop {
            let reply = self.call(method.clone(), name).await?.expect(200)?;
            if reply.says(status) {
                return Ok(reply);
            }
            ensure!(Instant::now() < deadline, "not `{status}` in {within:?}: {}", reply.text);
            sleep(PAUSE).await;
        }
    }

    async fn call(&mut self, method: Method, name: &str) -> Result<Reply> {
        let url = self.fleet.at(&format!("/v1/rooms/{}/{name}", self.room))?;
        let mut request = self.fleet.http().request(method, url);
        if let Some(ticket) = &self.ticket {
            request = match self.carries {
                Carries::Header => request.header(TICKET, ticket),
                Carries::Cookie => request.header(COOKIE, format!("{}={ticket}", self.cookie())),
            };
        }
        if let Some(accept) = self.accept {
            request = request.header(ACCEPT, accept);
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let reply = Reply::of(request).await?;
        if let Some(ticket) = self.newest(&reply.headers) {
            self.ticket = Some(ticket);
        }
        Ok(reply)
    }

    fn newest(&self, headers: &HeaderMap) -> Option<String> {
        match self.carries {
            Carries::Header => headers.get(TICKET)?.to_str().ok().map(str::to_owned),
            Carries::Cookie => {
                let start = format!("{}=", self.cookie());
                let cookies = headers.get_all(SET_COOKIE).into_iter();
                let mut ours =
                    cookies.filter_map(|value| value.to_str().ok()?.strip_prefix(&start));
                Some(ours.next()?.split(';').next()?.to_owned()).filter(|ticket| !ticket.is_empty())
            }
        }
    }

    fn cookie(&self) -> String {
        format!("vestibule_{}", self.room)
    }
}
