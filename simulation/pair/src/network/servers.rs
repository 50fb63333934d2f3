//! The Redis servers: one, or two that each take themselves for the only one. What happens to them is
//! decided by the faults.

use std::collections::BTreeSet;

use vestibule_redis_model::{Engine, Keyspace, Message, Micros, Options, Reply, Server, State};

use super::Node;

/// Where virtual time begins on the servers' clocks, µs since 1970: the start of some minute.
pub(super) const BEGIN_US: Micros = 1_789_999_980_000_000;

/// The servers.
#[derive(Debug)]
pub struct Servers {
    sides: Vec<Side>,
    /// Who still talks to the server that was replaced.
    behind: BTreeSet<Node>,
    /// What the first server held, and when, ms.
    remembered: Vec<(u64, State)>,
    restarts: u32,
}

#[derive(Debug)]
struct Side {
    server: Server,
    offset_us: i64,
    /// Until when nobody listens at its address, and until when it is silent, ms.
    refuses_until_ms: u64,
    silent_until_ms: u64,
}

/// What a server did.
#[derive(Debug)]
pub(super) struct Executed {
    pub(super) reply: Reply,
    pub(super) messages: Vec<Message>,
    /// On which side.
    pub(super) side: usize,
}

// === impl Servers ===

impl Servers {
    /// One empty server.
    #[must_use]
    pub(crate) fn new(engine: Engine) -> Self {
        let options = Options { run_id: run_id(0), ..Options::default() };
        let side = Side {
            server: Server::new(engine, options),
            offset_us: 0,
            refuses_until_ms: 0,
            silent_until_ms: 0,
        };
        Self { sides: vec![side], behind: BTreeSet::new(), remembered: Vec::new(), restarts: 0 }
    }

    /// The clock of the first server at `now_ms` of virtual time, ms since 1970.
    #[must_use]
    pub fn clock_ms(&self, now_ms: u64) -> u64 {
        self.sides[0].clock_us(now_ms) / 1000
    }

    /// What the first server holds.
    #[must_use]
    pub fn keyspace(&self) -> &Keyspace {
        self.sides[0].server.keyspace()
    }

    /// Which server `node` talks to.
    pub(super) fn side_of(&self, node: Node) -> usize {
        usize::from(self.sides.len() > 1 && self.behind.contains(&node))
    }

    pub(super) fn refuses_connections(&self, node: Node, now_ms: u64) -> bool {
        self.sides[self.side_of(node)].refuses_until_ms > now_ms
    }

    /// Carries a command out; `None` while its server is away.
    pub(super) fn execute(
        &mut self,
        node: Node,
        words: &[Vec<u8>],
        now_ms: u64,
    ) -> Option<Executed> {
        let number = self.side_of(node);
        let side = &mut self.sides[number];
        if side.silent_until_ms.max(side.refuses_until_ms) > now_ms {
            return None;
        }
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let reply = side.server.call(side.clock_us(now_ms), &words);
        Some(Executed { reply, messages: side.server.take_messages(), side: number })
    }

    /// Remembers what the server holds, so that it can go back to it.
    pub(crate) fn remember(&mut self, now_ms: u64) {
        let state = self.sides[0].server.snapshot();
        self.remembered.push((now_ms, state));
    }

    /// The server is restarted, with what was last remembered at `then_ms` or before; with nothing if
    /// nothing was. Its address refuses connections until `back_ms`.
    pub(crate) fn restart_with(&mut self, then_ms: Option<u64>, back_ms: u64) {
        let state = then_ms.and_then(|then_ms| self.remembered_at(then_ms));
        self.restarts += 1;
        let side = &mut self.sides[0];
        match state {
            Some(state) => side.server.restore(state),
            None => side.server.wipe(),
        }
        side.server.restart(&run_id(self.restarts));
        side.refuses_until_ms = side.refuses_until_ms.max(back_ms);
    }

    /// A restart that loses nothing.
    pub(crate) fn restart(&mut self, back_ms: u64) {
        self.restarts += 1;
        let side = &mut self.sides[0];
        side.server.restart(&run_id(self.restarts));
        side.refuses_until_ms = side.refuses_until_ms.max(back_ms);
    }

    /// A replica that had come as far as `then_ms` takes over. Those `behind` go on with the old server
    /// until [`Self::heal`].
    pub(crate) fn promote(&mut self, then_ms: u64, behind: BTreeSet<Node>) {
        let state = self.remembered_at(then_ms);
        self.restarts += 1;
        let mut promoted = self.sides[0].replica(run_id(self.restarts));
        if let Some(state) = state {
            promoted.server.restore(state);
        }
        // The scripts are those of another process.
        promoted.server.restart(&run_id(self.restarts));
        self.sides.insert(0, promoted);
        self.sides.truncate(2);
        self.behind = behind;
    }

    /// Who is apart: talks to another server than the others, and both take writes.
    pub(crate) fn apart(&self) -> &BTreeSet<Node> {
        &self.behind
    }

    /// The old server is gone, with what only it knew; everybody talks to the new one.
    pub(crate) fn heal(&mut self) {
        self.sides.truncate(1);
        self.behind.clear();
    }

    /// Nobody listens at the address, or whoever asks hears nothing, until `until_ms`.
    pub(crate) fn go_away(&mut self, until_ms: u64, silently: bool) {
        let side = &mut self.sides[0];
        let until = if silently { &mut side.silent_until_ms } else { &mut side.refuses_until_ms };
        *until = (*until).max(until_ms);
    }

    /// Everything is deleted, as by FLUSHALL.
    pub(crate) fn wipe(&mut self) {
        self.sides[0].server.wipe();
    }

    /// One key is lost, which is told: the one at this place, from 0 to 1, of all in order.
    pub(crate) fn lose_some_key(&mut self, at: f64) -> Option<Vec<u8>> {
        let server = &mut self.sides[0].server;
        let keys = server.keyspace().keys();
        #[expect(clippy::cast_precision_loss, reason = "there are few keys")]
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most the count"
        )]
        let place = (at * keys.len() as f64) as usize;
        let key = keys.get(place)?.to_vec();
        server.lose_key(&key).then_some(key)
    }

    /// The server's clock jumps.
    pub(crate) fn step_clock(&mut self, by_ms: i64) {
        self.sides[0].offset_us += by_ms * 1000;
    }

    /// Writes are refused with this error; `None`: no more.
    pub(crate) fn refuse_writes(&mut self, error: Option<&str>) {
        self.sides[0].server.refuse(error);
    }

    fn remembered_at(&self, then_ms: u64) -> Option<State> {
        let before = self.remembered.iter().rev().find(|(at_ms, _)| *at_ms <= then_ms);
        before.map(|(_, state)| state.clone())
    }
}

// === impl Side ===

impl Side {
    fn clock_us(&self, now_ms: u64) -> Micros {
        (BEGIN_US + now_ms * 1000).saturating_add_signed(self.offset_us)
    }

    fn replica(&self, run_id: String) -> Self {
        Self {
            server: Server::new(
                self.server.engine().clone(),
                Options { run_id, ..self.server.options().clone() },
            ),
            offset_us: self.offset_us,
            refuses_until_ms: 0,
            silent_until_ms: 0,
        }
    }
}

fn run_id(restarts: u32) -> String {
    format!("{restarts:040x}")
}
