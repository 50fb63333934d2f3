//! One file for each operation: its documentation, its handler, its errors. Where they are found
//! is in [`crate::router`].

pub mod aws;
pub mod delete_room;
pub mod events;
pub mod get_history;
pub mod get_room;
pub mod get_status;
pub mod list_rooms;
pub mod match_request;
pub mod patch_room;
pub mod put_room;
pub mod reset_room;
pub mod revoke_session;
pub mod rotate_keys;
