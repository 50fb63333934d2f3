//! Waiting for something to become true: the only way in which tests let time pass.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::{Instant, sleep};

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Looks again and again until `check` succeeds, for at most `within`; gives what it found.
///
/// Fails with `what` was waited for, and with why the last look failed.
pub async fn eventually<T, C, F>(within: Duration, what: &str, mut check: C) -> Result<T>
where
    C: FnMut() -> F,
    F: Future<Output = Result<T>>,
{
    let deadline = Instant::now() + within;
    loop {
        let last = match check().await {
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        if Instant::now() >= deadline {
            return Err(last).with_context(|| format!("waited {within:?} in vain: {what}"));
        }
        sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use anyhow::ensure;

    use super::*;

    #[tokio::test]
    async fn gives_what_it_found_or_tells_the_last_failure() -> Result<()> {
        let mut looks = 0;
        let found = eventually(Duration::from_secs(5), "three looks", || {
            looks += 1;
            let seen = looks;
            async move {
                ensure!(seen >= 3, "only {seen}");
                Ok(seen)
            }
        });
        assert_eq!(found.await?, 3);
        let never = eventually(Duration::from_millis(1), "the moon", || async {
            anyhow::bail!("no moon") as Result<()>
        });
        let told = format!("{:#}", never.await.expect_err("it never comes"));
        assert!(told.contains("the moon") && told.contains("no moon"), "{told}");
        Ok(())
    }
}
