//! Signing keys are replaced while tokens of the old ones are still out.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::json;
use vestibule_tests::{Deployment, Verifier, eventually};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_tokens_verify_after_a_rotation_and_new_ones_have_the_new_key() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let aws = deployment.aws("sale");
    let (old, new) = (aws.assign().await?, aws.assign().await?);
    aws.serve(2).await?;
    let old_token = aws.generate_token(&old).await?.expect(200)?.text_of("access_token")?;
    let before = deployment.verifier().await?.key_ids();
    assert_eq!(before.len(), 1);
    let reply = deployment.operator().call(Method::POST, "/v1/keys/rotate", None).await?;
    ensure!((200..300).contains(&reply.status), "{} {}", reply.status, reply.text);
    let kid = new_key_everywhere(&deployment, &before[0]).await?;
    let new_token = aws.generate_token(&new).await?.expect(200)?.text_of("access_token")?;
    assert_eq!(jsonwebtoken::decode_header(&new_token)?.kid, Some(kid));
    for index in 0..2 {
        let verifier = Verifier::fetch(&deployment.admissions().only(index)).await?;
        verifier.verify(&old_token, "sale")?;
        verifier.verify(&new_token, "sale")?;
        ensure!(verifier.verify(&new_token, "other").is_err(), "a token opens every room");
    }
    // The same visitor asks again: the same token, signed with the same old key.
    let again = aws.generate_token(&old).await?.expect(200)?.text_of("access_token")?;
    assert_eq!(again, old_token);
    Ok(())
}

async fn new_key_everywhere(deployment: &Deployment, old: &str) -> Result<String> {
    eventually(Duration::from_secs(10), "the new key at every instance", || async {
        let mut current = String::new();
        for index in 0..2 {
            let only = deployment.admissions().only(index);
            let keys = Verifier::fetch(&only).await?.key_ids();
            ensure!(keys.len() == 2 && keys.iter().any(|key| key == old), "{keys:?}");
            let url = only.at("/public_key?event_id=sale")?;
            let reply = vestibule_tests::Reply::of(only.http().get(url)).await?;
            current = reply.expect(200)?.text_of("kid")?;
            ensure!(current != old, "still the old key");
        }
        Ok(current)
    })
    .await
}
