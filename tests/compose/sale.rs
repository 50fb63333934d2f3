//! A sale from nothing to its end.

use anyhow::{Result, ensure};

use crate::{
    ONE_AT_A_TIME,
    crowd::{Crowd, Size, keep},
    engine::Engine,
    observed,
    people::{Person, Stands},
    project::{INSTANCES, Project},
};

/// Seats of the demo's room.
const SEATS: usize = 10;

/// A crowd that has to wait for most of what is done meanwhile.
const EVERYDAY: Size = Size { visitors: 300, arrive: 20, ceiling: 30, stay: 4 };
const LARGE: Size = Size { visitors: 5_000, arrive: 120, ceiling: 250, stay: 8 };

#[tokio::test]
async fn nobody_loses_a_place_while_services_are_killed_and_replaced() -> Result<()> {
    plays(EVERYDAY).await
}

#[tokio::test]
#[ignore = "a crowd of 5,000 takes minutes: cargo test --workspace --test compose -- --ignored --nocapture"]
async fn nobody_of_five_thousand_loses_a_place_either() -> Result<()> {
    plays(LARGE).await
}

async fn plays(size: Size) -> Result<()> {
    let _alone = ONE_AT_A_TIME.lock().await;
    let Some(engine) = Engine::find()? else { return Ok(()) };
    let mut project = Project::new(&engine)?;
    project.build()?;
    project.up().await?;
    let kept = tempfile::tempdir()?;
    let played = runs(&mut project, size, kept.path()).await;
    project.ends(played)
}

async fn runs(project: &mut Project<'_>, size: Size, kept: &std::path::Path) -> Result<()> {
    are_locked_up(project)?;
    let token = project.secret("api-token")?;
    ensure!(token.len() == 64, "the token has {} characters", token.len());
    keep(&token, &kept.join("token"))?;

    observed::by_prometheus(project).await?;
    let (inside, waiting) = ten_enter_and_the_others_wait(project.site).await?;
    inside[0].buys().await?;
    waiting[0].0.enters().await?;

    let before = images_of(project)?;
    let crowd = Crowd::start(project, size, &kept.join("token"), &kept.join("crowd"))?;
    for service in ["admission-1", "controller-1", "valkey"] {
        project.kill(service).await?;
    }
    project.build()?;
    project.upgrade()?;
    let after = images_of(project)?;
    ensure!(before.iter().all(|image| !after.contains(image)), "still the old images: {after:?}");
    crowd.has_been_served().await?;

    for (person, number) in &waiting[1..] {
        person.has_kept(*number).await?;
    }
    says_no_secret(project, &token)
}

/// Fills the demo's room, and brings five more.
pub(crate) async fn ten_enter_and_the_others_wait(
    port: u16,
) -> Result<(Vec<Person>, Vec<(Person, u64)>)> {
    let (mut inside, mut waiting) = (Vec::new(), Vec::new());
    while waiting.len() < 5 {
        let person = Person::new(port)?;
        match person.looks().await? {
            Stands::Inside => inside.push(person),
            Stands::Waiting(number) => waiting.push((person, number)),
        }
    }
    ensure!(inside.len() == SEATS, "{} of {SEATS} seats are taken", inside.len());
    Ok((inside, waiting))
}

/// No root, nothing to write to, no rights: as the image and the file say.
fn are_locked_up(project: &Project<'_>) -> Result<()> {
    let asked = "{{.Config.User}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} \
                 {{index .Config.Labels \"org.opencontainers.image.licenses\"}}";
    for service in INSTANCES {
        let told = project.inspect(&project.container(service)?, asked)?;
        ensure!(told == "65532:65532 true [ALL] Apache-2.0", "{service}: {told}");
    }
    Ok(())
}

fn images_of(project: &Project<'_>) -> Result<Vec<String>> {
    INSTANCES.iter().map(|name| project.inspect(&project.container(name)?, "{{.Image}}")).collect()
}

fn says_no_secret(project: &Project<'_>, token: &str) -> Result<()> {
    let (secret, logs) = (project.secret("secret")?, project.logs()?);
    ensure!(logs.contains("made the secret"), "the logs are not those of everything: {logs}");
    ensure!(!logs.contains(token) && !logs.contains(&secret), "a secret is in the logs");
    Ok(())
}
