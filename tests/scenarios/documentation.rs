//! `/docs`: made of nothing from elsewhere, and only where it is wanted.

use anyhow::{Result, ensure};
use vestibule_tests::{Deployment, Fleet, Reply};

async fn get(fleet: &Fleet, path: &str) -> Result<Reply> {
    Reply::of(fleet.http().get(fleet.at(path)?)).await
}

/// What the page loads, by its attributes.
fn loaded(page: &str) -> Vec<&str> {
    let after = |attribute| page.split(attribute).skip(1);
    let values = after("src=\"").chain(after("href=\""));
    values.filter_map(|rest| rest.split('"').next()).collect()
}

async fn expect_self_contained(fleet: &Fleet) -> Result<()> {
    let page = get(fleet, "/docs").await?.expect(200)?;
    ensure!(page.header("content-type").starts_with("text/html"), "{:?}", page.headers);
    ensure!(!page.text.contains("//"), "from elsewhere: {}", page.text);
    let policy = page.header("content-security-policy");
    for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'"] {
        ensure!(policy.contains(part), "{policy}");
    }
    ensure!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    // The policy permits what comes from the same address, and nothing within the page itself.
    let is_within =
        |tag| page.text.matches(tag).count() > page.text.matches("<script src=").count();
    ensure!(!is_within("<script") && !page.text.contains("<style"), "{}", page.text);
    let loaded = loaded(&page.text);
    ensure!(loaded.len() >= 4, "{loaded:?}");
    for path in loaded {
        get(fleet, &format!("/{path}")).await?.expect(200)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documentation_needs_nothing_from_elsewhere() -> Result<()> {
    let deployment = Deployment::builder().environment("VESTIBULE_DOCS", "true").start().await?;
    expect_self_contained(deployment.admissions()).await?;
    expect_self_contained(deployment.controllers()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn admission_shows_it_only_when_asked_to() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    get(deployment.admissions(), "/docs").await?.expect(404)?;
    get(deployment.admissions(), "/docs/swagger-initializer.js").await?.expect(404)?;
    get(deployment.controllers(), "/docs").await?.expect(200)?;
    Ok(())
}
