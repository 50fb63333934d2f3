//! The operators' API: rooms come, change and go, and every instance knows.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use redis::{aio::MultiplexedConnection, cmd};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Reply, eventually};

use crate::crowd;

const SOON: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_are_created_changed_listed_and_deleted() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    let operator = deployment.operator();
    deployment.create_room("sale", &json!({ "total_active_users": 5 })).await?;
    let get = || operator.call(Method::GET, "/v1/rooms/sale", None);
    let room = get().await?.expect(200)?;
    for (field, value) in [
        ("queueing_method", json!("fifo")),
        ("total_active_users", json!(5)),
        ("new_users_per_minute", json!(null)),
        ("session_duration_seconds", json!(300)),
        ("token_validity_seconds", json!(3600)),
        ("position_expiry_seconds", json!(900)),
        ("presence_grace_seconds", json!(300)),
        ("disable_session_renewal", json!(false)),
        ("json_response_enabled", json!(false)),
        ("queue_all", json!(false)),
        ("suspended", json!(false)),
    ] {
        assert_eq!(room.body[field], value, "{field}");
    }
    let change = json!({ "new_users_per_minute": 4, "position_expiry_seconds": null });
    operator.patch_room("sale", &change).await?.expect(200)?;
    eventually(SOON, "the change at every controller", || async {
        let room = get().await?.expect(200)?;
        ensure!(room.body["new_users_per_minute"] == 4, "{}", room.text);
        ensure!(room.body["position_expiry_seconds"].is_null(), "{}", room.text);
        ensure!(room.body["total_active_users"] == 5, "a change took what it did not name");
        Ok(())
    })
    .await?;
    deployment.create_room("other", &json!({})).await?;
    let list = operator.call(Method::GET, "/v1/rooms", None).await?.expect(200)?;
    ensure!(list.text.contains("\"sale\"") && list.text.contains("\"other\""), "{}", list.text);
    let deleted = operator.call(Method::DELETE, "/v1/rooms/sale", None).await?;
    ensure!(matches!(deleted.status, 200 | 204), "{} {}", deleted.status, deleted.text);
    eventually(SOON, "that the room is gone everywhere", || async {
        get().await?.expect(404)?;
        for admission in deployment.admissions().each() {
            deployment.visitor("sale").at(admission).join().await?.expect(404)?;
        }
        Ok(())
    })
    .await?;
    deployment.visitor("other").join().await?.expect(200)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_room_knows_no_earlier_ticket() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let guests = crowd::join(&deployment, "sale", 5).await?;
    let reset = deployment.operator().call(Method::POST, "/v1/rooms/sale/reset", None).await?;
    ensure!((200..300).contains(&reset.status), "{} {}", reset.status, reset.text);
    eventually(SOON, "that the old tickets are worth nothing anywhere", || async {
        for admission in deployment.admissions().each() {
            let reply = guests[4].visitor.clone().at(admission).claim().await?;
            ensure!(!reply.says("waiting") && !reply.says("admitted"), "{}", reply.text);
        }
        Ok(())
    })
    .await?;
    let reply = deployment.visitor("sale").join().await?.expect(200)?;
    assert_eq!(reply.number("queue_number")?, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_that_make_no_sense_are_refused_by_name() -> Result<()> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    let operator = deployment.operator();
    for (field, value) in [
        ("total_active_users", json!(-1)),
        ("total_active_users", json!("many")),
        ("new_users_per_minute", json!(1.5)),
        ("session_duration_seconds", json!(0)),
        ("token_validity_seconds", json!(null)),
        ("position_expiry_seconds", json!(9_999_999)),
        ("presence_grace_seconds", json!(0)),
        ("disable_session_renewal", json!("yes")),
        ("json_response_enabled", json!(null)),
        ("queueing_method", json!("lifo")),
        ("queue_all", json!("yes")),
        ("total_users", json!(5)),
    ] {
        let refused = operator.put_room("sale", &json!({ field: value })).await?;
        expect_problem(&refused, 400, field)?;
    }
    let fast = json!({ "total_active_users": 5, "new_users_per_minute": 6 });
    expect_problem(&operator.put_room("sale", &fast).await?, 400, "new_users_per_minute")?;
    for id in ["a%20b", "%C3%A9", &"x".repeat(65), "a.b"] {
        let refused = operator.put_room(id, &json!({})).await?;
        ensure!((400..405).contains(&refused.status), "{id}: {}", refused.status);
    }
    operator.call(Method::GET, "/v1/rooms/sale", None).await?.expect(404)?;
    let anonymous = operator.with_token("wrong").put_room("sale", &json!({})).await?;
    expect_problem(&anonymous, 401, "")
}

/// A problem document that names the field and says why.
pub(crate) fn expect_problem(reply: &Reply, status: u16, names: &str) -> Result<()> {
    let told = format!("{} {}", reply.status, reply.text);
    ensure!(reply.status == status, "expected {status} for {names}, got {told}");
    ensure!(reply.header("content-type") == "application/problem+json", "{:?}", reply.headers);
    let document: &Value = &reply.body;
    ensure!(document["status"] == status, "{told}");
    let title = document["title"].as_str().context("a title")?;
    ensure!(document["type"].is_string() && !title.is_empty(), "{told}");
    ensure!(reply.text.contains(names), "`{names}` is not named in {told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn history_tells_each_minute_and_region() -> Result<()> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    crowd::join(&deployment, "sale", 7).await?;
    eventually(SOON, "the minute that runs", || async {
        let path = "/v1/rooms/sale/history";
        let reply = deployment.operator().call(Method::GET, path, None).await?.expect(200)?;
        let minutes = reply.body["minutes"].as_array().context("minutes")?;
        let arrivals = minutes.iter().filter_map(|minute| minute["arrivals"]["local"].as_u64());
        ensure!(arrivals.sum::<u64>() == 7, "{}", reply.text);
        ensure!(minutes.iter().all(|minute| minute["minute"].as_u64() > Some(0)), "{}", reply.text);
        Ok(())
    })
    .await?;
    for (query, names) in [("from=nonsense", "from"), ("fron=5", "fron")] {
        let path = format!("/v1/rooms/sale/history?{query}");
        let reply = deployment.operator().call(Method::GET, &path, None).await?;
        expect_problem(&reply, 400, names)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn history_tells_levels_leavings_and_waits_by_steps_and_as_a_table() -> Result<()> {
    let deployment = Deployment::builder().regions(&["eu", "us"]).controllers(2).start().await?;
    let settings =
        json!({ "total_active_users": 1, "places_per_network": 2, "queueing_method": "fifo" });
    deployment.create_room("sale", &settings).await?;
    let mut inside = deployment.visitor("sale");
    inside.join().await?.expect(200)?;
    for _ in 0..2 {
        deployment.visitor("sale").join().await?.expect(200)?;
    }
    deployment.visitor("sale").join().await?.expect(429)?;
    let operator = deployment.operator();
    let told = async |query: &str| {
        let path = format!("/v1/rooms/sale/history?{query}");
        operator.call(Method::GET, &path, None).await?.expect(200)
    };
    // Levels are looked at once a second: who leaves before was never seen inside.
    eventually(SOON, "somebody seen inside", || async {
        let reply = told("step=1d").await?;
        ensure!(reply.body["minutes"][0]["inside"] == 1, "{}", reply.text);
        Ok(())
    })
    .await?;
    inside.leave().await?.expect(200)?;
    eventually(SOON, "all that has happened", || async {
        let reply = told("step=1d").await?;
        let [day] = &reply.body["minutes"].as_array().context("minutes")?[..] else {
            anyhow::bail!("not one day, or two at midnight: {}", reply.text);
        };
        ensure!(day["seconds"] == 86_400 && reply.body["step"] == "1d", "{day}");
        ensure!(day["waiting"] == 2 && day["inside"] == 1, "{day}");
        ensure!(day["left"] == json!({ "completed": 1 }), "{day}");
        ensure!(day["refused"] == json!({ "network_places": 1 }), "{day}");
        let sum = |name: &str| -> u64 {
            day[name].as_array().into_iter().flatten().filter_map(Value::as_u64).sum()
        };
        ensure!(sum("told") == 3 && sum("waited") == 1 && day["waited"][0] == 1, "{day}");
        ensure!(day["regions"].as_object().is_some_and(|all| !all.is_empty()), "{day}");
        Ok(())
    })
    .await?;
    let table = told("step=1h&format=csv").await?;
    ensure!(table.header("content-type").starts_with("text/csv"), "{:?}", table.headers);
    ensure!(table.text.starts_with("time,seconds,region,arrivals,admitted,"), "{}", table.text);
    // Which of the two regions they came to is chance; each has a line of its own.
    let day = told("step=1d").await?;
    let regions = day.body["minutes"][0]["regions"].as_object().context("regions")?;
    let has_line = |name: &String| table.text.contains(&format!(",3600,{name},"));
    ensure!(!regions.is_empty() && regions.keys().all(has_line), "{}", table.text);
    ensure!(table.text.lines().count() >= 2 + regions.len(), "{}", table.text);
    let bad = operator.call(Method::GET, "/v1/rooms/sale/history?step=2m", None).await?;
    expect_problem(&bad, 400, "step")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_services_describe_themselves() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    for (fleet, call) in [
        (deployment.admissions(), "/v1/rooms/{room}/join"),
        (deployment.controllers(), "/v1/rooms/{room}/status"),
    ] {
        let document =
            Reply::of(fleet.http().get(fleet.at("/openapi.json")?)).await?.expect(200)?;
        ensure!(document.body["paths"][call].is_object(), "{call} is not described");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_that_the_rooms_server_has_lost_is_finished() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let operator = deployment.operator();
    deployment.create_room("sale", &json!({ "total_active_users": 5 })).await?;
    deployment.visitor("sale").join().await?.expect(200)?;
    let mut redis = deployment.redis().connection().await?;
    let mut kept = Vec::new();
    for key in keys_of_the_room(&mut redis).await? {
        let copy: Vec<u8> = cmd("DUMP").arg(&key).query_async(&mut redis).await?;
        kept.push((key, copy));
    }
    operator.call(Method::DELETE, "/v1/rooms/sale?people=1", None).await?.expect(204)?;
    for (key, copy) in kept {
        let mut put_back = cmd("RESTORE");
        put_back.arg(&key).arg(0).arg(copy).arg("REPLACE");
        put_back.query_async::<()>(&mut redis).await?;
    }
    eventually(SOON, "the room to be gone", || async {
        let left = keys_of_the_room(&mut redis.clone()).await?;
        ensure!(left.is_empty(), "{left:?}");
        Ok(())
    })
    .await?;
    deployment.create_room("sale", &json!({ "total_active_users": 7 })).await?;
    deployment.visitor("sale").join().await?.expect(200)?;
    Ok(())
}

/// Those that a deletion removes: what calls came to expires by itself.
async fn keys_of_the_room(redis: &mut MultiplexedConnection) -> Result<Vec<String>> {
    let mut keys: Vec<String> =
        cmd("KEYS").arg("vestibule:room:{sale}:*").query_async(redis).await?;
    keys.retain(|key| !key.contains("}:calls:"));
    Ok(keys)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_with_people_is_deleted_by_who_knows_how_many_they_are() -> Result<()> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    let operator = deployment.operator();
    let delete = async |people: &str| {
        let path = format!("/v1/rooms/sale{people}");
        operator.call(Method::DELETE, &path, None).await
    };
    let mut inside = deployment.visitor("sale");
    inside.join().await?.expect(200)?;
    deployment.visitor("sale").join().await?.expect(200)?;
    for too_few in ["", "?people=1"] {
        let refused = delete(too_few).await?;
        expect_problem(&refused, 409, "room-occupied")?;
        ensure!(refused.text_of("detail")?.contains("?people=2"), "{}", refused.text);
        let counts = ["waiting", "inside", "people"].map(|name| refused.number(name));
        ensure!(matches!(counts, [Ok(1), Ok(1), Ok(2)]), "{}", refused.text);
    }
    ensure!(inside.status().await?.says("admitted"), "nothing was changed");
    let audit = operator.call(Method::GET, "/v1/audit", None).await?.expect(200)?;
    ensure!(!audit.text.contains("delete_room"), "{}", audit.text);
    delete("?people=x").await?.expect(400)?;
    delete("?people=2").await?.expect(204)?;
    delete("").await?.expect(404)?;
    Ok(())
}

/// Who has looked before there was a room, and comes after it was made, changes the room that there is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_two_make_at_once_keeps_the_event_that_one_has_given_it() -> Result<()> {
    let deployment = Deployment::builder().admissions(0).controllers(2).start().await?;
    let operator = deployment.operator_at(0);
    let start = deployment.redis().now_seconds().await? + 3_600;
    let event = json!({ "event_start_time": start, "event_end_time": start + 600 });
    for round in 0..8 {
        let (operator, event) = (&operator, &event);
        // At one controller they would come one after the other.
        let make = async |users: u64| {
            let settings = json!({ "total_active_users": users });
            let controller = usize::from(users == 9);
            deployment.operator_at(controller).put_room(&format!("sale-{round}"), &settings).await
        };
        let (path, settings) = (format!("/v1/rooms/sale-{round}/events"), json!({}));
        let make_and_give = async {
            let answer = make(8).await?;
            let given = operator.call(Method::PUT, &format!("{path}/launch"), Some(event)).await?;
            given.expect(201)?;
            anyhow::Ok(answer)
        };
        // Another room keeps both waiting, so that both have looked.
        let name = format!("other-{round}");
        let waits = operator.put_room(&name, &settings);
        let (_, one, other) = tokio::try_join!(waits, make_and_give, make(9))?;
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        ensure!(statuses == [200, 201], "{statuses:?}");
        let told = operator.call(Method::GET, &path, None).await?.expect(200)?;
        ensure!(told.body["events"][0]["name"] == "launch", "round {round}: {}", told.text);
    }
    Ok(())
}

/// Programs make many calls at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_changes_at_once_are_made_one_after_the_other() -> Result<()> {
    let deployment = Deployment::builder().admissions(0).start().await?;
    let operator = deployment.operator();
    operator.put_room("sale", &json!({})).await?.expect(201)?;
    let start = deployment.redis().now_seconds().await? + 3_600;
    let all = (0..30).map(async |index| {
        let (from, route) =
            (start + 1_000 * index, json!([{ "host": format!("{index}.example") }]));
        let event = json!({ "event_start_time": from, "event_end_time": from + 600 });
        let token = json!({ "name": format!("ci-{index}"), "role": "viewer" });
        let path = format!("/v1/rooms/sale/events/e{index}");
        let put = operator.call(Method::PUT, &path, Some(&event));
        let make = operator.call(Method::POST, "/v1/tokens", Some(&token));
        let (name, settings) = (format!("room-{index}"), json!({ "routes": route }));
        let replies = tokio::try_join!(put, make, operator.put_room(&name, &settings))?;
        for reply in [replies.0, replies.1, replies.2] {
            reply.expect(201)?;
        }
        anyhow::Ok(())
    });
    futures_util::future::try_join_all(all).await?;
    let told = operator.call(Method::GET, "/v1/rooms/sale/events", None).await?.expect(200)?;
    let events = told.body["events"].as_array().map(Vec::len);
    ensure!(events == Some(30), "{}", told.text);
    Ok(())
}
