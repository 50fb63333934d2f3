//! TLS, with a certificate authority of one's own, and a password.

use std::fs;

use anyhow::{Result, ensure};
use futures_util::StreamExt;
use redis::cmd;
use tokio::time::timeout;
use vestibule_store::{LinkOptions, open_link};
use vestibule_tests::{Authority, Flavor, Node};

use crate::{SOON, TIMEOUT, ask, get, link, set};

const PASSWORD: &str = "p@ss/w%rd";
const ENCODED: &str = "p%40ss%2Fw%25rd";

#[tokio::test]
async fn a_server_whose_authority_is_known_is_trusted_and_no_other() -> Result<()> {
    let authority = Authority::new()?;
    let (port, options) = authority.options();
    let node = Node::start(Flavor::Redis7, Some(PASSWORD), &options).await?;
    let known = |password: &str, authority: &Authority| {
        let url = format!("rediss://:{password}@localhost:{port}");
        let options = LinkOptions::new(TIMEOUT).authorities(fs::read(authority.file())?)?;
        anyhow::Ok(open_link(&url.parse()?, &options)?)
    };
    let ours = known(ENCODED, &authority)?;
    set(&*ours, "x").await?;
    let found: Option<String> = node.command(cmd("GET").arg("x")).await?;
    ensure!(found.is_some());
    let mut messages = ours.subscribe(&["a"]).await?;
    ask::<u64>(&*ours, cmd("PUBLISH").arg("a").arg("x")).await?;
    ensure!(timeout(SOON, messages.next()).await?.is_some(), "no message");

    let public = link(&format!("rediss://:{ENCODED}@localhost:{port}"))?;
    ensure!(get(&*public, "x").await.is_err(), "nobody vouches for it");
    ensure!(get(&*known(ENCODED, &Authority::new()?)?, "x").await.is_err(), "another authority");
    let error = get(&*known("wrong", &authority)?, "x").await.expect_err("the wrong password");
    ensure!(!format!("{error:?}").contains("wrong"), "{error:?}");
    Ok(())
}

#[test]
fn an_authority_without_encryption_is_a_mistake() -> Result<()> {
    let options = LinkOptions::new(TIMEOUT).authorities(fs::read(Authority::new()?.file())?)?;
    let error = open_link(&"redis://127.0.0.1:1".parse()?, &options).expect_err("no TLS");
    ensure!(error.to_string().contains("rediss"), "{error}");
    Ok(())
}
