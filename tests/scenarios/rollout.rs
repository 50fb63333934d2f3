//! A change of a room holds at every admission as soon as the call that made it is answered. These
//! tests never use `eventually` between a change and its effect.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::json;
use tokio::time::{Instant, sleep};
use vestibule_tests::{Deployment, Reply, Service, SiteVisitor};

const HOST: &str = "shop.example";
const BEHIND: &str = "vestibule-behind";

/// The decision of one admission after the other about `target`, as a preflight, which takes no
/// place in the line.
async fn decisions(deployment: &Deployment, target: &str) -> Result<Vec<String>> {
    let mut decisions = Vec::new();
    for fleet in deployment.admissions().each() {
        let mut probe = SiteVisitor::new(fleet, HOST)
            .with_header("origin", "https://x.example")
            .with_header("access-control-request-method", "GET");
        let reply = probe.asks("OPTIONS", target).await?;
        decisions.push(reply.header("vestibule-decision").to_owned());
    }
    Ok(decisions)
}

async fn holds(deployment: &Deployment, target: &str, expected: &str) -> Result<()> {
    let decisions = decisions(deployment, target).await?;
    ensure!(decisions == [expected, expected], "{target}: {decisions:?}, not {expected}");
    Ok(())
}

fn everywhere(reply: &Reply, status: u16) -> Result<()> {
    ensure!(reply.status == status, "{}: {}", reply.status, reply.text);
    ensure!(reply.headers.get(BEHIND).is_none(), "{:?}", reply.headers);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_routes_holds_everywhere_when_it_is_answered() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    let operator = deployment.operator();
    for index in 0..40 {
        let (room, path) = (format!("sale-{index}"), format!("/sale/{index}"));
        let routes = |path: &str| json!({ "routes": [{ "host": HOST, "path": path }] });
        everywhere(&operator.put_room(&room, &routes(&path)).await?, 201)?;
        holds(&deployment, &path, "preflight").await?;
        let moved = format!("/moved/{index}");
        everywhere(&operator.patch_room(&room, &routes(&moved)).await?, 200)?;
        holds(&deployment, &path, "uncovered").await?;
        holds(&deployment, &moved, "preflight").await?;
        if index % 2 == 0 {
            let url = format!("/v1/rooms/{room}?people=9");
            everywhere(&operator.call(Method::DELETE, &url, None).await?, 204)?;
            holds(&deployment, &moved, "uncovered").await?;
            // A new room of the same name begins with the versions that the old one had.
            everywhere(&operator.put_room(&room, &routes(&path)).await?, 201)?;
            holds(&deployment, &path, "preflight").await?;
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_that_does_not_follow_is_named_and_a_dead_one_is_not_waited_for() -> Result<()>
{
    let mut deployment = Deployment::builder().admissions(2).start().await?;
    let operator = deployment.operator();
    let room = |path: &str| json!({ "routes": [{ "host": HOST, "path": path }] });
    everywhere(&operator.put_room("sale", &room("/a")).await?, 201)?;
    deployment.process_mut(Service::Admission, 1).freeze()?;
    let start = Instant::now();
    let reply = operator.put_room("sale", &room("/b")).await?;
    let took = start.elapsed();
    ensure!(reply.status == 200, "{}: {}", reply.status, reply.text);
    ensure!(took < Duration::from_secs(5), "{took:?}");
    let said = reply.header(BEHIND);
    ensure!(said == "1 instance has not taken this in yet", "{said:?}");
    ensure!(
        deployment.logs().contains("admissions do not apply a change of the room yet"),
        "no warning"
    );
    // Not seen for some seconds: it counts as dead.
    let deadline = Instant::now() + Duration::from_secs(20);
    while operator.put_room("sale", &room("/c")).await?.headers.contains_key(BEHIND) {
        ensure!(Instant::now() < deadline, "waited for although it is not seen any more");
        sleep(Duration::from_millis(100)).await;
    }
    deployment.process_mut(Service::Admission, 1).thaw()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_admission_that_stops_is_not_waited_for() -> Result<()> {
    let mut deployment = Deployment::builder().admissions(1).start().await?;
    let operator = deployment.operator();
    let admission = deployment.process_mut(Service::Admission, 0);
    admission.terminate()?;
    admission.ended(Duration::from_secs(30)).await?;
    let start = Instant::now();
    everywhere(&operator.put_room("sale", &json!({})).await?, 201)?;
    ensure!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    Ok(())
}
