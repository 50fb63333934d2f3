//! The profile `sentinel`: the primary is killed, its replica is promoted, and nobody loses a place.

use anyhow::{Result, bail, ensure};
use vestibule_tests::eventually;

use crate::{
    ONE_AT_A_TIME, SOON,
    engine::Engine,
    people::{Person, Stands},
    project::Project,
    sale::ten_enter_and_the_others_wait,
};

#[tokio::test]
async fn nobody_loses_a_place_when_the_primary_dies() -> Result<()> {
    let _alone = ONE_AT_A_TIME.lock().await;
    let Some(engine) = Engine::find()? else { return Ok(()) };
    let mut project = Project::new(&engine)?.with_sentinels();
    project.build()?;
    project.up().await?;
    let played = runs(&project).await;
    project.ends(played)
}

async fn runs(project: &Project<'_>) -> Result<()> {
    let (inside, waiting) = ten_enter_and_the_others_wait(project.site).await?;
    know_the_replica(project).await?;
    project.end("valkey")?;
    // Only where somebody writes is it known that there is a primary again.
    let last = waiting.iter().map(|(_, number)| *number).max().unwrap_or_default();
    let newcomer = comes_after(project.site, last).await?;
    for (person, number) in waiting.iter().chain([&newcomer]) {
        person.has_kept(*number).await?;
    }
    inside[0].enters().await?;

    // The old one comes back as the replica of the new one, and nothing changes.
    project.start_again("valkey").await?;
    comes_after(project.site, newcomer.1).await?;
    newcomer.0.has_kept(newcomer.1).await
}

/// Sentinels ask a primary for its replicas every ten seconds, and promote none that they have not heard of.
async fn know_the_replica(project: &Project<'_>) -> Result<()> {
    let question = ["valkey-cli", "-p", "26379", "sentinel", "replicas", "vestibule"];
    for sentinel in ["sentinel-1", "sentinel-2", "sentinel-3"] {
        eventually(SOON, &format!("{sentinel} knows a replica that follows"), || async {
            let told = project.asked_in(sentinel, &question)?;
            ensure!(told.contains("master-link-status\nok"), "it knows {told:?}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// A newcomer, as soon as one gets a place: a number that nobody had.
async fn comes_after(port: u16, last: u64) -> Result<(Person, u64)> {
    eventually(SOON, "a newcomer gets a place", || async {
        let person = Person::new(port)?;
        match person.looks().await? {
            Stands::Waiting(number) if number > last => Ok((person, number)),
            stands => bail!("it is {stands:?} after {last}"),
        }
    })
    .await
}
