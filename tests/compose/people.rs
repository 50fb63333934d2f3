//! People who want to the sale of the demo, each with a browser's cookies, by way of the gateway.

use anyhow::{Context, Result, ensure};
use reqwest::{Client, header::ACCEPT};
use vestibule_tests::{Reply, eventually};

use crate::SOON;

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    http: Client,
    page: String,
}

/// Where somebody stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    /// On the page of the sale.
    Inside,
    /// On the waiting page, with this queue number.
    Waiting(u64),
}

// === impl Person ===

impl Person {
    /// Somebody who has never been there; the shop is at `port` of this machine.
    pub(crate) fn new(port: u16) -> Result<Self> {
        let http = Client::builder().cookie_store(true).timeout(SOON).no_proxy().build()?;
        Ok(Self { http, page: format!("http://localhost:{port}/sale") })
    }

    /// Goes to the page, or looks again.
    pub(crate) async fn looks(&self) -> Result<Stands> {
        let page = self.get(&self.page, "text/html,*/*;q=0.8").await?.expect(200)?;
        if page.text.contains("You are inside") {
            return Ok(Stands::Inside);
        }
        ensure!(page.text.contains(&self.page), "the page does not lead back to {}", self.page);
        // As the page's own script asks.
        let told = self.get(&self.page, "application/json").await?.expect(200)?;
        // Those at the front are called before there is a seat for them.
        let in_line = matches!(told.body["status"].as_str(), Some("waiting" | "your_turn"));
        ensure!(in_line, "neither inside nor in line: {}", told.text);
        Ok(Stands::Waiting(told.number("queue_number").context("no number of its own")?))
    }

    /// Looks until it is inside.
    pub(crate) async fn enters(&self) -> Result<()> {
        self.comes_to("inside", |stands| stands == Stands::Inside).await
    }

    /// Looks whether its place is what it was: its number in line, or by now a seat.
    pub(crate) async fn has_kept(&self, number: u64) -> Result<()> {
        let kept = move |stands| stands == Stands::Inside || stands == Stands::Waiting(number);
        self.comes_to(&format!("still number {number}"), kept).await
    }

    async fn comes_to(&self, what: &str, is_right: impl Fn(Stands) -> bool) -> Result<()> {
        eventually(SOON, what, || async {
            let found = self.looks().await?;
            ensure!(is_right(found), "is {found:?}");
            Ok(())
        })
        .await
    }

    /// Buys, which ends the visit.
    pub(crate) async fn buys(&self) -> Result<()> {
        self.get(&format!("{}/thanks", self.page), "text/html").await?.expect(200).map(drop)
    }

    async fn get(&self, page: &str, accept: &str) -> Result<Reply> {
        Reply::of(self.http.get(page).header(ACCEPT, accept)).await
    }
}
