//! Rooms as files: `vestibule-controller apply` and `export`, as somebody types them, and the call that they are made of.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use vestibule_tests::{Deployment, Operator, Said, Terminal, eventually};

use crate::rooms::expect_problem;

const SOON: std::time::Duration = std::time::Duration::from_secs(20);

/// A folder with files, and somebody who applies the first of them.
struct Desk {
    terminal: Terminal,
    folder: TempDir,
}

// === impl Desk ===

impl Desk {
    fn new(terminal: Terminal) -> Result<Self> {
        Ok(Self { terminal, folder: tempfile::tempdir()? })
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        Ok(fs::write(self.folder.path().join(name), text)?)
    }

    /// Applies `rooms.yaml`, which is to have this text.
    async fn apply(&self, text: &str, options: &[&str]) -> Result<Said> {
        self.write("rooms.yaml", text)?;
        let file = self.folder.path().join("rooms.yaml");
        let file = file.to_str().context("a path in UTF-8")?;
        self.terminal.run(&[&["apply", "-f", file], options].concat()).await
    }
}

async fn settings(operator: &Operator, room: &str) -> Result<Value> {
    let path = format!("/v1/rooms/{room}");
    Ok(operator.call(Method::GET, &path, None).await?.expect(200)?.body)
}

async fn names(operator: &Operator) -> Result<Vec<String>> {
    let rooms = operator.call(Method::GET, "/v1/rooms", None).await?.expect(200)?;
    let rooms = rooms.body["rooms"].as_array().cloned().unwrap_or_default();
    Ok(rooms.iter().filter_map(|room| Some(room["room"].as_str()?.to_owned())).collect())
}

/// What the audit log has of applies, the oldest first: the room, and what was there before and after.
async fn noted(operator: &Operator) -> Result<Vec<(String, Value, Value)>> {
    let page = operator.call(Method::GET, "/v1/audit", None).await?.expect(200)?;
    let entries = page.body["entries"].as_array().cloned().unwrap_or_default();
    let applied = entries.into_iter().rev().filter(|entry| entry["action"] == "put_config");
    Ok(applied
        .map(|entry| {
            let room = entry["room"].as_str().unwrap_or_default().to_owned();
            (room, entry["before"].clone(), entry["after"].clone())
        })
        .collect())
}

const FIRST: &str = "
x-common: &common
  labels: {managed-by: git}
rooms:
  sale:
    <<: *common
    total_active_users: 0
    page_file: sale.html
    events:
      launch:
        event_start_time: 2099-11-05T10:00:00Z
        event_end_time: 2099-11-05T12:00:00Z
        prequeue_start_time: 2099-11-05T09:30:00Z
        draw_at_event_start: true
  vip:
    <<: *common
";

const SECOND: &str = "
rooms:
  sale:
    labels: {managed-by: git}
    total_active_users: 0
    session_duration_seconds: 600
    events: {}
  vip:
    labels: {managed-by: git}
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_become_what_a_file_says_and_their_lines_stay() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let (operator, desk) = (deployment.operator(), Desk::new(deployment.terminal())?);
    desk.write("sale.html", "<p>{{waitTime}} minutes</p>\n")?;

    // Looked at, then done, then done already.
    let looked = desk.apply(FIRST, &["--dry-run", "--exit-code"]).await?.expect(2)?;
    ensure!(looked.out.contains("Nothing was changed") && names(&operator).await?.is_empty());
    let done = desk.apply(FIRST, &[]).await?.expect(0)?;
    for line in [
        "+ rooms.sale\n",
        "+ rooms.sale.total_active_users: 0\n",
        "+ rooms.sale.labels.managed-by: git\n",
        "+ rooms.sale.events.launch.event_start_time: 2099-11-05T10:00:00Z\n",
        "+ rooms.sale.page: 28 bytes, SHA-256 ",
        "+ rooms.vip\n",
        "Rooms: 2 created; 0 as declared already.\n",
    ] {
        ensure!(done.out.contains(line), "no `{line}` in {}", done.out);
    }
    let again = desk.apply(FIRST, &["--dry-run", "--exit-code"]).await?.expect(0)?;
    ensure!(again.out == "Nothing to do: 2 as declared already.\n", "{}", again.out);
    ensure!(settings(&operator, "sale").await?["total_active_users"] == 0);
    let page = operator.call(Method::GET, "/v1/rooms/sale/page", None).await?.expect(200)?;
    ensure!(page.text == "<p>{{waitTime}} minutes</p>\n");
    let launch =
        operator.call(Method::GET, "/v1/rooms/sale/events/launch", None).await?.expect(200)?;
    let commitment = launch.text_of("commitment")?;

    // Somebody waits, and goes on waiting at the same place.
    eventually(SOON, "a place", || async { deployment.visitor("sale").join().await?.expect(200) })
        .await?;
    let counter = operator.status("sale").await?.number("queue_counter")?;
    let warmer = FIRST.replace(
        "total_active_users: 0",
        "total_active_users: 0\n    session_duration_seconds: 600",
    );
    desk.apply(&warmer, &[]).await?.expect(0)?;
    let launch =
        operator.call(Method::GET, "/v1/rooms/sale/events/launch", None).await?.expect(200)?;
    ensure!(launch.text_of("commitment")? == commitment, "a draw was made anew");
    let changed = desk.apply(SECOND, &[]).await?.expect(0)?;
    ensure!(changed.out.contains("- rooms.sale.events.launch\n"), "{}", changed.out);
    ensure!(changed.out.contains("- rooms.sale.page: 28 bytes"), "{}", changed.out);
    let status = operator.status("sale").await?;
    ensure!(status.number("queue_counter")? == counter && status.number("reset_epoch")? > 0);

    // Each change is in the audit log, by its room; what changed nothing is not.
    let noted = noted(&operator).await?;
    let rooms: Vec<_> = noted.iter().map(|(room, ..)| room.as_str()).collect();
    ensure!(rooms == ["sale", "vip", "sale", "sale"], "{rooms:?}");
    ensure!(noted[0].1.is_null() && noted[0].2["labels"]["managed-by"] == "git", "{noted:?}");
    ensure!(noted[2].1 == json!({ "session_duration_seconds": 300 }), "{:?}", noted[2]);
    ensure!(noted[3].2["events"] == json!({ "launch": null }), "{:?}", noted[3]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_exported_changes_nothing_when_it_is_applied() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let (operator, desk) = (deployment.operator(), Desk::new(deployment.terminal())?);
    // The example that is told about everywhere; and a room as calls make it.
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/rooms.example.yaml");
    let example = example.to_str().context("a path in UTF-8")?;
    desk.terminal.run(&["apply", "-f", example]).await?.expect(0)?;
    deployment.create_room("by-hand", &json!({ "places_per_network": null })).await?;
    let logo = b"GIF89a\x01\0\x01\0\0\0\0;".to_vec();
    let at = deployment.controllers().at("/v1/rooms/by-hand/logo")?;
    let put = deployment.controllers().http().put(at).header("content-type", "image/gif");
    let put = put.bearer_auth(deployment.secrets()[1]).body(logo).send().await?;
    ensure!(put.status() == 204);
    let before = [settings(&operator, "sale").await?, settings(&operator, "by-hand").await?];

    for options in [&[][..], &["--full"], &["--json"]] {
        let exported = desk.terminal.run(&[&["export"], options].concat()).await?.expect(0)?;
        ensure!(!exported.out.contains("commitment"), "{}", exported.out);
        let same = desk.apply(&exported.out, &["--exit-code", "--dry-run"]).await?.expect(0)?;
        ensure!(same.out == "Nothing to do: 3 as declared already.\n", "{}", same.out);
        desk.apply(&exported.out, &["--prune", "managed-by=git"]).await?.expect(0)?;
    }
    ensure!(before == [settings(&operator, "sale").await?, settings(&operator, "by-hand").await?]);
    ensure!(noted(&operator).await?.len() == 2, "what changes nothing is not noted");

    let exported =
        desk.terminal.run(&["export", "--labels", "managed-by=git", "sale"]).await?.expect(0)?;
    ensure!(
        exported.out.starts_with("# yaml-language-server: $schema=http://"),
        "{}",
        exported.out
    );
    ensure!(exported.out.contains("\n    labels:\n      managed-by: git\n"), "{}", exported.out);
    ensure!(exported.out.contains("page: |\n      <!doctype html>\n"), "{}", exported.out);
    ensure!(!exported.out.contains("accounts"), "{}", exported.out);
    // Its schema is there for editors, who show no token.
    let schema =
        exported.out.lines().next().and_then(|line| line.split_once('=')).context("no schema")?;
    let schema = deployment.controllers().http().get(schema.1).send().await?;
    ensure!(schema.json::<Value>().await?["definitions"]["DeclaredRoom"].is_object());
    // The same by a call alone.
    let at = deployment.controllers().at("/v1/config?dry_run=true")?;
    let put = deployment.controllers().http().put(at).header("content-type", "application/yaml");
    let put = put.bearer_auth(deployment.secrets()[1]).body(exported.out).send().await?;
    let plan: Value = put.json().await?;
    ensure!(plan == json!({ "dry_run": true, "steps": [], "unchanged": 1 }), "{plan}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_with_the_label_are_pruned_but_not_over_the_heads_of_people() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let (operator, desk) = (deployment.operator(), Desk::new(deployment.terminal())?);
    deployment.create_room("by-hand", &json!({})).await?;
    deployment
        .create_room("old", &json!({ "total_active_users": 0, "labels": { "managed-by": "git" } }))
        .await?;
    deployment.create_room("empty", &json!({ "labels": { "managed-by": "git" } })).await?;
    deployment.visitor("old").join().await?.expect(200)?;
    let until = |status: &vestibule_tests::Reply| Ok(status.number("waiting")? == 1);
    operator.until("old", "somebody who waits", SOON, until).await?;

    let file = "rooms: {vip: {labels: {managed-by: git}}}\n";
    let prune = ["--prune", "managed-by=git"];
    let looked = desk.apply(file, &[&prune[..], &["--dry-run"]].concat()).await?.expect(0)?;
    ensure!(looked.out.contains("- rooms.old (1 waiting, 0 inside)\n"), "{}", looked.out);
    ensure!(looked.out.contains("- rooms.empty\n") && !looked.out.contains("by-hand"));
    ensure!(looked.err.contains("--prune-occupied 1"), "{}", looked.err);
    let refused = desk.apply(file, &prune).await?.expect(1)?;
    ensure!(refused.err.contains("rooms.old: would be deleted with 1 who wait"), "{}", refused.err);
    ensure!(names(&operator).await? == ["by-hand", "empty", "old"], "something was changed");
    desk.apply(file, &[&prune[..], &["--prune-occupied", "1"]].concat()).await?.expect(0)?;
    ensure!(names(&operator).await? == ["by-hand", "vip"]);
    desk.apply("rooms: {}\n", &[]).await?.expect(0)?;
    ensure!(names(&operator).await? == ["by-hand", "vip"], "nothing is pruned unless that is said");
    let noted = noted(&operator).await?;
    let rooms: Vec<_> =
        noted.iter().map(|(room, _, after)| (room.as_str(), after.is_null())).collect();
    ensure!(rooms == [("vip", false), ("empty", true), ("old", true)], "{rooms:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_that_is_wrong_is_told_with_its_line_and_nothing_is_changed() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let (operator, desk) = (deployment.operator(), Desk::new(deployment.terminal())?);
    deployment
        .create_room("taken", &json!({ "routes": [{ "host": "a.example", "path": "/" }] }))
        .await?;
    desk.write("broken.html", "<p>{{nonsense}}</p>")?;
    let file = "rooms:
  good: {total_active_users: 5}
  sale:
    total_active_users: -1
    queue_all: yes
    qeue_all: true
    page_file: broken.html
    routes:
    - host: b.example
      path: nowhere
  late:
    routes: [{host: a.example, path: /}]
    events:
      launch:
        event_start_time: 2001-11-05T10:00:00Z
        event_end_time: 2001-11-05T12:00:00Z
  a b: {}
";
    for options in [&["--dry-run"][..], &[]] {
        let refused = desk.apply(file, options).await?.expect(1)?;
        for told in [
            "rooms.yaml:4: rooms.sale.total_active_users: ",
            "rooms.yaml:5: rooms.sale.queue_all: invalid type: string, expected a boolean",
            "rooms.yaml:6: rooms.sale.qeue_all: unknown field",
            "rooms.yaml:7: rooms.sale.page: line 1: there is no variable `nonsense`",
            "rooms.yaml:10: rooms.sale.routes[0].path: ",
            "rooms.yaml:12: rooms.late.routes[0]: a.example/ is covered by the room `taken` already",
            "rooms.yaml:15: rooms.late.events.launch.event_start_time: must not be in the past",
            "rooms.yaml:17: rooms.a b: ",
        ] {
            ensure!(refused.err.contains(told), "no `{told}` in {}", refused.err);
        }
        ensure!(names(&operator).await? == ["taken"]);
    }
    for (file, told) in [
        ("rooms:\n  sale:\n    a: 1\n    a: 2\n", "rooms.yaml:4: "),
        (
            "rooms: {sale: {page_file: none.html}}\n",
            "rooms.yaml:1: rooms.sale.page_file: cannot read",
        ),
        ("sale: {}\n", "rooms.yaml: must have `rooms`"),
    ] {
        let refused = desk.apply(file, &[]).await?.expect(1)?;
        ensure!(refused.err.contains(told), "no `{told}` in {}", refused.err);
    }
    let refused = operator
        .call(Method::PUT, "/v1/config", Some(&json!({ "rooms": { "x": { "y": 1 } } })))
        .await?;
    expect_problem(&refused, 400, "rooms.x.y")?;
    // Routes that go from one room to another are nobody's twice in the end.
    let moved = "rooms:\n  taken: {}\n  new: {routes: [{host: a.example, path: /}]}\n";
    desk.apply(moved, &[]).await?.expect(0)?;
    ensure!(noted(&operator).await?.len() == 2);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_applies_and_exports_as_far_as_its_role_and_rooms_go() -> Result<()> {
    let tokens = "see:viewer:viewer-token-000;sales:operator:sale,sale-*:sales-token-0000";
    let deployment =
        Deployment::builder().environment("VESTIBULE_API_TOKENS", tokens).start().await?;
    let operator = deployment.operator();
    for room in ["sale", "vip"] {
        deployment.create_room(room, &json!({})).await?;
    }
    let with =
        |token: &str| Desk::new(deployment.terminal().environment("VESTIBULE_API_TOKEN", token));
    let (viewer, sales) = (with("viewer-token-000")?, with("sales-token-0000")?);
    let file = "rooms: {sale: {total_active_users: 7}}\n";

    let exported = viewer.terminal.run(&["export"]).await?.expect(0)?;
    ensure!(exported.out.contains("sale:") && exported.out.contains("vip:"), "{}", exported.out);
    viewer.apply(file, &["--dry-run", "--exit-code"]).await?.expect(2)?;
    let refused = viewer.apply(file, &[]).await?.expect(1)?;
    ensure!(refused.err.contains("needs the role `operator`"), "{}", refused.err);

    let exported = sales.terminal.run(&["export"]).await?.expect(0)?;
    ensure!(!exported.out.contains("vip"), "{}", exported.out);
    sales.terminal.run(&["export", "vip"]).await?.expect(1)?;
    sales.apply(file, &[]).await?.expect(0)?;
    ensure!(settings(&operator, "sale").await?["total_active_users"] == 7);
    for (file, told) in [
        (
            "rooms: {sale: {}, vip: {}}\n",
            "rooms.yaml:1: rooms.vip: this needs a token for the room",
        ),
        (
            "rooms: {sale: {}, sale-2: {}}\n",
            "rooms.yaml:1: rooms.sale-2: this needs the role `admin`",
        ),
    ] {
        let refused = sales.apply(file, &[]).await?.expect(1)?;
        ensure!(refused.err.contains(told), "no `{told}` in {}", refused.err);
        ensure!(
            settings(&operator, "sale").await?["total_active_users"] == 7,
            "something was changed"
        );
    }
    let route = json!({ "routes": [{ "host": "b.example", "path": "/" }] });
    operator.patch_room("vip", &route).await?.expect(200)?;
    let taken = sales.apply("rooms: {sale: {routes: [{host: b.example}]}}\n", &[]).await?;
    let told = "rooms.sale.routes[0]: b.example/ is covered by another room already";
    ensure!(taken.err.contains(told) && !taken.err.contains("vip"), "{}", taken.err);
    let sales = operator.with_token("sales-token-0000");
    let taken = sales.patch_room("sale", &route).await?;
    expect_problem(&taken, 400, "is covered by another room already")?;
    ensure!(!taken.text.contains("vip"), "{}", taken.text);
    let twice = br#"{"rooms": {"sale": {"queue_all": false, "queue_all": true}}}"#.to_vec();
    let refused = sales.call_raw(Method::PUT, "/v1/config", twice).await?;
    expect_problem(&refused, 400, "rooms.sale.queue_all")?;
    ensure!(names(&operator).await? == ["sale", "vip"]);
    let noted = operator.call(Method::GET, "/v1/audit?who=sales", None).await?.expect(200)?;
    ensure!(
        noted.body["entries"].as_array().is_some_and(|entries| entries.len() == 1),
        "{}",
        noted.text
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_applies_at_once_come_one_after_the_other() -> Result<()> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    let document = |users: u64| {
        let rooms = (0..12)
            .map(|number| (format!("room-{number}"), json!({ "total_active_users": users })));
        json!({ "rooms": rooms.collect::<serde_json::Map<_, _>>() })
    };
    let put = async |index: usize, users: u64| {
        let body = document(users);
        deployment.operator_at(index).call(Method::PUT, "/v1/config", Some(&body)).await
    };
    put(0, 1).await?.expect(200)?;
    let patch = async || {
        let operator = deployment.operator();
        operator.patch_room("room-11", &json!({ "suspended": true })).await?.expect(200)
    };
    let (one, two, patched) = tokio::join!(put(0, 100), put(1, 200), patch());
    for reply in [one?, two?] {
        reply.expect(200)?;
    }
    patched?;
    let operator = deployment.operator();
    let mut users = Vec::new();
    for number in 0..12 {
        users.push(
            settings(&operator, &format!("room-{number}")).await?["total_active_users"].clone(),
        );
    }
    ensure!(
        users.iter().all(|other| *other == users[0]),
        "they went through each other: {users:?}"
    );
    Ok(())
}
