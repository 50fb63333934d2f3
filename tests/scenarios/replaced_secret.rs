//! The deployment's secret is replaced while people wait and while they are inside, as the README says: first every
//! instance learns the new one, then it is used, then the old one is forgotten. Nobody notices.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use redis::{AsyncCommands, aio::MultiplexedConnection};
use reqwest::Method;
use serde_json::json;
use vestibule_tests::{Answers, AwsSigner, Deployment, Receiver, Reply, Service, eventually};

use crate::{
    crowd::{self, Guest},
    webhooks::hook,
};

/// What is sealed under the secret, where Redis has it.
const SEALED: [&str; 3] = ["keys", "api-tokens", "webhooks"];
const SOON: Duration = Duration::from_secs(20);
const NEW: &str = "the-secret-that-comes-after-it-is-long-enough";

/// Restarts one instance after the other with these secrets, and asks everybody after each.
async fn roll_out(
    deployment: &mut Deployment,
    (secret, previous): (&str, &str),
    guests: &mut [Guest],
) -> Result<()> {
    deployment.set_secrets(secret, previous);
    for service in [Service::Controller, Service::Admission] {
        for index in 0..2 {
            deployment.replace(service, index, None).await?;
            for guest in &mut *guests {
                let reply = guest.visitor.status().await?.expect(200)?;
                assert_eq!(reply.number("queue_number")?, guest.number, "{}", reply.text);
                let is_inside = reply.text_of("status")? == "admitted";
                assert_eq!(is_inside, guest.number <= 2, "{}", reply.text);
            }
        }
    }
    Ok(())
}

/// A webhook and a key for signed requests, whose secrets Redis has sealed.
struct Sealed {
    receiver: Receiver,
    secret: String,
    signer: AwsSigner,
}

impl Sealed {
    async fn make(deployment: &Deployment) -> Result<Self> {
        let (operator, receiver) = (deployment.operator(), Receiver::start(Answers::Gladly).await?);
        let secret = hook(&operator, "ops", &receiver, json!({})).await?;
        let key = json!({ "role": "viewer" });
        let key = operator.call(Method::POST, "/v1/sigv4-keys", Some(&key)).await?.expect(201)?;
        let (id, of_key) = (key.text_of("access_key_id")?, key.text_of("secret_access_key")?);
        Ok(Self { receiver, secret, signer: AwsSigner::new(&id, &of_key) })
    }

    /// The webhook signs as it did, and whoever has the key is known.
    async fn check(&self, deployment: &Deployment) -> Result<()> {
        let test = "/v1/webhooks/ops/test";
        let tested = deployment.operator().call(Method::POST, test, None).await?.expect(200)?;
        ensure!(tested.body["told"] == true, "{}", tested.text);
        let last = self.receiver.attempts().pop().context("no attempt")?;
        ensure!(last.id == tested.text_of("id")?, "{last:?}");
        last.expect_signed_by(&self.secret)?;
        for controller in deployment.controllers().each() {
            let path = "/api/num_active_tokens?event_id=sale";
            Reply::of(self.signer.request(&controller, path, None)?).await?.expect(200)?;
        }
        Ok(())
    }
}

fn key(name: &str) -> String {
    format!("vestibule:{{deployment}}:{name}")
}

/// An event whose draw is announced.
async fn announce(deployment: &Deployment) -> Result<String> {
    let event = json!({
        "prequeue_start_time": "2100-01-01T09:00:00Z", "event_start_time": "2100-01-01T10:00:00Z",
        "event_end_time": "2100-01-01T12:00:00Z", "draw_at_event_start": true,
    });
    let path = "/v1/rooms/sale/events/e";
    let made = deployment.operator().call(Method::PUT, path, Some(&event)).await?.expect(201)?;
    made.text_of("commitment")
}

/// The announced seed is kept under the secret that stays, and nobody sees it.
async fn check_draw(
    deployment: &Deployment,
    redis: &mut MultiplexedConnection,
    commitment: &str,
) -> Result<()> {
    let config: String = redis.hget("vestibule:room:{sale}:settings", "config").await?;
    ensure!(config.contains("sealed_seed"), "{config}");
    let event = deployment.operator().call(Method::GET, "/v1/rooms/sale/events/e", None).await?;
    let event = event.expect(200)?;
    ensure!(event.text_of("commitment")? == commitment, "{}", event.text);
    ensure!(!event.text.contains("sealed_seed"), "{}", event.text);
    Ok(())
}

async fn texts(redis: &mut MultiplexedConnection) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for name in SEALED {
        texts.push(redis.get(key(name)).await?);
    }
    Ok(texts)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_loses_place_or_seat_while_the_secret_is_replaced() -> Result<()> {
    let mut deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    // What sessions are bound to is known by digests under the secret.
    let settings = json!({ "total_active_users": 2, "bind_sessions": "network" });
    deployment.create_room("sale", &settings).await?;
    let old = deployment.secrets()[0].to_owned();
    let mut guests = crowd::join(&deployment, "sale", 5).await?;
    let id = deployment.aws("sale").assign().await?;
    let gateway = deployment.verifier().await?;
    let sealed = Sealed::make(&deployment).await?;
    let commitment = announce(&deployment).await?;
    let mut redis = deployment.redis().connection().await?;
    let before = texts(&mut redis).await?;

    roll_out(&mut deployment, (&old, NEW), &mut guests).await?;
    assert_eq!(deployment.aws("sale").queue_number(&id).await?, 6);
    roll_out(&mut deployment, (NEW, &old), &mut guests).await?;
    assert_eq!(deployment.aws("sale").queue_number(&id).await?, 6, "it keeps its old id");
    sealed.check(&deployment).await?;
    eventually(SOON, "the seed of the draw to be sealed", || {
        let (deployment, mut redis, commitment) = (&deployment, redis.clone(), &commitment);
        async move { check_draw(deployment, &mut redis, commitment).await }
    })
    .await?;
    roll_out(&mut deployment, (NEW, ""), &mut guests).await?;
    sealed.check(&deployment).await?;
    check_draw(&deployment, &mut redis, &commitment).await?;

    // The keys are the same, so gateways need not fetch them anew; they are sealed under the new secret by now.
    let reply = guests[0].visitor.status().await?.expect(200)?;
    gateway.verify(&reply.text_of("access_token")?, "sale")?;
    let stranger = deployment.aws("sale").request_get("/queue_num", &id).await?;
    assert_eq!(stranger.text_of("error")?, "Request ID not found", "the old secret is forgotten");

    // Redis goes back to what was sealed under the old secret.
    let since = texts(&mut redis).await?;
    for (name, text) in SEALED.iter().zip(&before) {
        redis.set::<_, _, ()>(key(name), text).await?;
    }
    eventually(SOON, "what the services know", || {
        let mut redis = redis.clone();
        let (before, since) = (&before, &since);
        async move {
            let texts = texts(&mut redis).await?;
            ensure!(texts[0] == since[0], "the key ring");
            ensure!(texts[1..].iter().zip(&before[1..]).all(|(now, then)| now != then));
            Ok(())
        }
    })
    .await?;
    sealed.check(&deployment).await?;
    deployment.visitor("sale").join().await?.expect(200)?;
    let reply = guests[1].visitor.status().await?.expect(200)?;
    gateway.verify(&reply.text_of("access_token")?, "sale")?;
    ensure!(!deployment.logs().contains(NEW), "a secret is in the logs");
    Ok(())
}
