//! The users that SECURITY.md gives both services: a whole sale needs no right more.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use redis::cmd;
use reqwest::Method;
use serde_json::json;
use vestibule_tests::{Deployment, Flavor, Node, Sentinels, backup, eventually, restore};

use crate::{SOON, people::enter};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../SECURITY.md");

/// The users, each as the words of its line.
pub(crate) struct Users {
    controller: Vec<String>,
    admission: Vec<String>,
}

/// The lines of a code block of SECURITY.md that begin with `user`.
fn lines(language: &str) -> Result<Vec<Vec<String>>> {
    let text = fs::read_to_string(Path::new(FILE))?;
    let begin = format!("```{language}\n");
    let (_, rest) = text.split_once(&begin).with_context(|| format!("no {language} block"))?;
    let (block, _) = rest.split_once("```").context("a block without an end")?;
    let words = |line: &str| line.split_whitespace().skip(1).map(str::to_owned).collect();
    Ok(block.lines().filter(|line| line.starts_with("user ")).map(words).collect())
}

async fn create(node: &Node, user: &[String]) -> Result<()> {
    node.command(cmd("ACL").arg("SETUSER").arg(user)).await
}

/// The address `url` with the name and the password of `user`.
fn url_of(user: &[String], url: &str) -> String {
    let password = user.iter().find_map(|word| word.strip_prefix('>')).unwrap_or_default();
    url.replace("redis://", &format!("redis://{}:{password}@", user[0]))
}

/// Fails if anybody wanted more than it may.
pub(crate) async fn expect_nothing_denied(node: &Node) -> Result<()> {
    let denied: Vec<redis::Value> = node.command(cmd("ACL").arg("LOG")).await?;
    ensure!(denied.is_empty(), "denied: {denied:#?}");
    Ok(())
}

// === impl Users ===

impl Users {
    pub(crate) fn read() -> Result<Self> {
        let mut users = lines("acl")?.into_iter();
        let (controller, admission) = (users.next().context("none")?, users.next().context("one")?);
        ensure!(controller[0] == "vestibule-controller" && admission[0] == "vestibule-admission");
        Ok(Self { controller, admission })
    }

    /// Without a right, for both.
    pub(crate) fn without(mut self, right: &str) -> Self {
        self.controller.retain(|word| word != right);
        self.admission.retain(|word| word != right);
        self
    }

    pub(crate) async fn create_at(&self, node: &Node) -> Result<()> {
        create(node, &self.controller).await?;
        create(node, &self.admission).await
    }

    pub(crate) fn controllers_url(&self, url: &str) -> String {
        url_of(&self.controller, url)
    }

    pub(crate) fn admissions_url(&self, url: &str) -> String {
        url_of(&self.admission, url)
    }

    async fn deployment(&self, node: &Node) -> Result<Deployment> {
        self.create_at(node).await?;
        let url = format!("redis://{}", node.address());
        Deployment::builder()
            .over(&self.controllers_url(&url))
            .admissions_over(&self.admissions_url(&url))
            .environment("VESTIBULE_REDIS_WAIT_REPLICAS", "1")
            .environment("VESTIBULE_REDIS_WAIT_MS", "1")
            .start()
            .await
    }
}

async fn visitors(deployment: &Deployment) -> Result<()> {
    deployment.create_room("sale", &json!({ "total_active_users": 2 })).await?;
    let mut first = enter(deployment.visitor("sale")).await?;
    enter(deployment.visitor("sale")).await?;
    let mut waiting = deployment.visitor("sale");
    waiting.join().await?.expect(200)?;
    waiting.status().await?.expect(200)?;
    waiting.claim().await?.expect(200)?;
    let mut leaves = deployment.visitor("sale");
    leaves.join().await?.expect(200)?;
    leaves.leave().await?.expect(200)?;
    first.status().await?.expect(200)?;
    first.leave().await?.expect(200)?;
    enter(waiting).await?;
    Ok(())
}

async fn operators(deployment: &Deployment) -> Result<()> {
    let operator = deployment.operator();
    let call = async |method: Method, path: &str, body| {
        let reply = operator.call(method, path, body).await?;
        ensure!(matches!(reply.status, 200..=299), "{path}: {} {}", reply.status, reply.text);
        anyhow::Ok(reply)
    };
    let routes = json!({ "routes": [{ "host": "shop.example", "path": "/" }] });
    call(Method::PATCH, "/v1/rooms/sale", Some(&routes)).await?;
    let now: u64 = call(Method::GET, "/v1/rooms/sale/status", None)
        .await?
        .number("now")
        .unwrap_or(1_900_000_000);
    let event = json!({
        "prequeue_start_time": now + 3600, "event_start_time": now + 7200,
        "event_end_time": now + 10_800, "draw_at_event_start": true,
    });
    call(Method::PUT, "/v1/rooms/sale/events/launch", Some(&event)).await?;
    call(Method::GET, "/v1/rooms/sale/history", None).await?;
    call(Method::DELETE, "/v1/rooms/sale/events/launch", None).await?;
    call(Method::POST, "/v1/keys/rotate?force=true", None).await?;
    call(Method::POST, "/v1/rooms/sale/reset", None).await?;
    call(Method::DELETE, "/v1/rooms/sale?people=9", None).await?;
    Ok(())
}

async fn aws_clients(deployment: &Deployment) -> Result<()> {
    let settings = json!({ "total_active_users": 5, "aws_style_api": true });
    deployment.create_room("aws", &settings).await?;
    // Nobody listens there: events are written down, read, and sent in vain.
    let webhook = json!({
        "url": "https://127.0.0.1:9/", "events": ["token_generated", "waiting_room_metrics"],
    });
    let operator = deployment.operator();
    operator.call(Method::PUT, "/v1/webhooks/aws", Some(&webhook)).await?.expect(201)?;
    eventually(SOON, "an attempt to tell a webhook", || async {
        let told = operator.call(Method::GET, "/v1/webhooks/aws", None).await?.expect(200)?;
        ensure!(told.body["delivery"]["last_failure"].is_string(), "{}", told.text);
        Ok(())
    })
    .await?;
    let aws = deployment.aws("aws");
    let (one, two) = (aws.assign().await?, aws.assign().await?);
    aws.queue_number(&two).await?;
    aws.increment(2).await?;
    for id in [&one, &two] {
        eventually(SOON, "a token", || async {
            aws.generate_token(id).await?.expect(200).map(drop)
        })
        .await?;
    }
    aws.request_get("/queue_pos_expiry", &two).await?;
    aws.update_session(&one, 1).await?.expect(200)?;
    aws.active_tokens().await?;
    aws.private("/api/expired_tokens?event_id=aws", None).await?.expect(200)?;
    let event = json!({ "event_id": "aws" });
    aws.private("/api/reset_initial_state", Some(&event)).await?.expect(200)?;
    Ok(())
}

/// `draw`: the pre-queue is over at once, so a draw happens.
async fn random_room(deployment: &Deployment) -> Result<()> {
    let settings = json!({ "queueing_method": "random", "total_active_users": 1 });
    deployment.create_room("random", &settings).await?;
    enter(deployment.visitor("random")).await?;
    deployment.visitor("random").join().await?.expect(200)?;
    Ok(())
}

async fn a_whole_sale(flavor: Flavor) -> Result<()> {
    let node = Node::start(flavor, Some("of-the-test"), &[]).await?;
    let deployment = Users::read()?.deployment(&node).await?;
    visitors(&deployment).await?;
    random_room(&deployment).await?;
    aws_clients(&deployment).await?;
    operators(&deployment).await?;
    // Rooms that are lost are restored.
    node.command::<()>(&cmd("FLUSHALL")).await?;
    eventually(SOON, "the room, restored", || async {
        deployment.operator().status("random").await.map(drop)
    })
    .await?;
    expect_nothing_denied(&node).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_sale_needs_no_more_rights_than_written() -> Result<()> {
    a_whole_sale(Flavor::Redis7).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_sale_on_valkey_needs_no_more_rights_than_written() -> Result<()> {
    if Flavor::Valkey9.is_left_out() {
        return Ok(());
    }
    a_whole_sale(Flavor::Valkey9).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_and_its_restoration_need_no_more_rights_than_written() -> Result<()> {
    let users = Users::read()?;
    let (node, other) = (
        Node::start(Flavor::Redis7, Some("of-the-test"), &[]).await?,
        Node::start(Flavor::Redis7, Some("of-the-test"), &[]).await?,
    );
    users.create_at(&other).await?;
    let deployment = users.deployment(&node).await?;
    visitors(&deployment).await?;
    aws_clients(&deployment).await?;
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("backup");
    let url = |node: &Node| users.controllers_url(&format!("redis://{}", node.address()));
    for output in [backup(&url(&node), &file, &[])?, restore(&url(&other), &file, &[])?] {
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    expect_nothing_denied(&node).await?;
    expect_nothing_denied(&other).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_info_everything_works_and_it_is_said_once() -> Result<()> {
    let node = Node::start(Flavor::Redis7, Some("of-the-test"), &[]).await?;
    let deployment = Users::read()?.without("+info").deployment(&node).await?;
    deployment.create_room("sale", &json!({ "total_active_users": 2 })).await?;
    enter(deployment.visitor("sale")).await?;
    let log = deployment.logs();
    assert_eq!(log.matches("INFO is refused").count(), 2, "once for each service: {log}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sentinels_give_their_user_no_more_rights_than_written() -> Result<()> {
    let group = Sentinels::start(Flavor::Redis7).await?;
    let user = lines("sentinel-acl")?.pop().context("no user")?;
    for index in 0..3 {
        create(group.sentinel(index), &user).await?;
    }
    let url = group.url();
    let (servers, _) = url.split_once('?').context("no query")?;
    let url = format!("{servers}?sentinel_user={}&sentinel_password=SENTINEL-PASSWORD", user[0]);
    let deployment = Deployment::builder().over(&url).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 2 })).await?;
    enter(deployment.visitor("sale")).await?;
    for index in 0..3 {
        expect_nothing_denied(group.sentinel(index)).await?;
    }
    Ok(())
}

/// Every command that any script runs is among the controller's rights: it may be one that is rarely
/// needed.
#[test]
fn every_command_of_every_script_is_granted() -> Result<()> {
    let users = Users::read()?;
    let scripts = Path::new(FILE).parent().context("no folder")?.join("shared/store/src/scripts");
    let mut commands = 0;
    for folder in [scripts.clone(), scripts.join("lib")] {
        for file in fs::read_dir(folder)? {
            let path = file?.path();
            if path.extension().is_none_or(|extension| extension != "lua") {
                continue;
            }
            for call in fs::read_to_string(&path)?.split("call('").skip(1) {
                let (command, _) = call.split_once('\'').context("a call without an end")?;
                let right = format!("+{}", command.to_lowercase());
                ensure!(users.controller.contains(&right), "{}: {command}", path.display());
                commands += 1;
            }
        }
    }
    ensure!(commands > 50, "only {commands} were found");
    Ok(())
}

/// All that is written below `folder`, in Rust and in Lua.
fn sources(folder: &Path) -> Result<String> {
    let mut all = String::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            all += &sources(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "lua")
        {
            all += &fs::read_to_string(&path)?;
        }
    }
    Ok(all)
}

#[test]
fn nothing_is_granted_that_nothing_calls() -> Result<()> {
    let users = Users::read()?;
    let store = Path::new(FILE).parent().context("no folder")?.join("shared/store/src");
    let store = sources(&store)?;
    for right in users.controller.iter().chain(&users.admission) {
        let Some(command) = right.strip_prefix('+') else { continue };
        let name = command.split('|').next().unwrap_or(command).to_uppercase();
        let is_called =
            store.contains(&format!("'{name}'")) || store.contains(&format!("\"{name}\""));
        ensure!(is_called, "+{command} is granted, and nothing calls it");
    }
    Ok(())
}
