//! Where the processes of a run stand: each on a host of its own, or all on the loopback interface.
//!
//! Hosts are network namespaces where they can be made (root, or a container that may), wired to a hub
//! namespace in which the test itself runs. What a partition cuts is then cut by the kernel: packets
//! vanish, one way or both, and TCP does what it does. Without that right everything runs on the loopback
//! interface, and partitions are made by the links alone; the run says loudly which.

use std::{
    ffi::OsStr,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    process::Command,
};

use anyhow::{Result, ensure};

use super::namespaces::{self, Namespaces};

/// Where Redis and the services listen on hosts of their own.
const PORT: u16 = 7_000;

/// The ground under a run.
#[derive(Debug)]
pub(crate) enum Ground {
    /// Each host is a network namespace.
    Namespaces(Namespaces),
    /// All are this machine.
    Loopback,
}

/// A host.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    /// Its address.
    pub(crate) address: IpAddr,
    namespace: Option<String>,
    next_port: u16,
}

// === impl Ground ===

impl Ground {
    /// The ground that this process stands on: see [`namespaces::enter_hub`].
    pub(crate) fn here() -> Result<Self> {
        match namespaces::hub() {
            Some(hub) => Ok(Self::Namespaces(Namespaces::around(hub)?)),
            None => Ok(Self::Loopback),
        }
    }

    /// Its name, for the report.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Namespaces(_) => "a network namespace for each host",
            Self::Loopback => "the loopback interface: NO namespaces, partitions by proxy only",
        }
    }

    /// Whether each host is one of its own.
    pub(crate) fn has_hosts(&self) -> bool {
        matches!(self, Self::Namespaces(_))
    }

    /// A new host.
    pub(crate) fn host(&self) -> Result<Host> {
        Ok(match self {
            Self::Namespaces(namespaces) => {
                let (namespace, address) = namespaces.add_host()?;
                Host { address, namespace: Some(namespace), next_port: PORT }
            }
            Self::Loopback => {
                Host { address: Ipv4Addr::LOCALHOST.into(), namespace: None, next_port: 0 }
            }
        })
    }

    /// Where a link listens: at an address of its own, so that it can be cut off by itself.
    pub(crate) fn link_address(&self) -> Result<SocketAddr> {
        Ok(match self {
            Self::Namespaces(namespaces) => (namespaces.add_link_address()?, 0).into(),
            Self::Loopback => (Ipv4Addr::LOCALHOST, 0).into(),
        })
    }

    /// Nothing that `from` sends reaches `to` from now on. Returns whether the kernel sees to that.
    pub(crate) fn block(&self, from: IpAddr, to: IpAddr) -> Result<bool> {
        let Self::Namespaces(namespaces) = self else { return Ok(false) };
        namespaces.block(from, to)?;
        Ok(true)
    }

    /// It does again.
    pub(crate) fn unblock(&self, from: IpAddr, to: IpAddr) -> Result<()> {
        match self {
            Self::Namespaces(namespaces) => namespaces.unblock(from, to),
            Self::Loopback => Ok(()),
        }
    }
}

// === impl Host ===

impl Host {
    /// `program`, to be run on this host.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let Some(namespace) = &self.namespace else { return Command::new(program) };
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{namespace}")).arg("--").arg(program);
        command
    }

    /// Breaks its connections to `others`; both ends are told, unless nothing reaches one of them.
    pub(crate) fn break_connections(&self, others: &[IpAddr]) -> Result<()> {
        for other in others {
            let broken = self.command("ss").args(["-K", "dst", &other.to_string()]).output()?;
            ensure!(broken.status.success(), "{}", String::from_utf8_lossy(&broken.stderr));
        }
        Ok(())
    }

    /// Where the next server on this host listens.
    pub(crate) fn next_listener(&mut self) -> SocketAddr {
        if self.namespace.is_none() {
            return (self.address, vestibule_tests::free_port()).into();
        }
        self.next_port += 1;
        (self.address, self.next_port).into()
    }
}

/// Fails unless a server can listen at this address of ours.
pub(super) fn check_listens(at: IpAddr) -> Result<()> {
    let bound = TcpListener::bind((at, 0));
    ensure!(bound.is_ok(), "nobody can listen at {at}: {bound:?}");
    Ok(())
}
