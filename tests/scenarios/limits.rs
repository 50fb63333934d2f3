//! What one network may have of a room: newcomers in a minute, places in line, seats; across instances, whatever calls it
//! makes. And that the AWS-style calls are there only where an operator wants them.

use std::time::Duration;

use anyhow::{Result, ensure};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Reply, Service, Visitor};

/// How soon news reach everybody, and a seat whoever is next.
const MOMENT: Duration = Duration::from_secs(15);
/// Newcomers of any network in a minute, if nobody says otherwise.
const JOINS_BY_DEFAULT: usize = 1_000;

fn at(deployment: &Deployment, address: String) -> Visitor {
    deployment.visitor("sale").from(address)
}

/// So many join at the same time, each from the address that `address` says.
async fn join_together(
    deployment: &Deployment,
    count: usize,
    address: impl Fn(usize) -> String,
) -> Result<Vec<Reply>> {
    let joins = (0..count).map(|nth| {
        let mut visitor = at(deployment, address(nth));
        async move { visitor.join().await }
    });
    let replies: Vec<Result<Reply>> = stream::iter(joins).buffer_unordered(40).collect().await;
    replies.into_iter().collect()
}

fn with_status(replies: &[Reply], status: u16) -> usize {
    replies.iter().filter(|reply| reply.status == status).count()
}

async fn create(deployment: &Deployment, settings: Value) -> Result<()> {
    deployment.create_room("sale", &settings).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_has_no_more_newcomers_than_it_may_and_others_have_theirs() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let limits = json!({ "total_active_users": 5, "joins_per_network_per_minute": 30 });
    create(&deployment, limits).await?;
    let (hoarders, others) = tokio::join!(
        join_together(&deployment, 120, |nth| format!("203.0.113.{nth}")),
        join_together(&deployment, 60, |nth| format!("198.51.{nth}.7")),
    );
    let (hoarders, others) = (hoarders?, others?);
    assert_eq!((with_status(&hoarders, 200), with_status(&hoarders, 429)), (30, 90));
    assert_eq!(with_status(&others, 200), 60);
    let refused = hoarders.iter().find(|reply| reply.status == 429).expect("90 were");
    assert_eq!(refused.body["type"], "urn:vestibule:problem:network-limit");
    assert_eq!(refused.body["detail"], "joins_per_network_per_minute");
    let wait: u32 = refused.header("retry-after").parse()?;
    ensure!((1..=70).contains(&wait), "{wait}");

    let status = deployment.operator().status("sale").await?;
    assert_eq!(status.number("queue_counter")?, 90, "nobody who is turned away has a number");
    let mut counted = 0;
    for index in 0..2 {
        let metrics = deployment.admin(Service::Admission, index, "/metrics").await?.text;
        let name = r#"vestibule_network_limits_reached_total{limit="joins_per_network_per_minute",mode="enforce"} "#;
        counted += metrics
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.parse::<u32>().ok())
            .sum::<u32>();
        ensure!(!metrics.contains("203.0.113"), "{metrics}");
    }
    assert_eq!(counted, 90);
    ensure!(!deployment.logs().contains("203.0.113."), "addresses are not written down");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_takes_no_more_seats_than_it_may_by_either_kind_of_call() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let limits = json!({ "total_active_users": 40, "seats_per_network": 10 });
    create(&deployment, limits).await?;
    let replies = join_together(&deployment, 60, |nth| format!("203.0.113.{nth}")).await?;
    let admitted = |replies: &[Reply]| {
        replies.iter().filter(|reply| reply.body["status"] == "admitted").count()
    };
    assert_eq!((with_status(&replies, 200), admitted(&replies)), (60, 10));
    let aws = deployment.aws("sale");
    let mut tokens = 0;
    for _ in 0..20 {
        let reply = aws.generate_token(&aws.assign().await?).await?;
        ensure!(matches!(reply.status, 200 | 202 | 429), "{}", reply.text);
        tokens += u32::from(reply.status == 200);
    }
    ensure!(tokens <= 10, "{tokens} of one network");
    // Those who have no seat stop nobody.
    for nth in 0..15 {
        let mut other = at(&deployment, format!("198.51.{nth}.7"));
        other.join().await?.expect(200)?;
        other.claims(MOMENT).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_may_not_sit_is_told_so_and_keeps_its_place() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create(&deployment, json!({ "total_active_users": 10, "seats_per_network": 1 })).await?;
    let mut first = at(&deployment, "2001:db8:0:100::1".into());
    let mut second = at(&deployment, "2001:db8:0:1ff::2".into());
    assert_eq!(first.join().await?.text_of("status")?, "admitted");
    let joined = second.join().await?.expect(200)?;
    ensure!(joined.text_of("status")? != "admitted", "{}", joined.text);
    second.sees("your_turn", MOMENT).await?;
    let refused = second.claim().await?.expect(429)?;
    assert_eq!(refused.body["detail"], "seats_per_network");
    assert_eq!(refused.header("retry-after"), "10");
    first.leave().await?.expect(200)?;
    let entered = second.claims(MOMENT).await?;
    assert_eq!(entered.number("queue_number")?, joined.number("queue_number")?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn places_are_counted_until_they_are_given_back() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create(&deployment, json!({ "total_active_users": 0, "places_per_network": 3 })).await?;
    let mut visitors: Vec<_> =
        (1..=4).map(|nth| at(&deployment, format!("203.0.113.{nth}"))).collect();
    for visitor in &mut visitors[..3] {
        visitor.join().await?.expect(200)?;
    }
    let refused = visitors[3].join().await?.expect(429)?;
    assert_eq!(refused.body["detail"], "places_per_network");
    // Whoever has a place may ask as often as it likes.
    visitors[0].join().await?.expect(200)?;
    visitors[0].leave().await?.expect(200)?;
    visitors[3].join().await?.expect(200)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_defaults_hold_for_networks_and_not_for_private_addresses() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create(&deployment, json!({ "total_active_users": 0 })).await?;
    let many = JOINS_BY_DEFAULT + 100;
    let here = join_together(&deployment, many, |nth| format!("203.0.113.{}", nth % 256)).await?;
    assert_eq!(with_status(&here, 200), JOINS_BY_DEFAULT);
    let private = join_together(&deployment, many, |_| "10.1.2.3".into()).await?;
    assert_eq!(with_status(&private, 200), many);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_only_counted_stops_nobody() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let limits = json!({
        "total_active_users": 50, "joins_per_network_per_minute": 5, "seats_per_network": 2,
        "network_limit_mode": "log",
    });
    create(&deployment, limits).await?;
    let replies = join_together(&deployment, 20, |nth| format!("203.0.113.{nth}")).await?;
    ensure!(replies.iter().all(|reply| reply.body["status"] == "admitted"));
    let metrics = deployment.admin(Service::Admission, 0, "/metrics").await?.text;
    ensure!(
        metrics.contains(r#"{limit="joins_per_network_per_minute",mode="log"} 15"#),
        "{metrics}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateways_visitors_are_limited_by_their_own_addresses() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let settings = json!({
        "total_active_users": 5, "joins_per_network_per_minute": 1, "routes": [{ "host": "shop.example" }],
    });
    create(&deployment, settings).await?;
    let visitor = |address: &str| {
        deployment.site_visitor("shop.example").with_header("x-forwarded-for", address)
    };
    visitor("192.0.2.1").finds_a_room("/", MOMENT).await?;
    let inside = visitor("203.0.113.1").get("/").await?;
    assert_eq!(inside.status, 200, "{}", inside.text);
    let turned_away = visitor("203.0.113.2").get("/").await?;
    assert_eq!(turned_away.header("vestibule-decision"), "busy", "{turned_away:?}");
    ensure!(turned_away.header("retry-after").parse::<u32>()? > 0, "{turned_away:?}");
    let app = visitor("203.0.113.2").with_header("accept", "application/json").get("/").await?;
    assert_eq!(app.status, 429, "{}", app.text);
    assert_eq!(app.body["type"], "urn:vestibule:problem:network-limit");
    assert_eq!(visitor("198.51.100.1").get("/").await?.status, 200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aws_style_calls_are_there_only_where_an_operator_wants_them() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let operator = deployment.operator();
    operator.put_room("plain", &json!({ "total_active_users": 5 })).await?.expect(201)?;
    create(&deployment, json!({ "total_active_users": 5 })).await?;
    let (aws, here) = (deployment.aws("plain"), deployment.aws("sale"));
    for reply in [
        aws.post("/assign_queue_num", &json!({ "event_id": "plain" })).await?,
        aws.event_get("/serving_num").await?,
        aws.generate_token(&here.assign().await?).await?,
    ] {
        assert_eq!(reply.status, 404, "{}", reply.text);
        assert_eq!(reply.body["type"], "urn:vestibule:problem:aws-style-api-off");
        ensure!(reply.text.contains("aws_style_api"), "{}", reply.text);
    }
    // The id of a visitor's place is no way to a session that lasts for an hour.
    let mut visitor = deployment.visitor("sale");
    let request_id = visitor.join().await?.expect(200)?.text_of("request_id")?;
    let refused = here.generate_token(&request_id).await?;
    assert_eq!((refused.status, refused.body["error"].as_str()), (400, Some("Invalid request ID")));
    here.generate_token(&here.assign().await?).await?.expect(200)?;
    Ok(())
}
