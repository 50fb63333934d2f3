//! The start of both services: waits for Redis without a limit, except for errors that waiting
//! cannot mend.

use std::time::Duration;

use tokio::time::sleep;

use crate::KeyError;

const RETRY: Duration = Duration::from_millis(250);
/// One in this many failed attempts is logged.
const LOG_EVERY: usize = 40;

/// Calls `attempt` until it succeeds.
///
/// # Errors
/// The first error for which [`KeyError::is_hopeless`] holds.
pub async fn wait_for_redis<F>(attempt: impl Fn() -> F) -> Result<(), KeyError>
where
    F: Future<Output = Result<(), KeyError>>,
{
    for failures in 0_usize.. {
        match attempt().await {
            Ok(()) => break,
            Err(error) if error.is_hopeless() => return Err(error),
            Err(error) if failures % LOG_EVERY == 0 => tracing::warn!(%error, "waiting for redis"),
            Err(_) => {}
        }
        sleep(RETRY).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use vestibule_store::StoreError;

    use super::*;

    #[tokio::test]
    async fn a_hopeless_error_ends_the_wait() {
        assert!(wait_for_redis(|| async { Ok(()) }).await.is_ok());
        let newer = || StoreError::NewerSchema { found: 9, known: 1 };
        let result = wait_for_redis(|| async { Err(KeyError::Store(newer())) }).await;
        assert!(
            matches!(result, Err(KeyError::Store(StoreError::NewerSchema { .. }))),
            "{result:?}"
        );
    }

    #[test]
    fn an_outage_may_pass_and_a_missing_key_may_come() {
        let away = StoreError::Unavailable("away".into());
        assert!(!KeyError::Store(away).is_hopeless());
        assert!(!KeyError::Missing.is_hopeless());
    }
}
