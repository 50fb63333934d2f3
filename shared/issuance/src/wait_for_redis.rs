//! The start of both services: Redis is waited for as long as it takes, unless waiting cannot help.

use std::time::Duration;

use tokio::time::sleep;

use crate::KeyError;

const RETRY: Duration = Duration::from_millis(250);
/// One in so many failed attempts is worth a line in the log.
const LOG_EVERY: usize = 40;

/// Looks until `look` finds everything there.
///
/// # Errors
/// The first that [`KeyError::is_hopeless`].
pub async fn wait_for_redis<F>(look: impl Fn() -> F) -> Result<(), KeyError>
where
    F: Future<Output = Result<(), KeyError>>,
{
    for attempt in 0_usize.. {
        match look().await {
            Ok(()) => break,
            Err(error) if error.is_hopeless() => return Err(error),
            Err(error) if attempt % LOG_EVERY == 0 => tracing::warn!(%error, "waiting for redis"),
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
    async fn what_cannot_pass_is_not_waited_for() {
        assert!(wait_for_redis(|| async { Ok(()) }).await.is_ok());
        let newer = || StoreError::NewerSchema { found: 9, known: 1 };
        let told = wait_for_redis(|| async { Err(KeyError::Store(newer())) }).await;
        assert!(matches!(told, Err(KeyError::Store(StoreError::NewerSchema { .. }))), "{told:?}");
    }

    #[test]
    fn an_outage_may_pass_and_a_missing_key_may_come() {
        let away = StoreError::Unavailable("away".into());
        assert!(!KeyError::Store(away).is_hopeless());
        assert!(!KeyError::Missing.is_hopeless());
    }
}
