//! Asking how rooms stand.

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;

use super::{client::ControllerClient, error::TerminalError, table::Status};

/// How many rooms are asked about at a time.
const AT_A_TIME: usize = 8;

#[derive(Deserialize)]
struct RoomList {
    rooms: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    room: String,
}

/// How all rooms stand that the token is for, by name.
///
/// # Errors
/// [`TerminalError`].
pub(super) async fn all(client: &ControllerClient) -> Result<Vec<Status>, TerminalError> {
    let list: RoomList = client.get("/v1/rooms").await?;
    let asked = list.rooms.into_iter().map(async |named| match status(client, &named.room).await {
        // Deleted meanwhile.
        Err(TerminalError::Refused(refusal)) if refusal.status == 404 => Ok(None),
        other => other.map(Some),
    });
    let told: Vec<_> = stream::iter(asked).buffered(AT_A_TIME).try_collect().await?;
    Ok(told.into_iter().flatten().collect())
}

/// How one room stands.
///
/// # Errors
/// [`TerminalError`].
pub(super) async fn status(client: &ControllerClient, room: &str) -> Result<Status, TerminalError> {
    let told = client.get(&format!("/v1/rooms/{room}/status")).await;
    told.map_err(|error| error.of_room(room))
}
