//! A subscription, on a connection of its own, that notices when nobody is there any more.
//!
//! Messages may stay away for long without anything being wrong, so silence says nothing. The server is
//! asked on the subscribed connection itself, twice a second; when an answer stays away, the stream
//! ends, and whoever reads it subscribes again. That is why the third version of the protocol is spoken here: in
//! the second one a subscribed connection knows hardly another command, and the library's subscriber for it
//! has no sharded channels.

use std::{pin::Pin, time::Duration};

use futures_util::{StreamExt, future::try_join_all, stream};
use redis::{
    Client, Msg, PushInfo, PushKind, RedisError, Value, aio::ConnectionLike,
    aio::MultiplexedConnection,
};
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::sleep,
};

use super::{Message, Messages, access::Access, opener::Expected};

/// Between two questions.
const PROBE: Duration = Duration::from_millis(500);

/// Which channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Those of `PUBLISH`: of a Cluster, every node has all of them.
    Everywhere,
    /// Those of `SPUBLISH`: each is on the shard that owns its slot.
    Sharded,
}

/// What is read from, until it ends.
struct Subscription {
    pushes: UnboundedReceiver<PushInfo>,
    /// Completes when the subscription must end.
    ends: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Subscribes, and fails when that takes too long. The stream ends when the server is gone, when a slot
/// leaves it, and with `ends`.
pub(super) async fn open<T: AsRef<str>>(
    client: &Client,
    access: &Access,
    kind: Kind,
    channels: &[T],
    probe: Expected,
    ends: impl Future<Output = ()> + Send + 'static,
) -> Result<Messages, RedisError> {
    let (sender, pushes) = unbounded_channel();
    let config = access.config().set_push_sender(sender);
    let connection = client.get_multiplexed_async_connection_with_config(&config).await?;
    // Each by itself, because the channels of one `SSUBSCRIBE` must share a slot; but none waits for another.
    let subscribing = channels.iter().map(|channel| {
        let mut connection = connection.clone();
        async move {
            let mut subscribe = redis::cmd(kind.command());
            subscribe.arg(channel.as_ref());
            connection.req_packed_command(&subscribe).await.and_then(Value::extract_error)
        }
    });
    try_join_all(subscribing).await?;
    let ends = Box::pin(async move {
        tokio::select! {
            biased;
            () = ends => {}
            () = until_silent(connection, probe) => {}
        }
    });
    let next = |mut subscription: Subscription| async move {
        subscription.next().await.map(|message| (message, subscription))
    };
    Ok(stream::unfold(Subscription { pushes, ends }, next).boxed())
}

/// Asks again and again; returns when there is no answer, or not the right one.
async fn until_silent(mut connection: MultiplexedConnection, probe: Expected) {
    loop {
        sleep(PROBE).await;
        if let Err(error) = probe.check_again(&mut connection).await {
            tracing::debug!(%error, "a subscription is lost");
            return;
        }
    }
}

// === impl Kind ===

impl Kind {
    fn command(self) -> &'static str {
        match self {
            Self::Everywhere => "SUBSCRIBE",
            Self::Sharded => "SSUBSCRIBE",
        }
    }
}

// === impl Subscription ===

impl Subscription {
    async fn next(&mut self) -> Option<Message> {
        loop {
            let push = tokio::select! {
                biased;
                push = self.pushes.recv() => push?,
                () = &mut self.ends => return None,
            };
            match push.kind {
                PushKind::Message | PushKind::SMessage => {
                    if let Some(message) = read(push) {
                        return Some(message);
                    }
                }
                // The server says so by itself when the slot of a channel has moved away.
                PushKind::Disconnection | PushKind::Unsubscribe | PushKind::SUnsubscribe => {
                    return None;
                }
                _ => {}
            }
        }
    }
}

fn read(push: PushInfo) -> Option<Message> {
    let message = Msg::from_push_info(push)?;
    let channel = message.get_channel_name().to_owned();
    Some(Message { channel, payload: message.get_payload().ok()? })
}
