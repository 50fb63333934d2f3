//! Rooms come, change and go.

use super::{Called, Chances, Pair};
use crate::compared::random::{config, once_in, one};

/// Reads the room, so that later calls name what is there.
pub(super) async fn look(pair: &mut Pair, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    let read =
        pair.one(format!("read_snapshot({id})"), async |side| side.store.read_snapshot(&id).await);
    let snapshot = read.await?.flatten();
    pair.looks.extend(snapshot.clone());
    pair.memory[room].snapshot = snapshot;
    Ok(())
}

pub(super) async fn put_config(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    let mut config = config(chances, pair.clock.now_ms() / 1000);
    if once_in(chances, 3) {
        config.version = pair.memory[room].config.version + one(chances, &[0, 0, 1]);
    }
    if once_in(chances, 4) {
        let name = format!("create_room({id}, {config:?})");
        pair.one(name, async |side| side.store.create_room(&id, &config).await).await?;
    } else {
        let name = format!("put_config({id}, {config:?})");
        pair.one(name, async |side| side.store.put_config(&id, &config).await).await?;
    }
    let read =
        pair.one(format!("read_config({id})"), async |side| side.store.read_config(&id).await);
    pair.memory[room].config = read.await?.flatten().unwrap_or_default();
    Ok(())
}

pub(super) async fn reset(pair: &mut Pair, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    pair.one(format!("reset({id})"), async |side| side.store.reset(&id).await).await?;
    Ok(())
}

pub(super) async fn delete(pair: &mut Pair, room: usize) -> Called {
    let id = pair.rooms[room].clone();
    let people = (room == 0).then_some(3);
    let call = format!("delete_room({id}, {people:?})");
    pair.one(call, async |side| side.store.delete_room(&id, people).await).await?;
    Ok(())
}
