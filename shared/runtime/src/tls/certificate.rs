//! The certificate that a client has shown, for whoever answers its requests.

use std::sync::Arc;

use rustls::ServerConnection;

tokio::task_local! {
    /// Of the connection's task, in which all of its requests are answered.
    static SUBJECT: Option<Arc<str>>;
}

/// Whose certificate the client of a connection has shown. An authority of ours has signed it.
#[derive(Debug, Clone)]
pub struct ClientCertificate(Option<Arc<str>>);

// === impl ClientCertificate ===

impl ClientCertificate {
    /// The subject of the certificate of the client that is being answered, as `CN=…, O=…`; `None` if it has shown
    /// none, and in tasks that a handler has spawned.
    #[must_use]
    pub fn subject() -> Option<Arc<str>> {
        SUBJECT.try_with(Clone::clone).ok().flatten()
    }

    /// What the client of this session has shown.
    pub(crate) fn of(session: &ServerConnection) -> Self {
        Self(subject_of(session))
    }

    /// Lives through the connection of which it is.
    pub(crate) async fn scope<T>(self, connection: impl Future<Output = T>) -> T {
        SUBJECT.scope(self.0, connection).await
    }
}

fn subject_of(session: &ServerConnection) -> Option<Arc<str>> {
    let certificate = session.peer_certificates()?.first()?;
    let subject = match x509_parser::parse_x509_certificate(certificate) {
        Ok((_, certificate)) => certificate.subject().to_string(),
        Err(_) => "unreadable".to_owned(),
    };
    Some(subject.into())
}
