//! A sale moves to another Redis while people wait and sit inside: from a backup of a moment ago, and from one for which
//! it was closed.

use std::{collections::BTreeSet, fs, path::Path, process::Output, time::Duration};

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::json;
use tempfile::TempDir;
use vestibule_tests::{
    Deployment, Exited, Flavor, Redis, Reply, Service, Verifier, Visitor, backup, eventually,
    restore,
};

use crate::crowd::Guest;

const CEILING: usize = 5;
const CROWD: usize = 15;
const SOON: Duration = Duration::from_secs(40);
const SESSION_SECONDS: u64 = 600;

/// A sale with people inside and people who wait, and what they were told.
struct Sale {
    deployment: Deployment,
    inside: Vec<Visitor>,
    tokens: Vec<String>,
    waiting: Vec<Guest>,
    dir: TempDir,
}

#[track_caller]
fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn refused(output: &Output, why: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(why), "{said}");
}

// === impl Sale ===

impl Sale {
    async fn begin() -> Result<Self> {
        let deployment = Deployment::builder().admissions(2).start().await?;
        let settings = json!({
            "total_active_users": CEILING, "session_duration_seconds": SESSION_SECONDS,
        });
        deployment.create_room("sale", &settings).await?;
        let (mut inside, mut tokens, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for number in 1..=CROWD {
            let guest = Guest::join(deployment.visitor("sale")).await?;
            if number > CEILING {
                waiting.push(guest);
                continue;
            }
            let mut visitor = guest.visitor;
            tokens.push(visitor.sees("admitted", SOON).await?.text_of("access_token")?);
            inside.push(visitor);
        }
        Ok(Self { deployment, inside, tokens, waiting, dir: tempfile::tempdir()? })
    }

    fn file(&self) -> std::path::PathBuf {
        self.dir.path().join("sale.backup")
    }

    fn back_up(&self, options: &[&str]) -> Result<Output> {
        backup(&self.deployment.redis().url(), &self.file(), options)
    }

    async fn stop(&mut self, service: Service, count: usize) -> Result<()> {
        for index in 0..count {
            let process = self.deployment.process_mut(service, index);
            process.terminate()?;
            ensure!(process.ended(SOON).await? == Exited::Code(0), "{service:?} does not stop");
        }
        Ok(())
    }

    /// New services on another Redis, in place of the old ones.
    async fn go_on(&self, redis: &Redis) -> Result<Deployment> {
        let builder = Deployment::builder().admissions(2).over(&redis.url());
        let next = builder.in_place_of(&self.deployment).start().await?;
        eventually(SOON, "the room, open again", || async {
            next.operator().status("sale").await?;
            next.aws("sale").serving().await
        })
        .await?;
        Ok(next)
    }

    /// Everybody who was there when the backup was made has its place, and its seat.
    async fn expect_everybody(&self, next: &Deployment) -> Result<()> {
        for guest in &self.waiting {
            let reply = status_of(&guest.visitor, next).await?;
            ensure!(reply.says("waiting") || reply.says("your_turn"), "{}", reply.text);
            assert_eq!(reply.number("queue_number")?, guest.number);
        }
        for visitor in &self.inside {
            let reply = status_of(visitor, next).await?;
            ensure!(reply.says("admitted"), "{}", reply.text);
        }
        let verifier = Verifier::fetch(next.admissions()).await?;
        for token in &self.tokens {
            verifier.verify(token, "sale")?;
        }
        Ok(())
    }
}

/// What a visitor is told by new services.
async fn status_of(visitor: &Visitor, next: &Deployment) -> Result<Reply> {
    let visitor = visitor.clone().at(next.admissions().clone());
    let ask = || async { visitor.clone().status().await?.expect(200) };
    eventually(SOON, "an answer", ask).await
}

async fn status(deployment: &Deployment) -> Result<Reply> {
    deployment.operator().status("sale").await
}

/// The file lets nobody in who reads over a shoulder.
fn expect_no_secrets(file: &Path, deployment: &Deployment) -> Result<()> {
    let text = fs::read_to_string(file)?;
    for secret in deployment.secrets() {
        ensure!(!text.contains(secret), "a secret");
    }
    ensure!(!text.contains("PRIVATE KEY"), "a key");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_a_backup_of_a_moment_ago_everybody_of_it_keeps_place_and_seat() -> Result<()> {
    let mut sale = Sale::begin().await?;
    succeeded(&sale.back_up(&[])?);
    expect_no_secrets(&sale.file(), &sale.deployment)?;

    // Life goes on: some come, one gives its seat back, and the next one enters.
    let mut late = BTreeSet::new();
    for _ in 0..4 {
        late.insert(Guest::join(sale.deployment.visitor("sale")).await?.number);
    }
    sale.inside.remove(0).leave().await?.expect(200)?;
    let mut next_in_line = sale.waiting.remove(0).visitor;
    next_in_line.claims(SOON).await?;
    sale.deployment.redis_mut().kill().await?;

    let redis = Redis::start(Flavor::Redis7).await?;
    succeeded(&restore(&redis.url(), &sale.file(), &[])?);
    refused(&restore(&redis.url(), &sale.file(), &[])?, "holds rooms or keys of Vestibule already");
    let next = sale.go_on(&redis).await?;
    sale.expect_everybody(&next).await?;
    let room = status(&next).await?;
    ensure!(room.number("active_users")? <= CEILING as u64, "{}", room.text);
    for _ in 0..3 {
        let guest = Guest::join(next.visitor("sale")).await?;
        ensure!(guest.number > *late.last().unwrap_or(&0), "{} was somebody's", guest.number);
    }
    // Seats go on: whoever leaves makes room for the first in line.
    sale.inside.remove(0).at(next.admissions().clone()).leave().await?.expect(200)?;
    let first = sale.waiting.remove(0).visitor;
    first.at(next.admissions().clone()).claims(SOON).await?;
    let room = status(&next).await?;
    ensure!(room.number("active_users")? <= CEILING as u64, "{}", room.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sale_that_was_closed_moves_as_it_is() -> Result<()> {
    let mut sale = Sale::begin().await?;
    refused(&sale.back_up(&["--close"])?, "stop all controllers");
    let draft = json!({ "name": "ci", "role": "viewer" });
    let before = sale.deployment.operator();
    let made = before.call(Method::POST, "/v1/tokens", Some(&draft)).await?.expect(201)?;
    sale.stop(Service::Controller, 1).await?;
    succeeded(&sale.back_up(&["--close"])?);
    let join = sale.deployment.visitor("sale").join().await?;
    join.expect_retry_later()?;

    let redis = Redis::start(Flavor::Redis7).await?;
    succeeded(&restore(&redis.url(), &sale.file(), &[])?);
    let next = sale.go_on(&redis).await?;
    sale.expect_everybody(&next).await?;
    let room = status(&next).await?;
    assert_eq!(room.number("active_users")?, CEILING as u64, "{}", room.text);
    let guest = Guest::join(next.visitor("sale")).await?;
    assert_eq!(guest.number, CROWD as u64 + 1, "no number is left out");

    // Operators find what they had, too.
    let ci = next.operator().with_token(&made.text_of("token")?);
    ci.call(Method::GET, "/v1/rooms/sale", None).await?.expect(200)?;
    let noted =
        next.operator().call(Method::GET, "/v1/audit?room=sale", None).await?.expect(200)?;
    let created = |entry: &serde_json::Value| entry["action"] == "put_room";
    ensure!(
        noted.body["entries"].as_array().is_some_and(|all| all.iter().any(created)),
        "{}",
        noted.text
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_that_is_given_up_costs_no_number_and_no_seat() -> Result<()> {
    let mut sale = Sale::begin().await?;
    sale.stop(Service::Controller, 1).await?;
    succeeded(&sale.back_up(&["--close"])?);
    // The services that everybody knew stop, too.
    sale.stop(Service::Admission, 2).await?;
    for (service, index) in
        [(Service::Controller, 0), (Service::Admission, 0), (Service::Admission, 1)]
    {
        sale.deployment.restart(service, index).await?;
    }
    sale.deployment.operator().until("sale", "the room, open again", SOON, |_| Ok(true)).await?;
    let guest = Guest::join(sale.deployment.visitor("sale")).await?;
    assert_eq!(guest.number, CROWD as u64 + 1, "no number is left out");
    let room = status(&sale.deployment).await?;
    assert_eq!(room.number("unconfirmed_users")?, 0, "{}", room.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_redis_has_lost_leaves_the_backup_of_before_as_it_is() -> Result<()> {
    let mut sale = Sale::begin().await?;
    succeeded(&sale.back_up(&[])?);
    let before = fs::read(sale.file())?;
    sale.stop(Service::Admission, 2).await?;
    sale.stop(Service::Controller, 1).await?;
    let mut redis = sale.deployment.redis().connection().await?;
    for (key, why) in
        [("{deployment}:keys", "has lost their key ring"), ("room:{sale}:line", "lost room sale")]
    {
        let key = format!("vestibule:{key}");
        let lost: Vec<u8> = redis::cmd("DUMP").arg(&key).query_async(&mut redis).await?;
        redis::cmd("DEL").arg(&key).query_async::<()>(&mut redis).await?;
        refused(&sale.back_up(&[])?, why);
        assert!(fs::read(sale.file())? == before, "it was replaced");
        let mut back = redis::cmd("RESTORE");
        back.arg(&key).arg(0).arg(lost).query_async::<()>(&mut redis).await?;
    }
    succeeded(&sale.back_up(&[])?);
    Ok(())
}

/// A user who may restore all but the last room, as if somebody had stopped it there; returns the address.
async fn user_of_a_half(redis: &Redis) -> Result<String> {
    let mut user = redis::cmd("ACL");
    user.arg("SETUSER").arg("half").arg("on").arg(">half").arg("&*").arg("+@all");
    user.arg("~vestibule:{deployment}*").arg("~vestibule:probe*").arg("~vestibule:room:{sale}*");
    user.arg("(~vestibule:room:{vip}* +exists)");
    user.query_async::<()>(&mut redis.connection().await?).await?;
    Ok(redis.url().replace("redis://", "redis://half:half@"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_of_a_restore_is_taken_for_a_whole_one_by_nobody() -> Result<()> {
    let mut sale = Sale::begin().await?;
    sale.deployment.create_room("vip", &json!({ "total_active_users": 1 })).await?;
    succeeded(&sale.back_up(&[])?);
    sale.stop(Service::Admission, 2).await?;
    sale.stop(Service::Controller, 1).await?;

    let redis = Redis::start(Flavor::Redis7).await?;
    let half = user_of_a_half(&redis).await?;
    refused(&restore(&half, &sale.file(), &[])?, "a part of the rooms is there");
    for url in [&half, &redis.url()] {
        refused(&restore(url, &sale.file(), &[])?, "empty this Redis first");
    }
    refused(&backup(&redis.url(), &sale.file(), &[])?, "may be a part of the rooms");
    let controller = Deployment::builder().admissions(0).over(&redis.url());
    let never_ready = controller.in_place_of(&sale.deployment).start().await.err();
    let said = format!("{:#}", never_ready.context("a controller is ready on it")?);
    ensure!(said.contains("a restore into this redis was cut short"), "{said}");
    let mut connection = redis.connection().await?;
    let mut missing = redis::cmd("EXISTS");
    missing.arg("vestibule:{deployment}:keys").arg("vestibule:{deployment}:schema");
    assert_eq!(missing.query_async::<u32>(&mut connection).await?, 0, "no keys, and not whole");
    let listed = redis::cmd("SCARD").arg("vestibule:{deployment}:rooms").clone();
    assert_eq!(listed.query_async::<u32>(&mut connection).await?, 2, "none is taken off the list");

    redis.flush().await?;
    succeeded(&restore(&redis.url(), &sale.file(), &[])?);
    let next = sale.go_on(&redis).await?;
    sale.expect_everybody(&next).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_used_is_refused_and_changes_nothing() -> Result<()> {
    let sale = Sale::begin().await?;
    succeeded(&sale.back_up(&[])?);
    let redis = Redis::start(Flavor::Redis7).await?;
    let whole = fs::read(sale.file())?;
    let bad = sale.dir.path().join("bad");
    let reasons: [(&[u8], &str); 3] = [
        (&whole[..whole.len() / 2], "cut short"),
        (b"{\"backup\":{\"version\":4,\"release\":\"9.9.9\"}}\n", "restore it with release 9.9.9"),
        (b"hello", "no backup of Vestibule"),
    ];
    for (bytes, why) in reasons {
        fs::write(&bad, bytes)?;
        refused(&restore(&redis.url(), &bad, &[])?, why);
    }
    refused(&restore(&redis.url(), &sale.dir.path().join("none"), &[])?, "it cannot be read");
    refused(&backup(&redis.url(), &bad, &[])?, "holds no rooms of Vestibule");
    assert_eq!(redis.keys().await?, 0);
    let used = sale.deployment.redis().url();
    refused(&restore(&used, &sale.file(), &[])?, "holds rooms or keys of Vestibule already");
    let nowhere = sale.dir.path().join("none").join("file");
    refused(&backup(&used, &nowhere, &[])?, "cannot write");
    Ok(())
}
