//! A running process of either service.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use vestibule_admission::in_process as admission;
use vestibule_controller::in_process as controller;

use crate::network::Node;

/// A running process.
#[derive(Debug, Clone)]
pub struct Process<I> {
    /// Its name in traces.
    pub name: Arc<str>,
    /// Its place at the network.
    pub node: Node,
    /// Cancelled when it is killed.
    pub killed: CancellationToken,
    /// The service.
    pub instance: I,
}

/// What happens to a process, whichever service it is.
pub(super) trait Service: Send {
    /// Whether it has ended by itself.
    fn has_failed(&self) -> bool;
    /// Ends it at once.
    fn crash(&self);
    /// Ends it in order.
    fn stop(&self) -> BoxFuture<'_, ()>;
}

/// The same process, whichever service it is.
pub(super) fn boxed<I: Service + 'static>(process: Process<I>) -> Process<Box<dyn Service>> {
    let Process { name, node, killed, instance } = process;
    Process { name, node, killed, instance: Box::new(instance) }
}

/// The name of a process that has ended by itself.
pub(super) fn failed<I: Service>(process: &Process<I>) -> Option<Arc<str>> {
    process.instance.has_failed().then(|| Arc::clone(&process.name))
}

macro_rules! services {
    ($($instance:ty),*) => {
        $(impl Service for $instance {
            fn has_failed(&self) -> bool {
                self.has_failed()
            }

            fn crash(&self) {
                self.crash();
            }

            fn stop(&self) -> BoxFuture<'_, ()> {
                Box::pin(self.stop())
            }
        })*
    };
}

services!(admission::Instance, controller::Instance);
