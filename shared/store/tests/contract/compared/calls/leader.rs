//! What else a leader does: its lease, and the history.

use std::time::Duration;
use vestibule_domain::ledger::{Figure, Figures};

use vestibule_store::Asking;

use super::{Called, Chances, Pair};
use crate::compared::random::{instance, leader, one};

pub(super) async fn history(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    let minute = pair.clock.now_ms() / 60_000;
    let leader = leader(chances, &mut pair.memory[room]);
    let last = minute - one(chances, &[0, 0, 1, 5, 1_440]);
    let day = last / 1_440 - one(chances, &[0, 0, 0, 1]);
    let name = format!("roll_up({id}, {leader}, {day}, {last})");
    pair.one(name, async |side| side.store.roll_up(&id, leader, day, last).await).await?;
    let (from, to) = (minute - chances.below(3_000), minute + 1 - chances.below(30));
    let name = format!("history({id}, {from}, {to})");
    pair.one(name, async |side| side.store.history(&id, from, to).await).await?;
    let regions = ["here".to_owned(), "there".to_owned()];
    let minutes = from.max(minute - 5)..=minute;
    let name = format!("read_traffic({id}, {minutes:?})");
    pair.one(name, async |side| side.store.read_traffic(&id, minutes.clone(), &regions).await)
        .await?;
    let name = format!("restore_traffic({id})");
    let arrivals = std::collections::BTreeMap::from([(regions[0].clone(), chances.below(30))]);
    let mut figures = Figures::default();
    figures.add("", Figure::Waiting, chances.below(9));
    figures.add("eu", Figure::Told(3), chances.below(9));
    let seen = vestibule_store::MinuteTraffic { arrivals, admitted: chances.below(9), figures };
    let seen = std::collections::BTreeMap::from([(last, seen)]);
    pair.one(name, async |side| side.store.restore_traffic(&id, &seen).await).await?;
    let chunk = chances.below(2);
    let name = format!("remember_places({id}, {chunk})");
    pair.one(name, async |side| side.store.remember_places(&id, chunk).await).await?;
    pair.one(format!("kept_seats({id})"), async |side| side.store.kept_seats(&id).await).await?;
    pair.one(format!("serving({id})"), async |side| side.store.serving(&id).await).await?;
    let name = format!("expired_tokens({id})");
    pair.one(name, async |side| side.store.expired_tokens(&id).await).await?;
    Ok(())
}

fn length(chances: &mut Chances) -> Duration {
    Duration::from_secs(one(chances, &[300, 3_000]))
}

/// As a rule of somebody who has made the keyspace whole in an early term, or in none.
fn asking<'a>(chances: &mut Chances, instance: &'a str) -> Asking<'a> {
    let settled = one(chances, &[None, Some(1), Some(1), Some(2), Some(1_003), Some(90_000)]);
    let known_epoch = one(chances, &[0, 0, 0, 2, 7]);
    Asking { instance, length: length(chances), known_epoch, settled }
}

/// Leases outlive a program: they go by the servers' own clocks, which no test holds.
pub(super) async fn lease(pair: &mut Pair, chances: &mut Chances) -> Called {
    let (who, known) = (instance(chances), chances.below(6));
    match chances.below(9) {
        0 => {
            let name = format!("release_lease({who})");
            pair.one(name, async |side| side.store.release_lease(who).await).await?;
        }
        1 => {
            let name = format!("begin_routes({who})");
            pair.one(name, async |side| side.store.begin_routes(who).await).await?;
        }
        2 => {
            let name = format!("end_routes({who})");
            pair.one(name, async |side| side.store.end_routes(who).await).await?;
        }
        3 => {
            let length = length(chances);
            let name = format!("lease({who}, {length:?}, {known})");
            pair.one(name, async |side| side.store.lease(who, length, known).await).await?;
        }
        _ => {
            let asking = asking(chances, who);
            let name = format!("lead({asking:?})");
            pair.one(name, async |side| side.store.lead(&asking).await).await?;
        }
    }
    pair.one("leader()".to_owned(), async |side| side.store.leader().await).await?;
    Ok(())
}
