//! Creating a room, or changing its settings.

use redis::ScriptInvocation;
use vestibule_domain::{RoomId, RoomSettings};

use super::{keys, optional};
use crate::{
    Store, StoreError,
    keys::{self as spelling, Part},
    scripts,
};

/// What became of a put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// The room is new.
    Created,
    /// The room was there; its settings are the new ones, its line is as it was.
    Changed,
    /// Someone else changed the settings since the caller read them: nothing has changed.
    Conflict,
}

impl Store {
    /// Creates a room or changes its settings. With `expected`, only if the settings are still
    /// those.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn put_room(
        &self,
        room: &RoomId,
        settings: &RoomSettings,
        expected: Option<&RoomSettings>,
    ) -> Result<Put, StoreError> {
        let parts = [Part::Line, Part::Settings, Part::Sessions, Part::Rate];
        let expected = expected.map(json).transpose()?.unwrap_or_default();
        // First the list: a room that is listed and not there yet does no harm.
        self.query::<()>(redis::cmd("SADD").arg(spelling::ROOMS).arg(room.as_str())).await?;
        let mut call = self.timed(&scripts::PUT_ROOM, &keys(room, parts));
        call.arg(room.as_str()).arg(expected);
        settings_arguments(&mut call, settings)?;
        Ok(match self.run::<u8>(&call).await? {
            2 => Put::Created,
            1 => Put::Changed,
            _ => Put::Conflict,
        })
    }
}

/// The settings as `write_settings` in `lib/room.lua` takes them.
pub(super) fn settings_arguments(
    call: &mut ScriptInvocation<'_>,
    settings: &RoomSettings,
) -> Result<(), StoreError> {
    call.arg(json(settings)?).arg(optional(settings.total_active_users));
    call.arg(optional(settings.new_users_per_minute)).arg(settings.session_duration_seconds);
    call.arg(settings.token_validity_seconds).arg(optional(settings.position_expiry_seconds));
    call.arg(u8::from(settings.advance_on_position_expiry));
    call.arg(u8::from(settings.queue_all)).arg(u8::from(settings.suspended));
    Ok(())
}

fn json(settings: &RoomSettings) -> Result<String, StoreError> {
    serde_json::to_string(settings).map_err(StoreError::unexpected)
}
