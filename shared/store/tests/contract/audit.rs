//! The audit log: the newest first, in pages, and never more of it than was said. And the set of tokens, which is
//! changed by whoever has read it as it is.

use std::time::Duration;

use serde_json::{Value, json};
use vestibule_store::{AuditLimits, AuditList, AuditQuery, ManualClock};

use crate::world::World;

crate::on_every_server!(
    entries_are_read_in_pages_from_the_newest_on,
    entries_of_one_moment_and_of_a_clock_that_went_back_have_ids_that_rise,
    old_entries_are_forgotten,
    there_are_no_more_entries_and_bytes_than_were_said,
    no_more_than_a_megabyte_is_read_at_once,
    calls_for_visitors_push_nothing_out,
    of_two_who_change_the_tokens_one_has_to_read_them_again,
);

const PLENTY: AuditLimits =
    AuditLimits { keep: Duration::from_hours(24), most: 1_000, most_bytes: 1_000_000 };

async fn note(world: &World, text: &str, limits: AuditLimits) -> u64 {
    let entry = json!({ "what": text }).to_string();
    world.store.note_audit(AuditList::Changes, &entry, limits).await.unwrap()
}

async fn read(world: &World, before: Option<u64>, since: u64, limit: u64) -> Vec<(u64, String)> {
    let query = AuditQuery { before, since, limit };
    let entries = world.store.read_audit(AuditList::Changes, query).await.unwrap().entries;
    let entry = |text: String| {
        let entry: Value = serde_json::from_str(&text).unwrap();
        (entry["id"].as_u64().unwrap(), entry["what"].as_str().unwrap().to_owned())
    };
    entries.into_iter().map(entry).collect()
}

async fn texts(world: &World) -> Vec<String> {
    read(world, None, 0, 1_000).await.into_iter().map(|(_, text)| text).collect()
}

async fn entries_are_read_in_pages_from_the_newest_on(world: World) {
    assert!(read(&world, None, 0, 10).await.is_empty());
    let mut ids = Vec::new();
    for text in ["a", "ü\"{}\n", "c", "d"] {
        ids.push(note(&world, text, PLENTY).await);
        world.seconds(1);
    }
    assert_eq!(ids[0], world.clock.now_ms() * 1_000 - 4_000_000);
    let all = read(&world, None, 0, 10).await;
    assert_eq!(all.iter().map(|(id, _)| *id).rev().collect::<Vec<_>>(), ids);
    assert_eq!(all[2].1, "ü\"{}\n");
    assert_eq!(read(&world, None, 0, 3).await, all[..3]);
    assert_eq!(read(&world, Some(ids[1]), 0, 3).await, all[3..]);
    assert_eq!(read(&world, Some(ids[3]), ids[1], 9).await, all[1..3]);
    assert!(read(&world, Some(ids[0]), 0, 9).await.is_empty());
    assert!(read(&world, Some(ids[0]), ids[2], 9).await.is_empty());
}

async fn entries_of_one_moment_and_of_a_clock_that_went_back_have_ids_that_rise(world: World) {
    let first = note(&world, "same", PLENTY).await;
    let second = note(&world, "same", PLENTY).await;
    assert_eq!(second, first + 1);
    let earlier = world.server.store(&ManualClock::at(world.clock.now_ms() - 60_000));
    let entry = json!({ "what": "earlier" }).to_string();
    let third = earlier.note_audit(AuditList::Changes, &entry, PLENTY).await.unwrap();
    assert_eq!(third, first + 2);
    assert_eq!(texts(&world).await, ["earlier", "same", "same"]);
}

async fn old_entries_are_forgotten(world: World) {
    note(&world, "old", PLENTY).await;
    world.seconds(86_400);
    note(&world, "a", PLENTY).await;
    assert_eq!(texts(&world).await, ["a", "old"]);
    world.seconds(1);
    note(&world, "b", PLENTY).await;
    assert_eq!(texts(&world).await, ["b", "a"]);
}

async fn there_are_no_more_entries_and_bytes_than_were_said(world: World) {
    for number in 0..5 {
        note(&world, &number.to_string(), AuditLimits { most: 3, ..PLENTY }).await;
    }
    assert_eq!(texts(&world).await, ["4", "3", "2"]);
    let few = AuditLimits { most_bytes: 400, ..PLENTY };
    for letter in ["a", "b", "c"] {
        note(&world, &letter.repeat(150), few).await;
    }
    assert_eq!(texts(&world).await, ["c".repeat(150), "b".repeat(150)]);
    note(&world, &"d".repeat(1_000), few).await;
    assert_eq!(texts(&world).await, ["d".repeat(1_000)], "the last one stays, however long");
}

/// Else whoever asks for a few entries stops all others for as long as it takes to read those of a release that noted long
/// ones.
async fn no_more_than_a_megabyte_is_read_at_once(world: World) {
    let plenty = AuditLimits { most_bytes: 100_000_000, ..PLENTY };
    for bytes in [1_500_000, 400_000, 400_000, 400_000] {
        note(&world, &"x".repeat(bytes), plenty).await;
    }
    let page = async |before, limit| {
        let query = AuditQuery { before, since: 0, limit };
        let page = world.store.read_audit(AuditList::Changes, query).await.unwrap();
        let last: Value = serde_json::from_str(page.entries.last().unwrap()).unwrap();
        (page.entries.len(), page.is_last, last["id"].as_u64())
    };
    let (entries, is_last, before) = page(None, 100).await;
    assert_eq!((entries, is_last), (2, false));
    let (entries, is_last, before) = page(before, 100).await;
    assert_eq!((entries, is_last), (1, false), "the next one is too long");
    let (entries, is_last, _) = page(before, 100).await;
    assert_eq!((entries, is_last), (1, true), "one is told, however long");
    assert_eq!(page(None, 1).await.0, 1);
}

async fn calls_for_visitors_push_nothing_out(world: World) {
    let limits = AuditLimits { most: 2, ..PLENTY };
    note(&world, "change", limits).await;
    for _ in 0..5 {
        world.store.note_audit(AuditList::Visits, r#"{"what":"x"}"#, limits).await.unwrap();
    }
    assert_eq!(texts(&world).await, ["change"]);
    let query = AuditQuery { before: None, since: 0, limit: 10 };
    assert_eq!(world.store.read_audit(AuditList::Visits, query).await.unwrap().entries.len(), 2);
}

async fn of_two_who_change_the_tokens_one_has_to_read_them_again(world: World) {
    let store = &world.store;
    assert_eq!(store.api_tokens().await.unwrap(), None);
    assert!(!store.replace_api_tokens(Some("a"), "b").await.unwrap());
    assert!(store.replace_api_tokens(None, "a").await.unwrap());
    assert!(!store.replace_api_tokens(None, "b").await.unwrap());
    assert!(store.replace_api_tokens(Some("a"), "ü").await.unwrap());
    assert_eq!(store.api_tokens().await.unwrap().as_deref(), Some("ü"));
}
