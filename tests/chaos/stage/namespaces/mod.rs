//! Hosts as network namespaces: a hub in which the test runs, and one namespace for each host, wired to it
//! by a pair of virtual interfaces. The hub routes; whoever is blocked is blocked there, by a rule that
//! drops what one address sends to another. Nothing outside of these namespaces is touched.
//!
//! Needs `ip` (iproute2), `nsenter` (util-linux) and the right to make namespaces; nothing else: no `nft`,
//! no `netem`. Names begin with the number of the process that made them, so that what an earlier run
//! has left behind is found and removed.

use std::{
    collections::BTreeMap,
    env, fs,
    net::{IpAddr, Ipv4Addr},
    path::Path,
    process::{Command, ExitStatus, Stdio, id},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
};

use anyhow::{Context, Result, anyhow, ensure};

use super::ground::check_listens;

/// All names begin so.
const PREFIX: &str = "vestibule-chaos-";
/// The process in the hub learns its name from it.
const HUB: &str = "VESTIBULE_CHAOS_HUB";
/// Set: no namespaces are made.
const LOOPBACK: &str = "VESTIBULE_CHAOS_LOOPBACK";
/// Where visitors and operators come from.
const PEOPLE: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 254);

/// The hub, as seen from within, and the hosts around it.
#[derive(Debug)]
pub(crate) struct Namespaces {
    hub: String,
    hosts: AtomicU8,
    links: AtomicU8,
    /// How many faults block what the one sends to the other.
    blocked: Mutex<BTreeMap<(IpAddr, IpAddr), u32>>,
}

/// The hub, as seen from outside. It goes with this, and all hosts around it.
#[derive(Debug)]
struct Hub(String);

/// Where visitors come from, when hosts are namespaces.
pub(crate) fn people() -> IpAddr {
    PEOPLE.into()
}

/// The hub that this process runs in.
pub(super) fn hub() -> Option<String> {
    env::var_os(HUB).map(|name| name.to_string_lossy().into_owned())
}

/// Whether this process is in a hub, with hosts around it.
pub(crate) fn is_hub() -> bool {
    hub().is_some()
}

/// Runs the test called `test` of this program again, in a hub; `None`: it is there already, or no
/// namespace can be made, which is said loudly.
pub(crate) fn enter_hub(test: &str) -> Option<Result<ExitStatus>> {
    if hub().is_some() {
        return None;
    }
    sweep();
    let made = if env::var_os(LOOPBACK).is_some() {
        Err(anyhow!("{LOOPBACK} is set"))
    } else {
        Hub::make()
    };
    match made {
        Ok(hub) => Some(hub.run(test)),
        Err(error) => {
            say(&format!(
                "WARNING: no network namespaces ({error:#}): all on the loopback interface"
            ));
            None
        }
    }
}

/// Not `eprintln`, which the test runner swallows.
pub(crate) fn say(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes());
}

// === impl Namespaces ===

impl Namespaces {
    /// The hub, of which this process is in.
    pub(super) fn around(hub: String) -> Result<Self> {
        check_listens(PEOPLE.into())?;
        let (hosts, links) = (AtomicU8::new(0), AtomicU8::new(0));
        Ok(Self { hub, hosts, links, blocked: Mutex::default() })
    }

    /// A new host: its namespace and its address.
    pub(super) fn add_host(&self) -> Result<(String, IpAddr)> {
        let number = self.hosts.fetch_add(1, Relaxed) + 1;
        let (name, address) = (format!("{}-{number}", self.hub), Ipv4Addr::new(10, 77, 1, number));
        ip(&format!("netns add {name}"))?;
        ip(&format!("link add host{number} type veth peer name eth0 netns {name}"))?;
        ip(&format!("-n {name} link set lo up"))?;
        ip(&format!("-n {name} addr add {address}/32 dev eth0"))?;
        ip(&format!("-n {name} link set eth0 up"))?;
        ip(&format!("link set host{number} up"))?;
        ip(&format!("-n {name} route add default via {PEOPLE} dev eth0 onlink"))?;
        ip(&format!("route add {address}/32 dev host{number} src {PEOPLE}"))?;
        Ok((name, address.into()))
    }

    /// A new address of the hub, for one link.
    pub(super) fn add_link_address(&self) -> Result<IpAddr> {
        let number = self.links.fetch_add(1, Relaxed) + 1;
        let address = link_address(number);
        ip(&format!("addr add {address}/32 dev lo"))?;
        Ok(address.into())
    }

    /// Drops what `from` sends to `to`.
    pub(super) fn block(&self, from: IpAddr, to: IpAddr) -> Result<()> {
        let mut blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        let times = blocked.entry((from, to)).or_default();
        if *times == 0 {
            ip(&format!("rule add pref 10 from {from} to {to} blackhole"))?;
        }
        *times += 1;
        Ok(())
    }

    /// Lets it through again, unless another fault still blocks it.
    pub(super) fn unblock(&self, from: IpAddr, to: IpAddr) -> Result<()> {
        let mut blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        let times = blocked.entry((from, to)).or_default();
        *times = times.checked_sub(1).context("nobody blocks it")?;
        if *times == 0 {
            ip(&format!("rule del pref 10 from {from} to {to} blackhole"))?;
        }
        Ok(())
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        remove_all(&format!("{}-", self.hub));
        // The kernel takes its time to remove what is in a namespace; the wires go at once.
        for number in 1..=self.hosts.load(Relaxed) {
            let _ = ip(&format!("link del host{number}"));
        }
        for number in 1..=self.links.load(Relaxed) {
            let _ = ip(&format!("addr del {}/32 dev lo", link_address(number)));
        }
    }
}

// === impl Hub ===

impl Hub {
    fn make() -> Result<Self> {
        // Several tests of one process may have one each.
        static HUBS: AtomicU8 = AtomicU8::new(0);
        let hub = Self(format!("{PREFIX}{}-{}", id(), HUBS.fetch_add(1, Relaxed)));
        ip(&format!("netns add {}", hub.0))?;
        // Whoever may make namespaces may not be allowed to enter them, or to wire them.
        let preparations = [
            "ip link add try0 type veth peer name try1".to_owned(),
            "ip link del try0".to_owned(),
            "ip link set lo up".to_owned(),
            format!("ip addr add {PEOPLE}/32 dev lo"),
            // Before what is for this very machine, so that a rule can block that, too.
            "ip rule add pref 100 lookup local".to_owned(),
            "ip rule del pref 0".to_owned(),
            "echo 1 > /proc/sys/net/ipv4/ip_forward".to_owned(),
        ];
        for preparation in preparations {
            let tried = hub.within("sh").args(["-c", &preparation]).output()?;
            let said = String::from_utf8_lossy(&tried.stderr);
            ensure!(tried.status.success(), "{preparation}: {}", said.trim());
        }
        Ok(hub)
    }

    fn within(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.0)).arg("--").arg(program);
        command
    }

    fn run(&self, test: &str) -> Result<ExitStatus> {
        let mut command = self.within(env::current_exe()?);
        command.args([test, "--exact", "--nocapture", "--include-ignored"]).env(HUB, &self.0);
        command.stdin(Stdio::null()).status().context("the test does not run in its hub")
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        remove_all(&format!("{}-", self.0));
        let _ = ip(&format!("netns del {}", self.0));
    }
}

/// The address of the link of this number.
fn link_address(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 2, number)
}

/// Removes what runs have left that are no more, and ends what still runs in there.
fn sweep() {
    for name in names(PREFIX) {
        let maker = name[PREFIX.len()..].split('-').next().unwrap_or_default().to_owned();
        if !Path::new("/proc").join(&maker).exists() {
            remove(&name);
        }
    }
}

fn remove_all(prefix: &str) {
    for name in names(prefix) {
        remove(&name);
    }
}

fn remove(name: &str) {
    let script = "ip netns pids \"$1\" | while read -r id; do kill -s KILL \"$id\"; done";
    let _ = Command::new("sh").args(["-c", script, "sh", name]).status();
    let _ = ip(&format!("netns del {name}"));
}

fn names(prefix: &str) -> Vec<String> {
    let entries = fs::read_dir("/run/netns").into_iter().flatten().filter_map(Result::ok);
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(prefix)).collect()
}

fn ip(arguments: &str) -> Result<()> {
    let output = Command::new("ip").args(arguments.split(' ')).output().context("no `ip`")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "ip {arguments}: {}", said.trim());
    Ok(())
}

#[cfg(test)]
mod tests;
