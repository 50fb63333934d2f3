//! What AWS-style clients call a room: any text, as its name in all of their calls and as the `aud` of their tokens; and the
//! prefix that the original's own address has.

use anyhow::{Result, ensure};
use reqwest::{Method, Url};
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Fleet, Operator, Reply, eventually};

use crate::rooms::expect_problem;

/// With all that a query, a header or a body might spoil.
const EVENT: &str = "Größter Sale & 50%+ <b>2026</b>/1?";
const SOON: std::time::Duration = std::time::Duration::from_secs(20);

/// `GET` about the event, and perhaps a request id.
async fn get(fleet: &Fleet, path: &str, event: &str, id: Option<&str>) -> Result<Reply> {
    let ids = id.map(|id| ("request_id", id));
    let query = std::iter::once(("event_id", event)).chain(ids);
    let url = Url::parse_with_params(&fleet.at(path)?, query)?;
    Reply::of(fleet.http().get(url)).await
}

async fn post(fleet: &Fleet, path: &str, body: &Value) -> Result<Reply> {
    Reply::of(fleet.http().post(fleet.at(path)?).json(body)).await
}

async fn private(operator: &Operator, path: &str, body: &Value) -> Result<Reply> {
    operator.call(Method::POST, path, Some(body)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_is_called_by_its_event_id_in_every_call_with_and_without_the_prefix() -> Result<()>
{
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("sale", &json!({ "aws_event_id": EVENT })).await?;
    let (operator, admissions) = (deployment.operator(), deployment.admissions());
    // The other controller hears of it within half a second.
    let increment = json!({ "event_id": EVENT, "increment_by": 0 });
    eventually(SOON, "the event id everywhere", || async {
        for index in 0..2 {
            let operator = deployment.operator_at(index);
            private(&operator, "/api/increment_serving_counter", &increment).await?.expect(200)?;
        }
        Ok(())
    })
    .await?;
    for prefix in ["", "/api"] {
        let at = |path: &str| format!("{prefix}{path}");
        let joined =
            post(admissions, &at("/assign_queue_num"), &json!({ "event_id": EVENT })).await?;
        let id = joined.expect(200)?.text_of("api_request_id")?;
        let number = get(admissions, &at("/queue_num"), EVENT, Some(&id)).await?.expect(200)?;
        assert_eq!(number.text_of("event_id")?, EVENT);
        let one = json!({ "event_id": EVENT, "increment_by": 1 });
        let served = private(&operator, &at("/increment_serving_counter"), &one).await?;
        let served = served.expect(200)?.signed("serving_num")?;
        eventually(SOON, "the counter everywhere", || async {
            for admissions in admissions.each() {
                let told = get(&admissions, &at("/serving_num"), EVENT, None).await?.expect(200)?;
                ensure!(told.text_of("serving_counter")? == served.to_string(), "{}", told.text);
            }
            Ok(())
        })
        .await?;
        get(admissions, &at("/waiting_num"), EVENT, None).await?.expect(200)?;
        get(admissions, &at("/queue_pos_expiry"), EVENT, Some(&id)).await?.expect(200)?;
        get(admissions, &at("/public_key"), EVENT, None).await?.expect(200)?;
        // The room's name goes on meaning it, and the token calls it by its event id all the same.
        let body = json!({ "event_id": "sale", "request_id": id });
        let tokens = post(admissions, &at("/generate_token"), &body).await?.expect(200)?;
        let token = tokens.text_of("access_token")?;
        deployment.verifier().await?.verify(&token, EVENT)?;
        let body = json!({ "event_id": EVENT, "request_id": id });
        let again = private(&operator, &at("/generate_token"), &body).await?.expect(200)?;
        assert_eq!(again.text_of("access_token")?, token);
        let shown = json!({ "access_token": token });
        post(admissions, "/v1/rooms/sale/redeem", &shown).await?.expect(200)?;
        let body = json!({ "event_id": EVENT, "request_id": id, "status": 1 });
        private(&operator, &at("/update_session"), &body).await?.expect(200)?;
        for list in ["/num_active_tokens", "/expired_tokens"] {
            let query = Url::parse_with_params("http://x", [("event_id", EVENT)])?;
            let list = format!("{}?{}", at(list), query.query().unwrap_or_default());
            operator.call(Method::GET, &list, None).await?.expect(200)?;
        }
    }
    let reset = json!({ "event_id": EVENT });
    private(&operator, "/api/reset_initial_state", &reset).await?.expect(200)?;
    assert_eq!(operator.status("sale").await?.signed("serving_counter")?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_id_is_one_rooms_alone_and_can_be_given_up() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let operator = deployment.operator();
    deployment.create_room("sale", &json!({ "aws_event_id": "Sample" })).await?;
    deployment.create_room("vip", &json!({})).await?;
    let before = operator.call(Method::GET, "/v1/rooms/vip", None).await?.expect(200)?.body;
    for (event_id, reason) in [
        ("Sample", "is the event id of the room `sale`"),
        ("sale", "is the name of the room `sale`"),
        ("", "1 to 256 characters"),
    ] {
        let settings = json!({ "aws_event_id": event_id });
        let refused = operator.patch_room("vip", &settings).await?;
        expect_problem(&refused, 400, reason)?;
        ensure!(refused.body["errors"][0]["field"] == "aws_event_id", "{}", refused.text);
    }
    let taken = operator.put_room("Sample", &json!({})).await?;
    expect_problem(&taken, 400, "is the `aws_event_id` of the room `sale`")?;
    let document =
        json!({ "rooms": { "one": { "aws_event_id": "x" }, "two": { "aws_event_id": "x" } } });
    let applied = operator.call(Method::PUT, "/v1/config", Some(&document)).await?;
    expect_problem(&applied, 400, "rooms.one.aws_event_id")?;
    let after = operator.call(Method::GET, "/v1/rooms/vip", None).await?.expect(200)?.body;
    assert_eq!(after, before, "nothing was changed");
    // Its own, again, is no clash; and once it is given up, another room may have it.
    operator.patch_room("sale", &json!({ "aws_event_id": "Sample" })).await?.expect(200)?;
    operator.patch_room("sale", &json!({ "aws_event_id": null })).await?.expect(200)?;
    let gone = deployment.aws("Sample").event_get("/serving_num").await?;
    ensure!(gone.status == 400 && gone.text.contains("Invalid event ID"), "{}", gone.text);
    operator.patch_room("vip", &json!({ "aws_event_id": "Sample" })).await?.expect(200)?;
    deployment.aws("Sample").event_get("/serving_num").await?.expect(200)?;
    Ok(())
}
