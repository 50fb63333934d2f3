//! Signing keys are replaced while tokens of the old ones are still out, and while gateways verify
//! tokens by themselves.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Aws, Deployment, Reply, Service, Verifier, eventually};

use crate::rooms::expect_problem;

const SOON: Duration = Duration::from_secs(40);
/// Where Redis has the key ring.
const RING: &str = "vestibule:{deployment}:keys";

/// A deployment whose room has `places` served, and their request ids.
async fn served(places: usize) -> Result<(Deployment, Vec<String>)> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let aws = deployment.aws("sale");
    let mut ids = Vec::new();
    for _ in 0..places {
        ids.push(aws.assign().await?);
    }
    aws.serve(i64::try_from(places)?).await?;
    Ok((deployment, ids))
}

async fn rotate(deployment: &Deployment, query: &str) -> Result<Reply> {
    // Its room has the AWS-style calls.
    let path = format!("/v1/keys/rotate?force=true{}", query.replacen('?', "&", 1));
    deployment.operator().call(Method::POST, &path, None).await
}

/// The token of a request id, and the key that signed it.
async fn token(aws: &Aws, id: &str) -> Result<(String, Option<String>)> {
    let token = aws.generate_token(id).await?.expect(200)?.text_of("access_token")?;
    let kid = jsonwebtoken::decode_header(&token)?.kid;
    Ok((token, kid))
}

/// What each instance publishes: all keys, and the one that signs.
async fn published(deployment: &Deployment) -> Result<Vec<(Vec<String>, String)>> {
    let mut published = Vec::new();
    for only in deployment.admissions().each() {
        let keys = Verifier::fetch(&only).await?.key_ids();
        let reply = Reply::of(only.http().get(only.at("/public_key?event_id=sale")?)).await?;
        published.push((keys, reply.expect(200)?.text_of("kid")?));
    }
    Ok(published)
}

/// Waits until every instance publishes `keys` keys and signs with `kid`.
async fn signs_everywhere(deployment: &Deployment, keys: usize, kid: &str) -> Result<()> {
    eventually(SOON, "the keys at every instance", || async {
        for (all, current) in published(deployment).await? {
            ensure!(all.len() == keys && current == kid, "{all:?}, of which {current} signs");
        }
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_key_is_published_before_it_signs_and_the_old_one_after() -> Result<()> {
    let (mut deployment, ids) = served(3).await?;
    let aws = deployment.aws("sale");
    let (old_token, old) = token(&aws, &ids[0]).await?;
    let old = old.unwrap_or_default();
    let begun = deployment.redis().now_seconds().await?;
    let rotated = rotate(&deployment, "?signs_in_seconds=15").await?.expect(200)?;
    let (new, from) = (rotated.text_of("kid")?, rotated.number("signs_from")?);
    ensure!((begun + 15..=begun + 25).contains(&from), "{}", rotated.text);

    signs_everywhere(&deployment, 2, &old).await?;
    let verifier = deployment.verifier().await?;
    let (_, kid) = token(&aws, &ids[1]).await?;
    let now = deployment.redis().now_seconds().await?;
    ensure!(now >= from || kid.as_ref() == Some(&old), "it signs {} s early", from - now);
    // Whoever leads by then lets it sign.
    deployment.kill(Service::Controller, 0)?;

    signs_everywhere(&deployment, 2, &new).await?;
    ensure!(deployment.redis().now_seconds().await? >= from, "it signs early");
    let (new_token, kid) = token(&aws, &ids[2]).await?;
    assert_eq!(kid, Some(new));
    // The keys that this gateway fetched before are enough.
    verifier.verify(&old_token, "sale")?;
    verifier.verify(&new_token, "sale")?;
    ensure!(verifier.verify(&new_token, "other").is_err(), "a token opens every room");
    deployment.verifier().await?.verify(&old_token, "sale")?;
    // The same visitor asks again: the same token, signed with the same old key.
    assert_eq!(token(&aws, &ids[0]).await?.0, old_token);
    Ok(())
}

/// Clients of `/public_key` may keep the key that they have seen first for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_aws_style_clients_may_keep_is_replaced_by_force_alone() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let operator = deployment.operator();
    let rotate = async |query: &str| {
        let path = format!("/v1/keys/rotate?signs_in_seconds=60{query}");
        operator.call(Method::POST, &path, None).await
    };
    deployment.create_room("plain", &json!({ "aws_style_api": false })).await?;
    rotate("").await?.expect(200)?;
    deployment.create_room("sale", &json!({})).await?;
    let before = published(&deployment).await?;
    for query in ["", "&force=false"] {
        let refused = rotate(query).await?;
        expect_problem(&refused, 409, "the room `sale` has `aws_style_api`")?;
        ensure!(refused.text.contains("force=true"), "{}", refused.text);
    }
    ensure!(published(&deployment).await? == before, "a key was made");
    ensure!(rotate("&force=perhaps").await?.status == 400);
    rotate("&force=true").await?.expect(200)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operators_who_rotate_at_once_leave_one_next_key() -> Result<()> {
    let (deployment, ids) = served(1).await?;
    let (_, old) = token(&deployment.aws("sale"), &ids[0]).await?;
    let old = old.unwrap_or_default();
    let rotating = (0..4).map(|_| rotate(&deployment, ""));
    let replies = futures_util::future::try_join_all(rotating).await?;
    let mut made = BTreeSet::new();
    for reply in replies {
        made.insert(reply.expect(200)?.text_of("kid")?);
    }
    assert_eq!(made.len(), 4);
    signs_everywhere(&deployment, 2, &old).await?;
    for (keys, _) in published(&deployment).await? {
        ensure!(keys.iter().filter(|kid| made.contains(*kid)).count() == 1, "{keys:?}");
    }
    // Without waiting: it takes the place of the next one, too.
    let reply = rotate(&deployment, "?signs_in_seconds=0").await?.expect(200)?;
    signs_everywhere(&deployment, 2, &reply.text_of("kid")?).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_succession_that_makes_no_sense_is_refused() -> Result<()> {
    let (deployment, _) = served(0).await?;
    let late = rotate(&deployment, "?signs_in_seconds=604801").await?;
    expect_problem(&late, 400, "a week")?;
    for query in ["?signs_in_seconds=soon", "?signs_in_seconds=-1", "?sign_in_seconds=86400"] {
        ensure!(rotate(&deployment, query).await?.status == 400, "{query}");
    }
    for (keys, _) in published(&deployment).await? {
        assert_eq!(keys.len(), 1, "nothing was made of it");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_withdrawn_key_opens_nothing_and_those_inside_get_another_token() -> Result<()> {
    let (deployment, ids) = served(1).await?;
    let aws = deployment.aws("sale");
    let (old_token, old) = token(&aws, &ids[0]).await?;
    let old = old.unwrap_or_default();
    let withdraw = async |kid: &str| {
        let path = format!("/v1/keys/{kid}");
        deployment.operator().call(Method::DELETE, &path, None).await
    };
    expect_problem(&withdraw("no-such-key").await?, 404, "no such signing key")?;
    let new = withdraw(&old).await?.expect(200)?.text_of("kid")?;
    ensure!(new != old, "it still signs");
    signs_everywhere(&deployment, 1, &new).await?;

    let gateway = deployment.verifier().await?;
    ensure!(gateway.verify(&old_token, "sale").is_err(), "its token still opens");
    let (new_token, kid) = token(&aws, &ids[0]).await?;
    assert_eq!(kid, Some(new.clone()));
    gateway.verify(&new_token, "sale")?;
    // Again: it is on record, and nothing else happens.
    assert_eq!(withdraw(&old).await?.expect(200)?.text_of("kid")?, new);
    signs_everywhere(&deployment, 1, &new).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_another_product_is_imported_with_its_name() -> Result<()> {
    let (deployment, ids) = served(1).await?;
    let key: Value =
        serde_json::from_str(include_str!("../../shared/token/fixtures/private-jwk.json"))?;
    let import = async |key: &Value| {
        let path = "/v1/keys/import?signs_in_seconds=0";
        deployment.operator().call(Method::POST, path, Some(key)).await
    };
    let with = |field: &str, value: &str| {
        let mut changed = key.clone();
        changed[field] = json!(value);
        changed
    };
    expect_problem(&import(&with("kid", "a key")).await?, 400, "1 to 64 letters")?;
    let wrong = import(&with("d", "AQAB")).await?;
    expect_problem(&wrong, 400, "RSA-2048")?;
    for (keys, _) in published(&deployment).await? {
        assert_eq!(keys.len(), 1, "nothing was changed");
    }

    let kid = import(&key).await?.expect(200)?.text_of("kid")?;
    assert_eq!(kid, key["kid"]);
    signs_everywhere(&deployment, 2, &kid).await?;
    let (token, signed_by) = token(&deployment.aws("sale"), &ids[0]).await?;
    assert_eq!(signed_by, Some(kid));
    deployment.verifier().await?.verify(&token, "sale")?;
    ensure!(import(&key).await?.status == 409, "it is known already");
    let secret = key["d"].as_str().unwrap_or_default();
    ensure!(!deployment.logs().contains(secret), "a private key is in the logs");
    Ok(())
}

/// A new key with this algorithm, which signs at once.
async fn rotate_to(deployment: &Deployment, algorithm: &str) -> Result<Reply> {
    let body = json!({ "algorithm": algorithm });
    let path = "/v1/keys/rotate?signs_in_seconds=0&force=true";
    deployment.operator().call(Method::POST, path, Some(&body)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_on_a_curve_follows_an_rsa_key_and_the_other_way_round() -> Result<()> {
    let (deployment, ids) = served(3).await?;
    let aws = deployment.aws("sale");
    let (by_rsa, _) = token(&aws, &ids[0]).await?;
    expect_problem(&rotate_to(&deployment, "HS256").await?, 400, "expected `RS256` or `ES256`")?;
    let curve = rotate_to(&deployment, "ES256").await?.expect(200)?.text_of("kid")?;
    signs_everywhere(&deployment, 2, &curve).await?;
    for only in deployment.admissions().each() {
        let reply = Reply::of(only.http().get(only.at("/public_key?event_id=sale")?)).await?;
        let said = [&reply.body["kty"], &reply.body["alg"], &reply.body["crv"]];
        assert_eq!(said, [&json!("EC"), &json!("ES256"), &json!("P-256")]);
    }
    let (by_curve, kid) = token(&aws, &ids[1]).await?;
    assert_eq!(kid, Some(curve));
    assert!(by_curve.len() + 200 < by_rsa.len(), "{by_curve}");

    let rsa = rotate_to(&deployment, "RS256").await?.expect(200)?.text_of("kid")?;
    signs_everywhere(&deployment, 3, &rsa).await?;
    let verifier = deployment.verifier().await?;
    for token in [&by_rsa, &by_curve, &token(&aws, &ids[2]).await?.0] {
        verifier.verify(token, "sale")?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deployment_may_sign_on_a_curve_from_the_first_key_on() -> Result<()> {
    let builder = Deployment::builder().environment("VESTIBULE_SIGNING_ALGORITHM", "ES256");
    let deployment = builder.start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 5 })).await?;
    let mut visitor = deployment.visitor("sale");
    visitor.join().await?;
    let token = visitor.claims(SOON).await?.text_of("access_token")?;
    let header = jsonwebtoken::decode_header(&token)?;
    assert_eq!(header.alg, jsonwebtoken::Algorithm::ES256);
    deployment.verifier().await?.verify(&token, "sale")?;
    // A withdrawn key is followed by one of the deployment's choice, too.
    let path = format!("/v1/keys/{}", header.kid.unwrap_or_default());
    let new = deployment.operator().call(Method::DELETE, &path, None).await?.expect(200)?;
    signs_everywhere(&deployment, 1, &new.text_of("kid")?).await
}

/// A release before ES256 reads no ring that has such a key: none is made while one runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_key_on_a_curve_is_made_beside_an_older_release() -> Result<()> {
    let (deployment, ids) = served(1).await?;
    let formats = json!({ "ticket": 4, "snapshot": 1, "request_id": 1 });
    let said = json!({ "ticket": 4, "snapshot": 2, "request_id": 2, "writes": formats });
    let now_ms = deployment.redis().now_seconds().await? * 1000;
    let mut connection = deployment.redis().connection().await?;
    let mut announce = redis::cmd("HSET");
    announce.arg("vestibule:{deployment}:formats").arg("admission-older");
    announce.arg(format!("{now_ms} {said}")).query_async::<()>(&mut connection).await?;

    let refused = rotate_to(&deployment, "ES256").await?;
    expect_problem(&refused, 409, "admission-older runs, and its release reads no keys")?;
    let key = json!({
        "kty": "EC", "crv": "P-256", "kid": "imported",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        "d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
    });
    let import = async || {
        let path = "/v1/keys/import?signs_in_seconds=0";
        deployment.operator().call(Method::POST, path, Some(&key)).await
    };
    expect_problem(&import().await?, 409, "or choose RS256")?;
    for (keys, _) in published(&deployment).await? {
        assert_eq!(keys.len(), 1, "nothing was made of it");
    }
    let rsa = rotate_to(&deployment, "RS256").await?.expect(200)?.text_of("kid")?;
    signs_everywhere(&deployment, 2, &rsa).await?;

    let mut stop = redis::cmd("HDEL");
    stop.arg("vestibule:{deployment}:formats").arg("admission-older");
    stop.query_async::<()>(&mut connection).await?;
    import().await?.expect(200)?;
    signs_everywhere(&deployment, 3, "imported").await?;
    let (token, kid) = token(&deployment.aws("sale"), &ids[0]).await?;
    assert_eq!(kid.as_deref(), Some("imported"));
    deployment.verifier().await?.verify(&token, "sale")?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_redis_has_lost_alone_are_put_back_by_whoever_remembers_them() -> Result<()> {
    let (mut deployment, ids) = served(1).await?;
    let (_, kid) = token(&deployment.aws("sale"), &ids[0]).await?;
    let lose = async || -> Result<()> {
        let mut redis = deployment.redis().connection().await?;
        redis::cmd("DEL").arg(RING).query_async::<()>(&mut redis).await?;
        eventually(SOON, "the ring", || async {
            let there: bool =
                redis::cmd("EXISTS").arg(RING).query_async(&mut redis.clone()).await?;
            ensure!(there, "there is none");
            Ok(())
        })
        .await
    };
    lose().await?;
    // A leader that remembers nothing makes no other.
    for index in 0..2 {
        deployment.kill(Service::Controller, index)?;
    }
    let mut redis = deployment.redis().connection().await?;
    redis::cmd("DEL").arg(RING).query_async::<()>(&mut redis).await?;
    deployment.restart(Service::Controller, 0).await?;
    deployment.operator_at(0).until("sale", "a leader", SOON, |_| Ok(true)).await?;
    signs_everywhere(&deployment, 1, &kid.unwrap_or_default()).await?;
    Ok(())
}
