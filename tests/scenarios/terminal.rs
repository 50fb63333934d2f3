//! Rooms at a terminal: `vestibule-controller room …`, as somebody types it, and what is said when it cannot be done.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::{Certificate, Client};
use serde_json::{Value, json};
use vestibule_tests::{Authority, Deployment, Operator, Service, Terminal};

const SOON: Duration = Duration::from_secs(20);

/// Each line of a text, with one space between its words.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

async fn wait_for(operator: &Operator, room: &str, waiting: u64) -> Result<()> {
    let waits = |status: &vestibule_tests::Reply| Ok(status.number("waiting")? == waiting);
    operator.until(room, "who waits", SOON, waits).await.map(drop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_are_listed_shown_paused_and_watched() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let (operator, terminal) = (deployment.operator(), deployment.terminal());
    let none = terminal.run(&["room", "list"]).await?.expect(0)?;
    ensure!(none.out == "There are no rooms.\n", "{}", none.out);
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    deployment.create_room("vip", &json!({ "queueing_method": "random" })).await?;
    let mut inside = deployment.visitor("sale");
    inside.join().await?.expect(200)?;
    inside.claims(SOON).await?;
    let mut waits = deployment.visitor("sale");
    waits.join().await?.expect(200)?;
    wait_for(&operator, "sale", 1).await?;

    let listed = terminal.run(&["room", "list"]).await?.expect(0)?;
    let listed = lines(&listed.out);
    ensure!(listed[0] == "ROOM METHOD QUEUEING WAITING INSIDE PER MINUTE WAIT STATE", "{listed:?}");
    let figures = listed[1].starts_with("sale fifo ") && listed[1].contains(" 1 1/1 1 ");
    ensure!(figures, "{listed:?}");
    ensure!(listed[2].starts_with("vip random no 0 0 0 "), "{listed:?}");
    let as_json = terminal.run(&["room", "list", "--json"]).await?.expect(0)?;
    let as_json: Value = serde_json::from_str(&as_json.out)?;
    ensure!(as_json["rooms"][0]["queue_counter"] == 2, "{as_json}");

    // Paused, nobody is let in, and the place is kept.
    let paused = terminal.run(&["room", "pause", "sale"]).await?.expect(0)?;
    ensure!(paused.out.starts_with("sale is paused: nobody is let in"), "{}", paused.out);
    inside.leave().await?;
    let shown = terminal.run(&["room", "show", "sale"]).await?.expect(0)?;
    ensure!(shown.out.contains("queue_all (paused)"), "{}", shown.out);
    ensure!(shown.out.contains("total_active_users: 1\n"), "{}", shown.out);
    ensure!(waits.status().await?.expect(200)?.text_of("status")? == "waiting");
    let resumed = terminal.run(&["room", "resume", "sale"]).await?.expect(0)?;
    ensure!(resumed.out.starts_with("sale goes on: "), "{}", resumed.out);
    waits.claims(SOON).await?;

    // Not a terminal: a line for each room each time.
    let watched = terminal.run(&["room", "watch", "--count", "2"]).await?.expect(0)?;
    let watched = lines(&watched.out);
    let names: Vec<_> = watched.iter().filter_map(|line| line.split(' ').next()).collect();
    ensure!(names == ["sale", "vip", "sale", "vip"], "{watched:?}");
    ensure!(watched[0].contains(" waiting=0 inside=1/1 "), "{watched:?}");
    let one = terminal.run(&["room", "watch", "vip", "--count", "1", "--json"]).await?.expect(0)?;
    ensure!(serde_json::from_str::<Value>(&one.out)?["rooms"][0]["room"] == "vip", "{}", one.out);

    operator.patch_room("vip", &json!({ "suspended": true })).await?.expect(200)?;
    let paused = terminal.run(&["room", "pause", "vip"]).await?.expect(0)?;
    ensure!(paused.err.contains("vip is suspended, so everybody enters"), "{}", paused.err);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_done_is_said_with_what_to_do_about_it() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let terminal = deployment.terminal();
    for command in ["show", "pause", "resume", "watch"] {
        let unknown = terminal.run(&["room", command, "nowhere"]).await?.expect(1)?;
        ensure!(unknown.err.starts_with("error: there is no room `nowhere`"), "{}", unknown.err);
    }
    let odd = terminal.run(&["room", "show", "a/b"]).await?.expect(64)?;
    ensure!(odd.err.contains("ROOM"), "{}", odd.err);
    let wrong = terminal.clone().environment("VESTIBULE_API_TOKEN", "nobody's token 000");
    let wrong = wrong.run(&["room", "list"]).await?.expect(1)?;
    ensure!(wrong.err.contains("does not know this token"), "{}", wrong.err);
    ensure!(!wrong.err.contains("nobody's"), "a token is told: {}", wrong.err);
    let nobody = terminal.clone().environment("VESTIBULE_CONTROLLER_URL", "http://127.0.0.1:1");
    let nobody = nobody.run(&["export"]).await?.expect(1)?;
    ensure!(nobody.err.contains("no controller answers at http://127.0.0.1:1"), "{}", nobody.err);
    ensure!(nobody.err.contains("VESTIBULE_CONTROLLER_URL"), "{}", nobody.err);
    let none = terminal.clone().environment("VESTIBULE_API_TOKEN", "");
    let none = none.run(&["room", "list"]).await?.expect(64)?;
    ensure!(none.err.contains("VESTIBULE_API_TOKEN or VESTIBULE_API_TOKEN_FILE is required"));
    terminal.run(&["apply"]).await?.expect(64)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_with_tls_is_asked_by_who_trusts_it_and_shows_a_certificate() -> Result<()> {
    let authority = Authority::new()?;
    let pem = authority.client("operators")?;
    let trusted = Certificate::from_pem(&std::fs::read(authority.file())?)?;
    let http = Client::builder()
        .timeout(SOON)
        .tls_certs_only([trusted])
        .identity(reqwest::Identity::from_pem(pem.as_bytes())?)
        .build()?;
    let ca = authority.file();
    let ca = ca.to_str().context("a path in UTF-8")?;
    let builder = Deployment::builder().admissions(0).tls(&authority, http);
    let deployment = builder.environment("VESTIBULE_TLS_CLIENT_CA", ca).start().await?;
    let folder = tempfile::tempdir()?;
    let shown = folder.path().join("operators.pem");
    std::fs::write(&shown, &pem)?;
    let shown = shown.to_str().context("a path in UTF-8")?;

    let url = format!("https://{}", deployment.address(Service::Controller, 0));
    let stranger = Terminal::new(&url, deployment.secrets()[1]);
    let untrusting = stranger.run(&["room", "list"]).await?.expect(1)?;
    ensure!(untrusting.err.contains("certificate that is not trusted"), "{}", untrusting.err);
    ensure!(untrusting.err.contains("VESTIBULE_CONTROLLER_CA"), "{}", untrusting.err);
    let trusting = stranger.environment("VESTIBULE_CONTROLLER_CA", ca);
    trusting.run(&["room", "list"]).await?.expect(1)?;
    let known = trusting.environment("VESTIBULE_CONTROLLER_CERT", shown);
    let known = known.environment("VESTIBULE_CONTROLLER_KEY", shown);
    known.run(&["room", "list"]).await?.expect(0)?;
    Ok(())
}
