//! Operations on rooms that several endpoints share: finding a room, changing its config, and
//! waiting until every admission applies the change. HTTP paths and bodies are not here.

mod apply;
mod directory;
mod draw_seeds;
mod editor;
mod error;
mod event_ids;
mod rollout;
mod routes;

pub(crate) use self::{
    apply::ApplyLease,
    directory::RoomDirectory,
    draw_seeds::DrawSeeds,
    editor::{ConfigEditor, check_settings},
    error::RoomError,
    event_ids::error_of_event_id,
    rollout::{BEHIND, Rollout},
};

#[cfg(test)]
mod tests;
