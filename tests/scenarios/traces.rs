//! Traces: who is recorded, what a span says, and that nobody waits for the collector.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};
use vestibule_tests::{Builder, Collector, Deployment, Exited, Service, TracedSpan, eventually};

const SOON: Duration = Duration::from_secs(20);
/// The span of a gateway that has called.
const CALLER: &str = "b7ad6b7169203331";
/// The address of a visitor, which the gateway tells.
const ADDRESS: &str = "203.0.113.77";
const INTERNAL: i32 = 1;
const SERVER: i32 = 2;
const CLIENT: i32 = 3;

/// A deployment whose traces go to `collector`, with this fraction of what nobody else decides about.
fn traced(collector: &Collector, fraction: &str) -> Builder {
    Deployment::builder()
        .environment("VESTIBULE_TRACES_ENDPOINT", &collector.url())
        .environment("VESTIBULE_TRACES_SAMPLED", fraction)
}

/// What a gateway says of the trace with this number, and the name of the trace.
fn parent(number: u8, flags: &str) -> (String, String) {
    let trace = format!("0af7651916cd43dd8448eb211c8031{number:02x}");
    (format!("00-{trace}-{CALLER}-{flags}"), trace)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateways_trace_goes_on_down_to_the_scripts_and_holds_nothing_secret() -> Result<()> {
    let collector = Collector::start().await?;
    let deployment = traced(&collector, "0")
        .environment("VESTIBULE_TRACES_HEADERS", "authorization=Bearer%20hunter2")
        .start()
        .await?;
    let settings =
        json!({ "total_active_users": 1, "routes": [{ "host": "shop.example", "path": "/" }] });
    deployment.create_room("sale", &settings).await?;
    let (join, trace) = parent(1, "01");
    let mut visitor = deployment.visitor("sale").from(ADDRESS).with_header("traceparent", join);
    let joined = visitor.join().await?.expect(200)?;
    let of_trace = |span: &TracedSpan| span.trace == trace;
    let script = collector.span(SOON, "EVALSHA join", of_trace).await?;
    let call = collector.span(SOON, "POST /v1/rooms/{room}/join", of_trace).await?;
    assert_eq!((&*call.parent, call.kind, &*call.service), (CALLER, SERVER, "vestibule-admission"));
    assert_eq!(call.says("vestibule.room"), "sale");
    assert_eq!(call.says("vestibule.status"), "admitted");
    assert_eq!(call.says("http.response.status_code"), "200");
    let flow = collector.span(SOON, "join", of_trace).await?;
    let batch = collector.span(SOON, "batch", of_trace).await?;
    assert_eq!((&flow.parent, flow.kind, &batch.parent), (&call.id, INTERNAL, &flow.id));
    assert_eq!((&*flow.links, batch.says("vestibule.batch.size")), (&[batch.id.clone()][..], "1"));
    assert_eq!((&script.parent, script.kind), (&batch.id, CLIENT));
    for (name, said) in [
        ("db.system.name", "redis"),
        ("db.operation.name", "EVALSHA"),
        ("db.stored_procedure.name", "join"),
        ("vestibule.room", "sale"),
    ] {
        assert_eq!(script.says(name), said, "{name}");
    }

    let (status, trace) = parent(2, "01");
    let mut visitor = deployment.visitor("sale").with_ticket(visitor.ticket());
    visitor = visitor.with_header("traceparent", status);
    visitor.status().await?.expect(200)?;
    let (authorize, authorized) = parent(3, "01");
    let mut guest = deployment.site_visitor("shop.example").at_address(ADDRESS);
    guest.finds_a_room("/private?card=4111", SOON).await?;
    guest = guest.with_header("traceparent", authorize);
    guest.get("/private?card=4111").await?.expect(503)?;
    let of = |trace: &str| {
        let trace = trace.to_owned();
        move |span: &TracedSpan| span.trace == trace
    };
    collector.span(SOON, "GET /v1/rooms/{room}/status", of(&trace)).await?;
    let asked = collector.span(SOON, "GET /authorize", of(&authorized)).await?;
    assert_eq!((asked.says("vestibule.decision"), asked.failed), ("wait", false));
    collector.span(SOON, "EVALSHA join", of(&authorized)).await?;

    let (_, unrecorded) = parent(4, "00");
    let quiet = deployment.visitor("sale").with_header("traceparent", parent(4, "00").0);
    quiet.clone().join().await?;
    deployment.visitor("sale").join().await?;
    visitor.leave().await?.expect(200)?;
    collector.span(SOON, "POST /v1/rooms/{room}/leave", of(&trace)).await?;
    ensure!(collector.spans().iter().all(|span| span.trace != unrecorded), "it was not to be");
    ensure!(collector.spans().iter().all(|span| span.trace.starts_with("0af76519")), "of nobody");

    let mut secret = deployment.secrets().map(str::to_owned).to_vec();
    secret.extend(["access_token", "request_id"].map(|name| joined.text_of(name).unwrap()));
    secret.extend([visitor.ticket().to_owned(), ADDRESS.to_owned(), "/private".to_owned()]);
    secret.extend(["4111".to_owned(), "hunter2".to_owned()]);
    for secret in secret {
        ensure!(!secret.is_empty() && !collector.was_sent(&secret), "{secret} was sent");
    }
    ensure!(collector.header("authorization").iter().all(|value| value == "Bearer hunter2"));
    ensure!(!deployment.logs().contains("hunter2"), "a secret header is logged");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_decide_nothing_and_ticks_are_traces_of_their_own() -> Result<()> {
    let collector = Collector::start().await?;
    let deployment = traced(&collector, "1")
        .environment("VESTIBULE_TRUSTED_PROXIES", "10.0.0.0/8")
        .environment("VESTIBULE_LOG_FORMAT", "json")
        .environment("OTEL_SERVICE_NAME", "shop-queue")
        .start()
        .await?;
    deployment.create_room("sale", &json!({ "total_active_users": 5 })).await?;
    let (sent, trace) = parent(1, "01");
    deployment.visitor("sale").with_header("traceparent", sent).join().await?.expect(200)?;
    let call = collector.span(SOON, "POST /v1/rooms/{room}/join", |_| true).await?;
    ensure!(call.trace != trace && call.parent.is_empty(), "a stranger was believed: {call:?}");
    assert_eq!(call.service, "shop-queue");
    let tick =
        collector.span(SOON, "tick", |span| span.says("vestibule.queue_counter") == "1").await?;
    assert_eq!((tick.says("vestibule.room"), &*tick.parent), ("sale", ""));
    assert_eq!(tick.says("vestibule.active_users"), "1");
    collector.span(SOON, "EVALSHA begin_tick", |span| span.parent == tick.id).await?;
    let put = collector.span(SOON, "PUT /v1/rooms/{room}", |_| true).await?;
    assert_eq!(put.says("vestibule.room"), "sale");
    collector.span(SOON, "EVALSHA put_config", |span| span.trace == put.trace).await?;
    let lines = logged(&deployment)?;
    let changed = lines.iter().find(|line| line["target"] == "audit" && line["room"] == "sale");
    let changed = changed.context("the change is not in the log")?;
    assert_eq!(changed["trace_id"], put.trace);
    ensure!(changed["span_id"] == put.id, "{changed}");
    let document = include_str!("../../docs/logs.md");
    for field in lines.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        ensure!(
            document.contains(&format!("`{field}`")),
            "docs/logs.md does not explain {field:?}"
        );
    }
    Ok(())
}

/// What the services have logged, as objects.
fn logged(deployment: &Deployment) -> Result<Vec<Value>> {
    let logs = deployment.logs();
    let objects = logs.lines().filter(|line| line.starts_with('{'));
    Ok(objects.map(serde_json::from_str).collect::<Result<_, _>>()?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_off_sends_nothing() -> Result<()> {
    let collector = Collector::start().await?;
    let mut deployment = Deployment::builder()
        .environment("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url())
        .environment("OTEL_TRACES_SAMPLER", "always_on")
        .environment("OTEL_SDK_DISABLED", "true")
        .start()
        .await?;
    deployment.create_room("sale", &json!({})).await?;
    let sent = parent(1, "01").0;
    deployment.visitor("sale").with_header("traceparent", sent).join().await?.expect(200)?;
    let metrics = deployment.admin(Service::Admission, 0, "/metrics").await?.text;
    ensure!(!metrics.contains("vestibule_traces"), "{metrics}");
    for service in [Service::Admission, Service::Controller] {
        deployment.process_mut(service, 0).terminate()?;
        assert_eq!(deployment.process_mut(service, 0).ended(SOON).await?, Exited::Code(0));
    }
    assert_eq!(collector.messages(), 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_hangs_keeps_nobody_waiting() -> Result<()> {
    let collector = Collector::start_hanging().await?;
    let mut deployment = Deployment::builder()
        .environment("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url())
        .environment("OTEL_TRACES_SAMPLER", "always_on")
        .environment("OTEL_EXPORTER_OTLP_TIMEOUT", "300")
        .environment("VESTIBULE_TRACES_PER_SECOND", "1")
        .start()
        .await?;
    deployment.create_room("sale", &json!({})).await?;
    for _ in 0..50 {
        deployment.visitor("sale").join().await?.expect(200)?;
    }
    eventually(SOON, "drops that are counted", || async {
        let metrics = deployment.admin(Service::Admission, 0, "/metrics").await?.text;
        let dropped = "vestibule_traces_spans_dropped_total{reason=\"collector\"}";
        ensure!(metrics.contains(dropped), "{metrics}");
        ensure!(metrics.contains("\nvestibule_traces_spans_sent_total 0\n"), "{metrics}");
        ensure!(!metrics.contains("\nvestibule_traces_left_out_total 0\n"), "{metrics}");
        Ok(())
    })
    .await?;
    deployment.visitor("sale").join().await?.expect(200)?;
    deployment.process_mut(Service::Admission, 0).terminate()?;
    let ended = deployment.process_mut(Service::Admission, 0).ended(SOON).await?;
    assert_eq!(ended, Exited::Code(0));
    let logs = deployment.logs();
    let said = logs.matches("traces cannot be sent").count();
    ensure!((1..=4).contains(&said), "said {said} times: {logs}");
    ensure!(!logs.contains("the grace is over"), "the stop waited: {logs}");
    Ok(())
}
