//! The span of a call to Redis, if its caller is recorded: which script, of which room, and what came of it. It has no
//! keys and no arguments.

use vestibule_domain::RoomId;
use vestibule_traces::{KeyValue, SpanBuilder, SpanKind, child, note, spanned};

use crate::{StoreError, scripts::Command};

/// Runs `call`, which is that of `command`.
pub(crate) async fn of_script<T>(
    command: &Command,
    room: Option<&RoomId>,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let span = child(|| describe(command.name(), room));
    let call = async {
        let answer = call.await;
        if let Err(error) = &answer {
            note(|span| span.fail(error.kind()));
        }
        answer
    };
    spanned(span, call).await
}

fn describe(script: &'static str, room: Option<&RoomId>) -> SpanBuilder {
    let mut attributes = vec![
        KeyValue::new("db.system.name", "redis"),
        KeyValue::new("db.operation.name", "EVALSHA"),
        KeyValue::new("db.stored_procedure.name", script),
    ];
    if let Some(room) = room {
        attributes.push(KeyValue::new("vestibule.room", room.to_string()));
    }
    SpanBuilder::from_name(format!("EVALSHA {script}"))
        .with_kind(SpanKind::Client)
        .with_attributes(attributes)
}
