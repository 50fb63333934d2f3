//! Whether more were inside than may be, by what visitors saw alone. It knows nothing of what the services
//! wrote down, and so also judges what a killed one could not write.

use std::collections::BTreeMap;

use tokio::time::Instant;

/// Who was inside which room, and what the ceilings were.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    stays: BTreeMap<usize, Vec<Stay>>,
    ceilings: BTreeMap<usize, Vec<Ceiling>>,
}

/// A visitor's stay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stay {
    /// It was let in at some moment between these two.
    pub(crate) asked: Instant,
    pub(crate) told: Instant,
    /// It was surely inside until then.
    pub(crate) until: Instant,
    /// How often the room had begun anew before it asked.
    pub(crate) epoch: u64,
}

/// A ceiling that was asked for.
#[derive(Debug, Clone, Copy)]
struct Ceiling {
    seats: u64,
    /// It may be in force from here on,
    from: Instant,
    /// and is surely not any more from here on.
    until: Option<Instant>,
}

// === impl Inside ===

impl Inside {
    /// The ceiling of a room is about to be changed.
    pub(crate) fn may_have(&mut self, room: usize, seats: u64, now: Instant) {
        self.ceilings.entry(room).or_default().push(Ceiling { seats, from: now, until: None });
    }

    /// The last change has been answered: earlier ones are over.
    pub(crate) fn has(&mut self, room: usize, now: Instant) {
        let ceilings = self.ceilings.entry(room).or_default();
        let earlier = ceilings.len().saturating_sub(1);
        for ceiling in &mut ceilings[..earlier] {
            ceiling.until.get_or_insert(now);
        }
    }

    /// A visitor was inside.
    pub(crate) fn stayed(&mut self, room: usize, stay: Stay) {
        self.stays.entry(room).or_default().push(stay);
    }

    /// Every entry for which there cannot have been a seat: as many others were inside all the while that
    /// it was asked for as any ceiling then allowed.
    pub(crate) fn overfull(&self) -> Vec<String> {
        let rooms = self.stays.iter().filter_map(|(room, stays)| {
            let ceilings = self.ceilings.get(room)?;
            Some(stays.iter().filter_map(|stay| overfull(*room, stay, stays, ceilings)))
        });
        rooms.flatten().collect()
    }
}

fn overfull(room: usize, stay: &Stay, stays: &[Stay], ceilings: &[Ceiling]) -> Option<String> {
    let in_force = ceilings.iter().filter(|ceiling| {
        ceiling.from <= stay.told && ceiling.until.is_none_or(|until| until >= stay.asked)
    });
    let most = in_force.map(|ceiling| ceiling.seats).max()?;
    let others = stays.iter().filter(|other| {
        other.epoch == stay.epoch && other.told < stay.asked && other.until > stay.told
    });
    let others = others.count() as u64;
    (others >= most).then(|| {
        format!("room {room}: one more was let in while {others} were inside, of at most {most}")
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Of a room with two seats, in which these stay: asked, told, until, in seconds.
    fn found(stays: &[[u64; 3]], more_seats_at: Option<[u64; 2]>) -> usize {
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut inside = Inside::default();
        inside.may_have(0, 2, at(0));
        inside.has(0, at(0));
        if let Some([asked, told]) = more_seats_at {
            inside.may_have(0, 3, at(asked));
            inside.has(0, at(told));
        }
        for [asked, told, until] in stays {
            let (asked, told, until) = (at(*asked), at(*told), at(*until));
            inside.stayed(0, Stay { asked, told, until, epoch: 0 });
        }
        inside.overfull().len()
    }

    #[test]
    fn one_too_many_is_found() {
        assert_eq!(found(&[[1, 2, 9], [1, 2, 9], [3, 4, 5]], None), 1);
        assert_eq!(found(&[[1, 2, 9], [1, 2, 9], [3, 4, 5]], Some([2, 3])), 0);
        assert_eq!(found(&[[1, 2, 9], [1, 2, 9], [3, 4, 5]], Some([6, 7])), 1);
    }

    #[test]
    fn who_may_have_left_or_not_have_come_yet_takes_no_seat() {
        assert_eq!(found(&[[1, 2, 9], [1, 2, 3], [3, 4, 5]], None), 0, "one left meanwhile");
        assert_eq!(found(&[[1, 2, 9], [1, 4, 9], [3, 4, 5]], None), 0, "two came together");
    }

    #[test]
    fn after_a_new_beginning_those_of_before_do_not_count() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let mut inside = Inside::default();
        inside.may_have(0, 1, now);
        let stay = Stay { asked: now, told: now + second, until: now + 9 * second, epoch: 0 };
        inside.stayed(0, stay);
        let later = Stay { asked: now + 2 * second, told: now + 3 * second, epoch: 2, ..stay };
        inside.stayed(0, later);
        assert!(inside.overfull().is_empty());
        inside.stayed(0, Stay { epoch: 0, ..later });
        assert_eq!(inside.overfull().len(), 1);
    }
}
