//! What belongs to no room: keys, the schema, changes that every admission must apply, lists.

use std::time::Duration;

use vestibule_domain::webhook::{EventStream, Place};
use vestibule_store::{
    AuditLimits, AuditList, AuditQuery, DeploymentCopy, Observed, OutgoingEvent,
};

use super::{Called, Chances, Pair};
use crate::compared::{
    pair::Side,
    random::{instance, once_in, one, region},
};

pub(super) async fn keys_and_schema(pair: &mut Pair, chances: &mut Chances) -> Called {
    let (read, text) = (one(chances, &["", "a", "b"]), one(chances, &["a", "b", "ü\"{}"]));
    match chances.below(6) {
        0 => {
            let name = format!("create_key_ring({text})");
            pair.one(name, async |side| side.store.create_key_ring(text).await).await?;
        }
        1 | 2 => {
            let read = (!read.is_empty()).then_some(read);
            let name = format!("replace_key_ring({read:?}, {text})");
            pair.one(name, async |side| side.store.replace_key_ring(read, text).await).await?;
        }
        3 => {
            let newer = redis::cmd("SET").arg("vestibule:{deployment}:schema").arg(9).clone();
            pair.command("a newer schema".to_owned(), &newer).await;
        }
        4 => import(pair, chances).await?,
        _ => {
            pair.one("migrate()".to_owned(), async |side| side.store.migrate().await).await?;
        }
    }
    pair.one("key_ring()".to_owned(), async |side| side.store.key_ring().await).await?;
    pair.one("schema()".to_owned(), async |side| side.store.check_schema().await).await?;
    Ok(())
}

async fn import(pair: &mut Pair, chances: &mut Chances) -> Called {
    let copy = DeploymentCopy { schema: 1, ..DeploymentCopy::default() };
    if once_in(chances, 2) {
        let begin = async |side: &Side| side.store.begin_import(&copy).await;
        pair.one("begin_import()".to_owned(), begin).await?;
    }
    let complete = async |side: &Side| side.store.complete_import(&copy).await;
    pair.one("complete_import()".to_owned(), complete).await?;
    Ok(())
}

pub(super) async fn tokens_and_audit(pair: &mut Pair, chances: &mut Chances) -> Called {
    let (read, text) = (one(chances, &["", "a", "b"]), one(chances, &["a", "b", "ü\"{}"]));
    let read = (!read.is_empty()).then_some(read);
    let name = format!("replace_api_tokens({read:?}, {text})");
    pair.one(name, async |side| side.store.replace_api_tokens(read, text).await).await?;
    let keep = Duration::from_secs(chances.below(60));
    let limits = AuditLimits { keep, most: 1 + chances.below(9), most_bytes: chances.below(900) };
    let list = one(chances, &[AuditList::Changes, AuditList::Visits]);
    let entry = format!("{{\"what\":\"{}\"}}", "x".repeat(usize::from(once_in(chances, 2)) * 200));
    let name = format!("note_audit({list:?}, {}, {limits:?})", entry.len());
    pair.one(name, async |side| side.store.note_audit(list, &entry, limits).await).await?;
    let since = (pair.clock.now_ms() - chances.below(60_000)) * 1_000;
    let before = once_in(chances, 2).then_some(pair.clock.now_ms() * 1_000 - chances.below(9_000));
    let query = AuditQuery { before, since, limit: chances.below(4) };
    let name = format!("read_audit({list:?}, {query:?})");
    pair.one(name, async |side| side.store.read_audit(list, query).await).await?;
    Ok(())
}

pub(super) async fn webhooks(pair: &mut Pair, chances: &mut Chances) -> Called {
    let (read, text) = (one(chances, &["", "a", "b"]), one(chances, &["a", "b", "ü\"{}"]));
    let read = (!read.is_empty()).then_some(read);
    let name = format!("replace_webhooks({read:?}, {text})");
    pair.one(name, async |side| side.store.replace_webhooks(read, text).await).await?;
    let event = |id: &&str| OutgoingEvent {
        id: (*id).to_owned(),
        kind: "alarm.firing".to_owned(),
        room: String::new(),
        body: text.to_owned(),
    };
    let events: Vec<_> = ["1", "2", "3"][..one(chances, &[0, 1, 3])].iter().map(event).collect();
    let most = 1 + chances.below(5);
    let stream = one(chances, &EventStream::ALL);
    let name = format!("post_events({stream:?}, {}, {most})", events.len());
    pair.one(name, async |side| side.store.post_events(stream, &events, most).await).await?;
    let (epoch, seen) = (chances.below(9), [("room:a".to_owned(), text.to_owned())].into());
    let observed = Observed { seen, forgotten: vec!["room:b".to_owned()], events };
    let name = format!("note_observed({epoch}, {observed:?}, {most})");
    pair.one(name, async |side| side.store.note_observed(epoch, &observed, most).await).await?;
    let name = format!("note_delivery({epoch}, {text})");
    pair.one(name, async |side| side.store.note_delivery(epoch, "ops", text).await).await?;
    let id = format!("{}-0", pair.clock.now_ms() - chances.below(9_000));
    let place = Place { id, nth: chances.below(9) };
    let name = format!("read_events({stream:?}, {place:?})");
    pair.one(name, async |side| side.store.read_events(stream, &place, 2).await).await?;
    let name = format!("last_event({stream:?})");
    pair.one(name, async |side| side.store.last_event(stream).await).await?;
    let names = &["ops".to_owned(), "a".to_owned()][..one(chances, &[0, 2, 2, 2])];
    let kept_ms = chances.below(9_000);
    let name = format!("tidy_outbox({epoch}, {stream:?}, {read:?}, {names:?}, {kept_ms})");
    let whose = (read, names);
    pair.one(name, async |side| side.store.tidy_outbox(epoch, stream, whose, kept_ms).await)
        .await?;
    pair.one("observed()".to_owned(), async |side| side.store.observed().await).await?;
    pair.one("deliveries()".to_owned(), async |side| side.store.deliveries().await).await?;
    Ok(())
}

pub(super) async fn changes(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, who, now) = (pair.rooms[room].clone(), instance(chances), pair.clock.now_ms());
    let revision = now + one(chances, &[0, 1, 2]) - one(chances, &[0, 0, 5_000]);
    match chances.below(8) {
        0..=2 => {
            let name = format!("note_change({id})");
            pair.one(name, async |side| side.store.note_change(&id).await).await?;
        }
        3..=5 => {
            let known = (!once_in(chances, 5)).then_some(revision);
            let name = format!("take_changes({who}, {known:?})");
            pair.one(name, async |side| side.store.take_changes(who, known).await).await?;
        }
        6 => {
            let name = format!("take_no_more_changes({who})");
            pair.one(name, async |side| side.store.take_no_more_changes(who).await).await?;
        }
        _ => {}
    }
    let behind = async |side: &Side| {
        let mut behind = side.store.lagging(revision).await?;
        // In the order of the server's hash.
        behind.sort_unstable();
        Ok(behind)
    };
    pair.one(format!("lagging({revision})"), behind).await?;
    Ok(())
}

pub(super) async fn lists(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, region) = (pair.rooms[room].clone(), region(chances));
    let known = once_in(chances, 3).then_some(7);
    let name = format!("region_index({region}, {known:?})");
    pair.one(name, async |side| side.store.region_index(region, known).await).await?;
    pair.one("rooms()".to_owned(), async |side| side.store.rooms().await).await?;
    let name = format!("accounts({id})");
    pair.one(name, async |side: &Side| side.store.accounts(&id).await).await?;
    pair.one("tombstones()".to_owned(), async |side| side.store.tombstones().await).await?;
    let since = (!once_in(chances, 3)).then(|| pair.clock.now_ms() - chances.below(9_000));
    let name = format!("take_burials({since:?})");
    pair.one(name, async |side| side.store.take_burials(since).await).await?;
    if once_in(chances, 4) {
        let epoch = chances.below(9);
        let name = format!("bury({id}, {epoch})");
        pair.one(name, async |side| side.store.bury(&id, epoch).await).await?;
    }
    Ok(())
}
