//! Nothing secret is logged: not at the most talkative level, not in the middle of bad input.

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::json;
use vestibule_tests::Deployment;

use crate::crowd;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_ticket_or_token_is_in_any_log() -> Result<()> {
    let mut deployment =
        Deployment::builder().admissions(2).controllers(2).log("trace").start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 2 })).await?;
    let mut secret: Vec<String> = deployment.secrets().map(str::to_owned).to_vec();
    for mut guest in crowd::join(&deployment, "sale", 4).await? {
        secret.push(guest.visitor.ticket().to_owned());
        let answers = [guest.visitor.claim().await?, guest.visitor.status().await?];
        secret.extend(answers.iter().filter_map(|reply| reply.text_of("access_token").ok()));
        secret.push(guest.visitor.ticket().to_owned());
        let forged = format!("{}A", guest.visitor.ticket());
        deployment.visitor("sale").with_ticket(&forged).status().await?;
        secret.push(forged);
    }
    let aws = deployment.aws("sale");
    let id = aws.assign().await?;
    aws.serve(100).await?;
    aws.generate_token(&id).await?;
    let operator = deployment.operator();
    operator.with_token("a-wrong-api-token").call(Method::GET, "/v1/rooms", None).await?;
    secret.push("a-wrong-api-token".to_owned());
    operator.put_room("sale", &json!({ "total_active_users": "many" })).await?.expect(400)?;
    deployment.redis_mut().restart_empty().await?;
    deployment.visitor("sale").join().await?;
    let logs = deployment.logs();
    ensure!(logs.len() > 1_000, "there is nothing to look at: {logs}");
    let leaked: Vec<_> = secret.iter().filter(|secret| logs.contains(secret.as_str())).collect();
    ensure!(leaked.is_empty(), "in the logs: {leaked:?}");
    Ok(())
}
