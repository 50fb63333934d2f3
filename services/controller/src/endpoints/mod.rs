//! One file for each operation: its documentation, its handler, its errors. Where they are found
//! is in [`crate::router`].

pub mod aws;
pub mod delete_logo;
pub mod delete_page;
pub mod delete_room;
pub mod events;
pub mod get_history;
pub mod get_logo;
pub mod get_page;
pub mod get_room;
pub mod get_status;
pub mod list_rooms;
pub mod match_request;
pub mod patch_room;
pub mod preview_page;
pub mod put_logo;
pub mod put_page;
pub mod put_room;
pub mod reset_room;
pub mod revoke_session;
pub mod rotate_keys;
