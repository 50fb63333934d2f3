//! Those who come and those who wait: what a browser would do at each answer.

use rand::Rng;
use vestibule_domain::{
    Lease, Place, Waiter,
    poll::{self, PollOutcome, WaiterState},
    presence::Spot,
};
use vestibule_store::Joined;

use super::{Crowd, State, millis};
use crate::{
    answer::Call,
    house::Outlook,
    number::real64,
    record::{Ending, Estimate},
};

/// A claim is held at the door for so long before it is answered and made again, ms.
const HELD_MS: u64 = 2_100;

impl Crowd {
    /// Newcomers take their numbers, the regions in turns.
    pub(super) async fn join(&mut self, newcomers: &[Vec<u32>]) -> anyhow::Result<()> {
        let first = usize::try_from(self.step).unwrap_or(0) % newcomers.len();
        for nth in 0..newcomers.len() {
            let region = (first + nth) % newcomers.len();
            if !newcomers[region].is_empty() {
                self.join_from(region, &newcomers[region]).await?;
            }
        }
        Ok(())
    }

    async fn join_from(&mut self, region: usize, ids: &[u32]) -> anyhow::Result<()> {
        let nobody_waits = self.book.waiting() == 0 && !self.world.snapshot().is_held();
        let count = u64::try_from(ids.len())?;
        let joined = self.world.join(&self.regions[region].0, count).await?;
        let figures = &mut self.regions[region].1;
        figures.arrived += count;
        figures.admitted_at_once += joined.seated;
        figures.own_slots += joined.taken.own;
        figures.anywhere_slots += joined.taken.anywhere;
        figures.lent_slots += joined.taken.lent;
        for (number, &id) in (joined.first..).zip(ids) {
            self.arrive(id, number, &joined);
        }
        if nobody_waits {
            let free = self.spare.slots(self.world.now_ms());
            self.queued_while_free += free.min(count - joined.seated);
        }
        Ok(())
    }

    fn arrive(&mut self, id: u32, number: u64, joined: &Joined) {
        let now_ms = joined.now_ms;
        let visitor = &mut self.visitors[id as usize];
        let entered_at = u32::try_from(now_ms / 1000).unwrap_or(u32::MAX);
        let place = Place { number, entered_at, region: visitor.region };
        self.book.join(id, real64(self.world.elapsed_ms()) / 1000.0, number);
        if number < joined.first + joined.seated || joined.suspended {
            visitor.waiter = Waiter::new(place, None, 0);
            return self.enter(id, joined.expires_at);
        }
        let spot = joined.pool.map_or(Spot::Position(number), Spot::Pool);
        let serving = u64::try_from(joined.serving_counter).unwrap_or(0);
        let lease = Lease::initial(spot, serving, now_ms);
        visitor.waiter = Waiter::new(place, Some(lease), self.world.snapshot().cumulative_hazard);
        self.book.wait(id);
        self.look(id);
    }

    pub(super) fn poll(&mut self, id: u32, call: Call) {
        self.book.poll(call, self.now());
        self.look(id);
    }

    /// A call of someone in line, and what it decides to do next.
    fn look(&mut self, id: u32) {
        let chance = self.rng.random();
        let now_ms = self.world.now_ms();
        let visitor = &mut self.visitors[id as usize];
        let call = poll::PollContext {
            now_ms,
            win_threshold: visitor.win_threshold,
            chance,
            excused_until_ms: 0,
        };
        let look = poll::evaluate(self.world.snapshot(), &visitor.waiter, &call);
        let old = std::mem::replace(&mut visitor.waiter, look.waiter).lease;
        if look.counted {
            self.exchange(old, look.waiter.lease);
        }
        match look.state {
            WaiterState::YourTurn => self.go_to_door(id),
            WaiterState::Waiting => self.go_on_waiting(id, &look),
            WaiterState::Rejected => self.finish(id, Ending::Closed),
            WaiterState::Expired => self.finish(id, Ending::Expired),
        }
    }

    /// A lease that is gone cannot be given back.
    pub(super) fn exchange(&mut self, old: Option<Lease>, new: Option<Lease>) {
        let now_ms = self.world.now_ms();
        if old == new {
            return;
        }
        if let Some(old) = old.filter(|old| !old.is_gone(now_ms)) {
            *self.leases.entry(old).or_default() -= 1;
        }
        if let Some(new) = new {
            *self.leases.entry(new).or_default() += 1;
        }
    }

    fn go_to_door(&mut self, id: u32) {
        let visitor = &mut self.visitors[id as usize];
        let rank = poll::rank(self.world.snapshot(), &visitor.waiter, visitor.win_threshold);
        self.door.remove(&(visitor.rank, id));
        self.door.insert((rank, id));
        (visitor.rank, visitor.state) = (rank, State::AtDoor);
        self.put(id, HELD_MS);
    }

    fn go_on_waiting(&mut self, id: u32, look: &PollOutcome) {
        let now = self.now();
        let number = look.waiter.place.number;
        let snapshot = self.world.snapshot();
        let outlook = snapshot.outlook(number, self.world.now_ms(), snapshot.progress());
        let estimate = Estimate {
            at: now,
            // As in an answer: whole seconds.
            wait: outlook.wait.seconds.map(f64::ceil),
            quartiles: outlook.wait.quartiles.map(|all| all.map(f64::ceil)),
            people_ahead: outlook.people_ahead.map(real64),
        };
        self.book.told(id, &estimate, outlook.position);
        let visitor = &mut self.visitors[id as usize];
        self.door.remove(&(visitor.rank, id));
        let comes_back = visitor.habit.comes_back_after_ms(look.next_ms.max(1));
        let patience = f64::from(visitor.patience);
        let knows = Outlook {
            waited: now - self.book.joined(id),
            wait: estimate.wait,
            people_ahead: estimate.people_ahead,
        };
        let closes = millis(self.shape.rules.closes_tab_in(patience, &knows).max(0.0));
        let closing = patience < 1.0 && closes < comes_back;
        visitor.state = if closing { State::Closing } else { State::Waiting };
        self.put(id, if closing { closes } else { comes_back });
    }
}
