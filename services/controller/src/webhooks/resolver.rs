//! Looks up the host of a webhook or a beacon, and leaves out the addresses that nothing is sent to. It is asked for every
//! new connection, so a name that is given another address later gets no further.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    task::{Context, Poll, ready},
};

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower::Service;

/// The system's resolver, whose answers are checked.
#[derive(Debug, Clone)]
pub(crate) struct CheckedResolver {
    system: GaiResolver,
    may_connect: fn(IpAddr) -> bool,
}

// === impl CheckedResolver ===

impl CheckedResolver {
    /// For connections to these addresses.
    pub(crate) fn new(may_connect: fn(IpAddr) -> bool) -> Self {
        Self { system: GaiResolver::new(), may_connect }
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
        let (found, may_connect) = (self.system.call(name), self.may_connect);
        Box::pin(async move {
            let allowed = found.await?.filter(|address| may_connect(address.ip()));
            let allowed: Vec<_> = allowed.collect();
            if allowed.is_empty() {
                let why = "its host has no address that may be connected to in this way";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
            }
            Ok(allowed.into_iter())
        })
    }
}
