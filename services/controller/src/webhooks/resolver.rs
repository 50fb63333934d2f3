//! Looks up the host of a webhook, and leaves out the addresses that nothing is sent to. It is asked for every new
//! connection, so a name that is given another address later gets no further.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll, ready},
};

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower::Service;
use vestibule_domain::webhook::may_connect;

/// The system's resolver, whose answers are checked.
#[derive(Debug, Clone)]
pub(crate) struct CheckedResolver {
    system: GaiResolver,
    is_https: bool,
}

// === impl CheckedResolver ===

impl CheckedResolver {
    /// For connections that are encrypted, or not.
    pub(super) fn new(is_https: bool) -> Self {
        Self { system: GaiResolver::new(), is_https }
    }
}

impl Service<Name> for CheckedResolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(ready!(self.system.poll_ready(context)))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (found, is_https) = (self.system.call(name), self.is_https);
        Box::pin(async move {
            let allowed = found.await?.filter(|address| may_connect(address.ip(), is_https));
            let allowed: Vec<_> = allowed.collect();
            if allowed.is_empty() {
                let why = if is_https { "" } else { " in the clear" };
                let why = format!("its host has no address that may be sent to{why}");
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
            }
            Ok(allowed.into_iter())
        })
    }
}
