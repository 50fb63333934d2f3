//! Bad input: a clear 4xx with the field and the reason, and nothing stored.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use vestibule_tests::{Deployment, Reply, eventually};

use crate::{
    crowd::{self, Guest},
    rooms::expect_problem,
};

/// Longer than an instance is late on any machine that serves.
const SOON: Duration = Duration::from_secs(10);
const LARGE: usize = 1024 * 1024;

/// Everything that Redis holds, in the order of the keys; without what the services themselves
/// write all the time, and without what is called after the time at which those who wait were seen.
async fn stored(deployment: &Deployment) -> Result<Vec<String>> {
    let mut connection = deployment.redis().connection().await?;
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await?;
    let busy = |key: &String| {
        [":line", ":watermarks", ":lease", ":traffic", ":counts", ":presence", ":grants"]
            .iter()
            .any(|part| key.ends_with(part))
            || [":history:", ":minutes:", ":ledger:", ":there:"]
                .iter()
                .any(|part| key.contains(part))
    };
    let mut keys: Vec<_> = keys.into_iter().filter(|key| !busy(key)).collect();
    keys.sort();
    Ok(keys)
}

/// What the line itself counts.
async fn counters(deployment: &Deployment, room: &str) -> Result<Vec<Option<String>>> {
    let mut connection = deployment.redis().connection().await?;
    let mut command = redis::cmd("HMGET");
    command.arg(format!("vestibule:room:{{{room}}}:line"));
    command.arg(&["queue_counter", "serving_counter", "admitted", "skipped", "generation"]);
    Ok(command.query_async(&mut connection).await?)
}

async fn deployment() -> Result<Deployment> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    Ok(deployment)
}

fn admission(deployment: &Deployment, method: Method, path: &str) -> Result<RequestBuilder> {
    let fleet = deployment.admissions();
    Ok(fleet.http().request(method, fleet.at(path)?))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_are_no_json_or_the_wrong_json() -> Result<()> {
    let deployment = deployment().await?;
    let before = (stored(&deployment).await?, counters(&deployment, "sale").await?);
    let bodies: [&[u8]; 8] = [
        b"",
        b"{",
        b"nonsense",
        b"[]",
        b"\"sale\"",
        b"{\"event_id\": {\"$ne\": 1}}",
        b"{\"event_id\": \"\xff\xfe\"}",
        b"null",
    ];
    for body in bodies {
        for path in ["/assign_queue_num", "/generate_token"] {
            let request = admission(&deployment, Method::POST, path)?.body(body.to_vec());
            let reply = Reply::of(request).await?;
            let told = format!("{path} {body:?}: {} {}", reply.status, reply.text);
            ensure!(reply.status == 400 && reply.body["message"].is_string(), "{told}");
        }
        let operator = deployment.operator();
        let reply = operator.call_raw(Method::PUT, "/v1/rooms/new", body.to_vec()).await?;
        expect_problem(&reply, 400, "")?;
        let reply = operator.call_raw(Method::PATCH, "/v1/rooms/sale", body.to_vec()).await?;
        expect_problem(&reply, 400, "")?;
    }
    let deep = format!("{{\"event_id\":{}1{}}}", "[".repeat(9_000), "]".repeat(9_000));
    let request = admission(&deployment, Method::POST, "/assign_queue_num")?.body(deep);
    Reply::of(request).await?.expect(400)?;
    assert_eq!((stored(&deployment).await?, counters(&deployment, "sale").await?), before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_and_addresses_that_are_too_large() -> Result<()> {
    let deployment = deployment().await?;
    let before = (stored(&deployment).await?, counters(&deployment, "sale").await?);
    let large = json!({ "event_id": "sale", "more": "x".repeat(LARGE) });
    for path in ["/assign_queue_num", "/generate_token"] {
        let request = admission(&deployment, Method::POST, path)?.json(&large);
        Reply::of(request).await?.expect(413)?;
    }
    expect_problem(&deployment.operator().put_room("new", &large).await?, 413, "")?;
    let path = format!("/queue_num?event_id=sale&request_id={}", "x".repeat(4_000));
    Reply::of(admission(&deployment, Method::GET, &path)?).await?.expect(400)?;
    let ticket = "x".repeat(8_000);
    let reply = deployment.visitor("sale").with_ticket(ticket).status().await?;
    ensure!((400..500).contains(&reply.status), "{} {}", reply.status, reply.text);
    assert_eq!((stored(&deployment).await?, counters(&deployment, "sale").await?), before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tickets_that_are_forged_truncated_or_foreign() -> Result<()> {
    let deployment = deployment().await?;
    deployment.create_room("other", &json!({})).await?;
    let guest = Guest::join(deployment.visitor("sale")).await?;
    let foreign = Guest::join(deployment.visitor("other")).await?;
    let before = (stored(&deployment).await?, counters(&deployment, "sale").await?);
    for ticket in forged(guest.visitor.ticket()).chain([foreign.visitor.ticket().to_owned()]) {
        let visitor = || deployment.visitor("sale").with_ticket(ticket.clone());
        for (call, reply) in [
            ("status", visitor().status().await?),
            ("claim", visitor().claim().await?),
            ("leave", visitor().leave().await?),
        ] {
            let told = format!("{call} with {ticket}");
            expect_problem(&reply, 400, "").map_err(|error| error.context(told))?;
        }
    }
    assert_eq!((stored(&deployment).await?, counters(&deployment, "sale").await?), before);
    // The real one is as good as before.
    let reply = guest.visitor.clone().status().await?.expect(200)?;
    assert_eq!(reply.number("queue_number")?, guest.number);
    Ok(())
}

/// A ticket shortened, lengthened, and with every part of it altered.
fn forged(ticket: &str) -> impl Iterator<Item = String> {
    let (start, end) = (&ticket[..ticket.len() / 2], &ticket[..ticket.len() - 1]);
    let whole =
        [start.to_owned(), end.to_owned(), format!("{ticket}A"), "nonsense".to_owned(), "*".into()];
    let alter = |at: usize| {
        let other = if ticket.as_bytes()[at] == b'A' { "B" } else { "A" };
        format!("{}{other}{}", &ticket[..at], &ticket[at + 1..])
    };
    // Not the last character: some of its bits may mean nothing.
    let altered: Vec<_> = (0..ticket.len() - 1).step_by(7).map(alter).collect();
    whole.into_iter().chain(altered)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_ids_that_are_forged_or_foreign() -> Result<()> {
    let deployment = deployment().await?;
    deployment.create_room("other", &json!({})).await?;
    let (aws, other) = (deployment.aws("sale"), deployment.aws("other"));
    let (id, foreign) = (aws.assign().await?, other.assign().await?);
    aws.serve(1_000).await?;
    other.serve(1_000).await?;
    let before = (stored(&deployment).await?, counters(&deployment, "sale").await?);
    let altered = (0..36).filter(|at| id.as_bytes()[*at] != b'-').map(|at| {
        let digit = if id.as_bytes()[at] == b'0' { "1" } else { "0" };
        format!("{}{digit}{}", &id[..at], &id[at + 1..])
    });
    for forged in altered.chain([foreign, id.replace('-', "0")]) {
        let reply = aws.generate_token(&forged).await?;
        ensure!(reply.status == 400, "{forged}: {} {}", reply.status, reply.text);
        let reply = aws.request_get("/queue_num", &forged).await?;
        ensure!(matches!(reply.status, 202 | 400), "{forged}: {} {}", reply.status, reply.text);
        let reply = aws.update_session(&forged, 1).await?;
        ensure!(matches!(reply.status, 400 | 404), "{forged}: {} {}", reply.status, reply.text);
    }
    assert_eq!((stored(&deployment).await?, counters(&deployment, "sale").await?), before);
    aws.generate_token(&id).await?.expect(200)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_and_addresses_that_are_not_there() -> Result<()> {
    let deployment = deployment().await?;
    let guests = crowd::join(&deployment, "sale", 1).await?;
    let before = (stored(&deployment).await?, counters(&deployment, "sale").await?);
    for room in ["nothing", "a%2Fb", "..", "%00", &"x".repeat(65)] {
        // On a machine that is late, the room may be one that an instance has not heard of yet: 503.
        let replies = eventually(SOON, "the instances know that there is no such room", || async {
            let mut visitor = deployment.visitor(room).with_ticket(guests[0].visitor.ticket());
            let replies = [visitor.join().await?, visitor.status().await?, visitor.claim().await?];
            ensure!(replies.iter().all(|reply| reply.status != 503), "{room}: 503");
            Ok(replies)
        });
        for reply in replies.await? {
            let told = format!("{room}: {} {}", reply.status, reply.text);
            ensure!((400..405).contains(&reply.status), "{told}");
        }
    }
    for (method, path, status) in [
        (Method::GET, "/", 404),
        (Method::GET, "/v1/rooms/sale/nothing", 404),
        (Method::DELETE, "/v1/rooms/sale/join", 405),
        (Method::PUT, "/serving_num", 405),
    ] {
        let reply = Reply::of(admission(&deployment, method, path)?).await?;
        ensure!(reply.status == status, "{path}: {} {}", reply.status, reply.text);
    }
    assert_eq!((stored(&deployment).await?, counters(&deployment, "sale").await?), before);
    Ok(())
}
