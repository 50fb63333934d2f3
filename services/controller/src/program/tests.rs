//! Placing events in a program: seeds, commitments and refusals, without Redis. Changing it under
//! concurrency is a scenario's.

use clap::Parser;
use vestibule_runtime::metrics::Registry;

use super::*;
use crate::{cli::Cli, config::Config};

/// A controller whose Redis cannot be reached.
fn cut_off() -> std::sync::Arc<Controller> {
    let cli = Cli::parse_from([
        "test",
        "--secret=0123456789abcdef0123456789abcdef",
        "--api-token=0123456789abcdef",
        "--redis-url=redis://127.0.0.1:1",
    ]);
    let address = ([127, 0, 0, 1], 8081).into();
    Controller::start(Config::read(&cli).unwrap(), address, &mut Registry::default())
}

fn drawn() -> Event {
    let json = r#"{"name":"a","prequeue_start":1000,"start":2000,"end":3000,"draw":true}"#;
    serde_json::from_str(json).unwrap()
}

fn room() -> RoomId {
    "sale".parse().unwrap()
}

#[tokio::test]
async fn a_draw_has_a_seed_of_its_own_which_it_keeps() {
    let controller = cut_off();
    let mut program = Program::default();
    let mut place = |event| controller.place_event(&room(), &mut program, event, 0).unwrap();
    let (first, is_new) = place(drawn());
    assert!(is_new && first.draw_id.len() == 32, "{first:?}");
    let seed = controller.secret.draw_seed(&room(), &first.draw_id);
    assert_eq!(first.commitment, Some(draw::commitment(&seed)));
    let (changed, is_new) = place(Event { end: 4000, ..drawn() });
    assert!(!is_new);
    assert_eq!(changed, Event { end: 4000, ..first.clone() });
    let (without, _) = place(Event { draw: false, ..drawn() });
    assert_eq!((without.draw_id.as_str(), without.commitment), ("", None));
    let (again, _) = place(drawn());
    assert_ne!(again.draw_id, first.draw_id);
    let other = Event { name: "b".parse().unwrap(), prequeue_start: None, draw: false, ..drawn() };
    place(Event { start: 5000, end: 6000, ..other });
    assert_eq!(program.events.len(), 2);
}

#[tokio::test]
async fn what_cannot_be_changes_nothing() {
    let controller = cut_off();
    let mut program = Program::default();
    let late = controller.place_event(&room(), &mut program, drawn(), 1001).unwrap_err();
    assert_eq!(late.errors()[0].field, "prequeue_start_time");
    assert_eq!(program, Program::default());
}
