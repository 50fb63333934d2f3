//! The documentation of both APIs, under a policy that lets nothing in from elsewhere.

use anyhow::Result;
use vestibule_tests::{
    Deployment, Service,
    browser::{Chromium, Options, Seat},
};

use crate::place::SOON;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_shows_what_there_is_and_breaks_no_policy() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = Deployment::builder().environment("VESTIBULE_DOCS", "true").start().await?;
    let browser = Chromium::start(&Options::default()).await?;
    for (service, operation) in
        [(Service::Admission, "join_room"), (Service::Controller, "put_room")]
    {
        browser.goto(&format!("http://{}/docs", deployment.address(service, 0))).await?;
        let shown = format!("document.querySelector('.opblock[id$={operation}]') !== null");
        browser.until(&shown, SOON).await?;
        let open = format!(
            "document.querySelector('.opblock[id$={operation}] .opblock-summary-control').click()"
        );
        browser.eval(&open).await?;
        let is_open = "document.querySelector('.opblock.is-open .responses-table') !== null";
        browser.until(is_open, SOON).await?;
        browser.expect_silent_console().await?;
    }
    Ok(())
}
