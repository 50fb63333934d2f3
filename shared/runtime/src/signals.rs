//! The source of stop signals: the operating system, or a test.
//!
//! What a signal does is decided by [`crate::lifecycle`] in a service, and else by whoever waits for it.

use std::io;

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

/// A stream of stop signals, by name.
#[derive(Debug)]
pub struct Signals {
    received: mpsc::UnboundedReceiver<&'static str>,
}

/// Sends stop signals by hand: for tests, and for services within another program.
#[derive(Debug, Clone)]
pub struct SignalSender {
    sender: mpsc::UnboundedSender<&'static str>,
}

// === impl Signals ===

impl Signals {
    /// SIGTERM and SIGINT of this process, from now on.
    ///
    /// # Errors
    /// If the handlers cannot be installed.
    pub fn of_process() -> io::Result<Self> {
        let (sender, signals) = Self::by_hand();
        forward(SignalKind::terminate(), "SIGTERM", sender.clone())?;
        forward(SignalKind::interrupt(), "SIGINT", sender)?;
        Ok(signals)
    }

    /// Only what the sender sends.
    #[must_use]
    pub fn by_hand() -> (SignalSender, Self) {
        let (sender, received) = mpsc::unbounded_channel();
        (SignalSender { sender }, Self { received })
    }

    /// Waits for the next one, for ever if none can come any more.
    pub async fn next(&mut self) -> &'static str {
        match self.received.recv().await {
            Some(name) => name,
            None => std::future::pending().await,
        }
    }
}

// === impl SignalSender ===

impl SignalSender {
    /// Sends a signal; the name is for the log.
    pub fn send(&self, name: &'static str) {
        // Sending fails only after the process has stopped.
        let _ = self.sender.send(name);
    }
}

fn forward(kind: SignalKind, name: &'static str, sender: SignalSender) -> io::Result<()> {
    let mut received = signal(kind)?;
    tokio::spawn(async move {
        while received.recv().await.is_some() {
            sender.send(name);
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn signals_come_in_order_and_then_never() {
        let (sender, mut signals) = Signals::by_hand();
        sender.send("first");
        sender.send("second");
        drop(sender);
        assert_eq!(signals.next().await, "first");
        assert_eq!(signals.next().await, "second");
        assert!(timeout(Duration::from_millis(20), signals.next()).await.is_err());
    }

    #[tokio::test]
    async fn the_process_can_be_listened_to() {
        let mut signals = Signals::of_process().unwrap();
        assert!(timeout(Duration::from_millis(20), signals.next()).await.is_err());
    }
}
