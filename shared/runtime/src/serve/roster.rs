//! Which connections are open, and whether one more may come. It knows no sockets: closing one is to abort
//! its task, whatever that waits for, and whoever accepts says when a connection is there and when it has gone.
//!
//! Nothing here runs while requests do. Who has been idle for longest is looked up among all connections
//! when room is needed, and then taken from that list until it is used up: whoever became idle meanwhile
//! did so later.

use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

use rustc_hash::FxHashMap;
use tokio::{
    task::{AbortHandle, Id},
    time::{Duration, Instant},
};

use super::{activity::Activity, limits::ConnectionLimits};

/// Connections whose tasks were aborted and have not ended yet, before no more are accepted. They have their
/// descriptors until then.
const MOST_CLOSING: usize = 16;

/// The open connections of one server.
#[derive(Debug)]
pub(super) struct Roster {
    limits: ConnectionLimits,
    open: FxHashMap<Id, Member>,
    /// How many of each address are open and not closing.
    by_address: BTreeMap<IpAddr, usize>,
    /// Those that were idle at the last look, the oldest at the end.
    idle: Vec<(Idle, Id)>,
    next_look: Instant,
    closing: usize,
}

#[derive(Debug)]
struct Member {
    task: AbortHandle,
    activity: Arc<Activity>,
    counted_for: Option<IpAddr>,
    is_closing: bool,
}

/// In the order in which they make room. Proxies' connections come last: to close one while a gateway sends
/// on it is an error that a visitor sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Idle {
    is_proxy: bool,
    since: Instant,
}

/// No further connection has a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// The server has as many as it may have, and none is idle.
    Total,
    /// The address has as many as it may have, and none is idle.
    Address,
}

/// How a further connection has a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// There was room.
    Free,
    /// One that was idle was closed for it.
    Made,
}

// === impl Roster ===

impl Roster {
    pub(super) fn new(limits: ConnectionLimits, now: Instant) -> Self {
        Self {
            limits,
            open: FxHashMap::default(),
            by_address: BTreeMap::new(),
            idle: Vec::new(),
            next_look: now,
            closing: 0,
        }
    }

    /// Whether another connection may be accepted now; if not, once one has gone.
    pub(super) fn accepts(&self) -> bool {
        self.closing < MOST_CLOSING
    }

    /// Finds room for one more connection of `peer`, if need be by closing the one that has been idle for longest.
    pub(super) fn find_room(&mut self, peer: IpAddr, now: Instant) -> Result<Room, Full> {
        let counted_for = self.limits.counted_for(peer);
        let of_address = counted_for.and_then(|address| self.by_address.get(&address)).copied();
        if of_address.unwrap_or(0) >= self.limits.per_address {
            let of_same = |member: &Member| member.counted_for == counted_for;
            let oldest = self.look(of_same, now).pop().ok_or(Full::Address)?;
            return if self.close(oldest) { Ok(Room::Made) } else { Err(Full::Address) };
        }
        if self.open.len() - self.closing < self.limits.total {
            return Ok(Room::Free);
        }
        if self.close_oldest() {
            return Ok(Room::Made);
        }
        self.idle = self.look(|_| true, now);
        if self.close_oldest() { Ok(Room::Made) } else { Err(Full::Total) }
    }

    /// Notes that the connection is there.
    pub(super) fn add(&mut self, task: AbortHandle, peer: IpAddr, activity: Arc<Activity>) {
        let counted_for = self.limits.counted_for(peer);
        if let Some(address) = counted_for {
            *self.by_address.entry(address).or_default() += 1;
        }
        self.open.insert(task.id(), Member { task, activity, counted_for, is_closing: false });
    }

    /// Notes that the connection has gone.
    pub(super) fn remove(&mut self, id: Id) {
        match self.open.remove(&id) {
            Some(member) if member.is_closing => self.closing -= 1,
            Some(member) => self.discount(member.counted_for),
            None => {}
        }
    }

    /// The idle ones among the connections of a kind, the oldest at the end; none if the last look was just
    /// now. Looks take a fraction of the time, however many connections come that find no room.
    fn look(&mut self, is_meant: impl Fn(&Member) -> bool, now: Instant) -> Vec<(Idle, Id)> {
        if now < self.next_look {
            return Vec::new();
        }
        self.next_look = now + Duration::from_micros(self.open.len() as u64);
        let meant = self.open.iter().filter(|(_, member)| is_meant(member));
        let idle = meant.filter_map(|(id, member)| {
            let since = member.activity.idle_since()?;
            Some((Idle { is_proxy: member.counted_for.is_none(), since }, *id))
        });
        let mut idle: Vec<_> = idle.collect();
        idle.sort_unstable_by_key(|(idle, _)| std::cmp::Reverse(*idle));
        idle
    }

    /// Closes the one that has been idle for longest of those that are known.
    fn close_oldest(&mut self) -> bool {
        while let Some(oldest) = self.idle.pop() {
            if self.close(oldest) {
                return true;
            }
        }
        false
    }

    /// Closes the connection, unless it has been used since.
    fn close(&mut self, (idle, id): (Idle, Id)) -> bool {
        let Some(member) = self.open.get_mut(&id) else { return false };
        if !member.activity.close(idle.since) {
            return false;
        }
        member.task.abort();
        member.is_closing = true;
        self.closing += 1;
        let counted_for = member.counted_for;
        self.discount(counted_for);
        true
    }

    fn discount(&mut self, counted_for: Option<IpAddr>) {
        let Some(address) = counted_for else { return };
        let Some(count) = self.by_address.get_mut(&address) else { return };
        *count -= 1;
        if *count == 0 {
            self.by_address.remove(&address);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::{task::JoinHandle, time::advance};

    use super::*;
    use crate::{proxies::TrustedProxies, serve::activity::UnderWay};

    const ANN: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 1));
    const BOB: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 2));
    const GATEWAY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    struct Server(Roster);

    struct Open {
        task: JoinHandle<()>,
        activity: Arc<Activity>,
    }

    impl Server {
        fn new(total: usize, per_address: usize) -> Self {
            let proxies = TrustedProxies::new(&["10.0.0.0/8".parse().unwrap()]);
            let few = ConnectionLimits::few();
            let limits = ConnectionLimits { total, per_address, proxies, ..few };
            Self(Roster::new(limits, Instant::now()))
        }

        /// One that comes, if there is room for it; each at a time of its own.
        async fn come(&mut self, peer: IpAddr) -> Result<Open, Full> {
            advance(Duration::from_millis(1)).await;
            self.0.find_room(peer, Instant::now())?;
            let activity = Arc::new(Activity::new(Instant::now()));
            let task = tokio::spawn(pending());
            self.0.add(task.abort_handle(), peer, Arc::clone(&activity));
            Ok(Open { task, activity })
        }
    }

    impl Open {
        fn asks(&self) -> UnderWay {
            self.activity.begin().expect("it is open")
        }

        fn is_closed(&self) -> bool {
            self.activity.begin().is_none()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_been_idle_for_longest_makes_room() {
        let mut server = Server::new(3, 3);
        let first = server.come(ANN).await.unwrap();
        let second = server.come(ANN).await.unwrap();
        let third = server.come(BOB).await.unwrap();
        advance(Duration::from_secs(1)).await;
        drop(first.asks());
        let _held = second.asks();
        server.come(BOB).await.unwrap();
        assert!(third.is_closed() && !first.is_closed());
        assert!(third.task.await.unwrap_err().is_cancelled());
        assert!(!first.task.is_finished());
    }

    #[tokio::test(start_paused = true)]
    async fn where_none_is_idle_the_newcomer_is_refused() {
        let mut server = Server::new(2, 2);
        let (ann, bob) = (server.come(ANN).await.unwrap(), server.come(BOB).await.unwrap());
        let (_ann, under_way) = (ann.asks(), bob.asks());
        assert_eq!(server.come(BOB).await.err(), Some(Full::Total));
        drop(under_way);
        assert!(server.come(BOB).await.is_ok());
        assert!(bob.is_closed());
        server.0.remove(ann.task.id());
        assert!(server.come(ANN).await.is_ok(), "it has gone");
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_its_part_and_no_more() {
        let mut server = Server::new(9, 2);
        let idle = server.come(BOB).await.unwrap();
        let (one, two) = (server.come(ANN).await.unwrap(), server.come(ANN).await.unwrap());
        let _under_way = two.asks();
        let three = server.come(ANN).await.unwrap();
        assert!(one.is_closed() && !idle.is_closed());
        let _three = three.asks();
        assert_eq!(server.come(ANN).await.err(), Some(Full::Address));
        server.come(BOB).await.unwrap();
        server.0.remove(two.task.id());
        server.0.remove(one.task.id());
        assert!(server.come(ANN).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn gateways_have_no_part_and_make_room_last() {
        let mut server = Server::new(4, 1);
        let mut gateway = Vec::new();
        for _ in 0..3 {
            gateway.push(server.come(GATEWAY).await.unwrap());
        }
        let ann = server.come(ANN).await.unwrap();
        server.come(GATEWAY).await.unwrap();
        assert!(ann.is_closed());
        server.come(GATEWAY).await.unwrap();
        assert!(gateway[0].is_closed() && !gateway[1].is_closed());
    }

    #[tokio::test(start_paused = true)]
    async fn those_that_have_not_gone_yet_are_waited_for() {
        let mut server = Server::new(20, 20);
        let mut open = Vec::new();
        while server.0.accepts() {
            open.push(server.come(ANN).await.unwrap());
        }
        assert_eq!(open.len(), 20 + MOST_CLOSING);
        for connection in &open {
            server.0.remove(connection.task.id());
        }
        assert!(server.0.accepts() && server.0.open.is_empty() && server.0.by_address.is_empty());
        assert_eq!(server.0.closing, 0);
    }
}
