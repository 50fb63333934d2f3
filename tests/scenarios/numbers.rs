//! No two visitors hold the same queue number, and none is left out: whoever asks, by whichever
//! API, at whichever instance.

use anyhow::{Result, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::json;
use vestibule_tests::Deployment;

use crate::crowd::Guest;

const JOINS: u64 = 20_000;
const AT_ONCE: usize = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_thousand_joins_over_four_instances_give_exactly_the_numbers_up_to_it() -> Result<()>
{
    let deployment = Deployment::builder().admissions(4).controllers(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let (aws, deployment) = (&deployment.aws("sale"), &deployment);
    let number = |join: u64| async move {
        if join.is_multiple_of(2) {
            Ok(Guest::join(deployment.visitor("sale")).await?.number)
        } else {
            aws.queue_number(&aws.assign().await?).await
        }
    };
    let joins = stream::iter(0..JOINS).map(number).buffer_unordered(AT_ONCE);
    let mut numbers: Vec<u64> = joins.try_collect().await?;
    numbers.sort_unstable();
    let wrong = (1..=JOINS).zip(&numbers).find(|(expected, number)| expected != *number);
    ensure!(wrong.is_none() && numbers.len() == 20_000, "expected and given: {wrong:?}");
    let status = deployment.operator().status("sale").await?;
    assert_eq!(status.number("queue_counter")?, JOINS);
    Ok(())
}
