//! The calls: each draws its arguments by chance and calls both stores.

mod claims;
mod deployment;
mod leader;
mod line;
mod lost;
mod rooms;
mod ticks;

use super::{
    pair::{Mismatch, Pair},
    random::{once_in, pause_ms},
};
use crate::crowd::Chances;

type Called = Result<(), Mismatch>;

/// One call, after a pause.
pub(super) async fn call(pair: &mut Pair, chances: &mut Chances) -> Called {
    pair.clock.advance_ms(pause_ms(chances));
    let room = usize::from(once_in(chances, 4));
    // A room that nobody has put is only there now and then.
    if pair.memory[room].snapshot.is_none() && !once_in(chances, 8) {
        rooms::put_config(pair, chances, room).await?;
    }
    match chances.below(100) {
        0..=17 => line::join(pair, chances, room).await?,
        18..=33 => claims::claim(pair, chances, room).await?,
        34..=39 => line::check_in(pair, chances, room).await?,
        40 if once_in(chances, 2) => line::give_up(pair, chances, room).await?,
        40 => line::revoke(pair, chances, room).await?,
        41 => line::spend(pair, chances, room).await?,
        42..=45 => claims::touch(pair, chances, room).await?,
        46..=47 => claims::leave(pair, chances, room).await?,
        48..=49 => claims::redeem(pair, chances, room).await?,
        50..=52 => claims::extend_claim_window(pair, chances, room).await?,
        53..=55 => claims::position_expiry(pair, chances, room).await?,
        56..=68 => ticks::tick(pair, chances, room).await?,
        69..=70 => ticks::switch_phase(pair, chances, room).await?,
        71..=73 => ticks::draw(pair, chances, room).await?,
        74 if once_in(chances, 2) => line::let_in(pair, chances, room).await?,
        74 => line::note_alarm(pair, chances, room).await?,
        75 => line::replace_gone(pair, chances, room).await?,
        76..=77 => line::increment(pair, chances, room).await?,
        78 => rooms::reset(pair, room).await?,
        79 => rooms::delete(pair, room).await?,
        80..=84 => rooms::put_config(pair, chances, room).await?,
        85..=87 => lost::reconcile(pair, chances, room).await?,
        88..=89 => lost::testify(pair, chances, room).await?,
        90..=92 => leader::history(pair, chances, room).await?,
        93..=94 => leader::lease(pair, chances).await?,
        95 => deployment::keys_and_schema(pair, chances).await?,
        96..=97 => deployment::changes(pair, chances, room).await?,
        98 => deployment::lists(pair, chances, room).await?,
        99 if once_in(chances, 3) => deployment::webhooks(pair, chances).await?,
        99 if once_in(chances, 2) => deployment::tokens_and_audit(pair, chances).await?,
        _ => lost::lose(pair, chances, room).await,
    }
    rooms::look(pair, room).await
}
