//! Watching a deployment: `docs/metrics.md` says what both services tell, the controller that serves a room tells of it
//! and no other does, and a real Prometheus takes the rules and answers every query of the board.

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use reqwest::{Certificate, Client, Method};
use serde_json::{Value, json};
use vestibule_tests::{
    Authority, Deployment, Prometheus, Service, eventually,
    exposition::{Families, documented, told},
};

const SOON: Duration = Duration::from_secs(30);
const ADMISSIONS: usize = 1;
const CONTROLLERS: usize = 2;

fn file(path: &str) -> Result<String> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("no repository")?;
    Ok(fs::read_to_string(repository.join(path))?)
}

/// A deployment of which all metrics have something to tell.
async fn busy() -> Result<Deployment> {
    let authority = Authority::new()?;
    let trusted = Certificate::from_pem(&fs::read(authority.file())?)?;
    let http = Client::builder().timeout(SOON).tls_certs_only([trusted]).build()?;
    let builder = Deployment::builder().admissions(ADMISSIONS).controllers(CONTROLLERS);
    // Nobody listens there: what cannot be sent is counted, too.
    let builder = builder.environment("VESTIBULE_TRACES_ENDPOINT", "http://127.0.0.1:9");
    let deployment = builder.tls(&authority, http).start().await?;
    let sale = json!({
        "total_active_users": 3, "session_duration_seconds": 2,
        "routes": [{ "host": "shop.example", "path": "/" }],
    });
    deployment.create_room("sale", &sale).await?;
    let guarded = json!({
        "total_active_users": 5, "new_users_per_minute": 5, "challenge": { "mode": "endless_line" },
    });
    deployment.create_room("guarded", &guarded).await?;
    deployment.visitor("guarded").join().await?.expect(200)?;
    // Sessions end by themselves, so there is a pace, and a wait is told and comes true.
    let crowd = (0..27).map(|_| {
        let mut visitor = deployment.visitor("sale");
        async move {
            visitor.join().await?.expect(200)?;
            visitor.claims(SOON).await
        }
    });
    try_join_all(crowd).await?;
    let operator = deployment.operator();
    operator.patch_room("sale", &json!({ "queue_all": true })).await?.expect(200)?;
    deployment.visitor("sale").join().await?.expect(200)?;
    deployment.site_visitor("shop.example").get("/").await?;
    deployment.visitor("nowhere").status().await?.expect(404)?;
    let token = json!({ "name": "board", "role": "viewer", "expires_at": "2999-01-31T00:00:00Z" });
    operator.call(Method::POST, "/v1/tokens", Some(&token)).await?.expect(201)?;
    operator.call(Method::GET, "/v1/rooms/nowhere", None).await?.expect(404)?;
    // Nobody listens there, either.
    let webhook = json!({ "url": "https://127.0.0.1:9/" });
    operator.call(Method::PUT, "/v1/webhooks/ops", Some(&webhook)).await?.expect(201)?;
    Ok(deployment)
}

/// What all instances of a service tell.
async fn told_by(deployment: &Deployment, service: Service, instances: usize) -> Result<Families> {
    let mut all = Families::new();
    for index in 0..instances {
        let text = deployment.admin(service, index, "/metrics").await?.expect(200)?.text;
        for (name, family) in told(&text)? {
            all.entry(name).or_insert_with(|| family.clone()).labels.extend(family.labels);
        }
    }
    Ok(all)
}

fn expect_same(documented: &Families, told: &Families, service: &str) -> Result<()> {
    for name in documented.keys().chain(told.keys()) {
        let (page, answer) = (documented.get(name), told.get(name));
        ensure!(page == answer, "{service}: {name}: docs/metrics.md {page:?}, /metrics {answer:?}");
    }
    Ok(())
}

/// The controllers that tell of this room.
async fn who_tell_of(deployment: &Deployment, room: &str) -> Result<Vec<usize>> {
    let series = format!("vestibule_room_waiting{{room=\"{room}\"}} ");
    let mut telling = Vec::new();
    for index in 0..CONTROLLERS {
        if deployment.admin(Service::Controller, index, "/metrics").await?.text.contains(&series) {
            telling.push(index);
        }
    }
    Ok(telling)
}

/// The queries of the board, for all rooms.
fn queries() -> Result<BTreeSet<String>> {
    let board: Value = serde_json::from_str(&file("deploy/grafana/dashboards/vestibule.json")?)?;
    let panels = board["panels"].as_array().context("no panels")?;
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let annotations = board["annotations"]["list"].as_array().into_iter().flatten();
    let queries = targets.chain(annotations).filter_map(|target| target["expr"].as_str());
    Ok(queries.map(|query| query.replace("$room", ".*")).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_told_is_what_is_documented_and_the_board_and_the_rules_work_on_it() -> Result<()> {
    let mut deployment = busy().await?;
    let page = file("docs/metrics.md")?;
    for (service, name, instances) in [
        (Service::Admission, "admission", ADMISSIONS),
        (Service::Controller, "controller", CONTROLLERS),
    ] {
        eventually(SOON, "what is documented", || async {
            let told = told_by(&deployment, service, instances).await?;
            expect_same(&documented(&page, name)?, &told, name)
        })
        .await?;
    }
    for room in ["sale", "guarded"] {
        eventually(SOON, "one controller that tells of a room", || async {
            let telling = who_tell_of(&deployment, room).await?;
            ensure!(telling.len() == 1, "{room}: {telling:?}");
            Ok(())
        })
        .await?;
    }
    if !Prometheus::is_left_out() {
        scraped(&deployment).await?;
    }
    deployment.redis_mut().kill().await?;
    for service in [Service::Admission, Service::Controller] {
        eventually(SOON, "that Redis is away", || async {
            let metrics = deployment.admin(service, 0, "/metrics").await?.expect(200)?.text;
            ensure!(metrics.contains("vestibule_redis_answers 0\n"), "{metrics}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

async fn scraped(deployment: &Deployment) -> Result<()> {
    let admission = (0..ADMISSIONS)
        .map(|index| ("admission", deployment.admin_address(Service::Admission, index).to_owned()));
    let controllers = (0..CONTROLLERS).map(|index| {
        ("controller", deployment.admin_address(Service::Controller, index).to_owned())
    });
    let targets: Vec<_> = admission.chain(controllers).collect();
    let prometheus = Prometheus::start(&targets).await?;
    for query in queries()? {
        eventually(SOON, "an answer", || async {
            let series = prometheus.query(&query).await?;
            // Of rooms that were restored there is none, and should be none.
            ensure!(!series.is_empty() || query.ends_with("> 0"), "no series: {query}");
            Ok(())
        })
        .await?;
    }
    eventually(SOON, "alarms", || async {
        let rules = prometheus.rules().await?;
        let sick: Vec<_> = rules.iter().filter(|rule| rule["health"] != "ok").collect();
        ensure!(!rules.is_empty() && sick.is_empty(), "{sick:?}");
        let raised = rules.iter().filter(|rule| rule["state"] != "inactive");
        let raised: BTreeSet<_> = raised.filter_map(|rule| rule["name"].as_str()).collect();
        // People wait, and a test's Redis keeps nothing on a disk.
        let expected = ["VestibuleQueueingBegan", "VestibuleRedisNotPersistent"];
        ensure!(raised.iter().eq(expected.iter()), "{raised:?}");
        Ok(())
    })
    .await
}
