//! TLS for the public listener of a service: certificates from files, read again when they change.
//!
//! It decides which certificate is shown and whose is asked for. How a connection lives, its handshake included, is
//! in [`mod@crate::serve`].
//!
//! Only HTTP/1.1 is offered, as it is without TLS: the limits of connections count on one request at a time.

mod certificate;
mod expiry;
mod files;
mod options;
mod reload;

pub use self::{
    certificate::ClientCertificate,
    files::TlsError,
    options::{ClientTlsOptions, TlsOptions},
    reload::Tls,
};
