//! How a server is approached: encryption, credentials, time-outs. The same for all servers of a
//! deployment; only where they listen differs.

use std::time::Duration;

use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion,
    RedisConnectionInfo, RedisError, TlsCertificates,
};

use super::{
    LinkOptions, ServerAddress,
    address::{Credentials, Host},
    options::Wait,
};
use crate::StoreError;

/// What is the same for all servers.
#[derive(Clone)]
pub(super) struct Access {
    tls: bool,
    credentials: Credentials,
    database: i64,
    authorities: Option<Vec<u8>>,
    pub(super) timeout: Duration,
    pub(super) wait: Option<Wait>,
}

// === impl Access ===

impl Access {
    /// The way to the servers that hold the data.
    pub(super) fn to_servers(address: &ServerAddress, options: &LinkOptions) -> Self {
        Self {
            tls: address.tls,
            credentials: address.credentials.clone(),
            database: address.database,
            authorities: options.authorities.clone(),
            timeout: options.timeout,
            wait: options.wait,
        }
    }

    /// The same with other credentials and the first database: the way to Sentinels.
    pub(super) fn with_credentials(&self, credentials: Credentials) -> Self {
        Self { credentials, database: 0, ..self.clone() }
    }

    /// Fails if the authorities cannot be read.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let nowhere = Host { name: "localhost".to_owned(), port: 1 };
        self.client(&nowhere).map(drop).map_err(|_| {
            StoreError::Address("the file of certificate authorities cannot be read as PEM".into())
        })
    }

    /// The same with the first database, if there are credentials.
    pub(super) fn with_own_credentials(&self) -> Option<Self> {
        let some = self.credentials.password.is_some();
        some.then(|| self.with_credentials(self.credentials.clone()))
    }

    /// For calls. In the second version of the protocol, in which scripts' answers are read.
    pub(super) fn client(&self, host: &Host) -> Result<Client, RedisError> {
        self.client_of(host, ProtocolVersion::RESP2)
    }

    /// For subscriptions. In the third version, in which a subscribed connection can also be asked
    /// whether the server is still there.
    pub(super) fn subscriber(&self, host: &Host) -> Result<Client, RedisError> {
        self.client_of(host, ProtocolVersion::RESP3)
    }

    /// The time-outs of a connection.
    pub(super) fn config(&self) -> AsyncConnectionConfig {
        AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timeout))
            .set_response_timeout(Some(self.timeout))
    }

    fn client_of(&self, host: &Host, protocol: ProtocolVersion) -> Result<Client, RedisError> {
        let name = host.name.clone();
        let address = if self.tls {
            use_cryptography();
            ConnectionAddr::TcpTls {
                host: name,
                port: host.port,
                insecure: false,
                tls_params: None,
            }
        } else {
            ConnectionAddr::Tcp(name, host.port)
        };
        // Who calls is not told: `CLIENT SETINFO` is one more right that a user would need.
        let mut server = RedisConnectionInfo::default()
            .set_protocol(protocol)
            .set_db(self.database)
            .set_skip_set_lib_name();
        if let Some(user) = &self.credentials.user {
            server = server.set_username(user);
        }
        if let Some(password) = &self.credentials.password {
            server = server.set_password(password);
        }
        let info = address.into_connection_info()?.set_redis_settings(server);
        match &self.authorities {
            Some(authorities) => Client::build_with_tls(
                info,
                TlsCertificates { client_tls: None, root_cert: Some(authorities.clone()) },
            ),
            None => Client::open(info),
        }
    }
}

/// Which cryptography TLS uses is said here, because what the process consists of does not say: a service built by
/// itself has none by default.
fn use_cryptography() {
    // An error says that somebody has chosen before.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Access")
    }
}
