//! One file for each operation: its documentation, its handler, its errors. Where they are found
//! is in [`crate::router`].

pub(crate) mod aws;
pub(crate) mod create_client_secret;
pub(crate) mod create_pass;
pub(crate) mod create_sigv4_key;
pub(crate) mod create_token;
pub(crate) mod delete_logo;
pub(crate) mod delete_page;
pub(crate) mod delete_room;
pub(crate) mod events;
pub(crate) mod get_config;
pub(crate) mod get_history;
pub(crate) mod get_logo;
pub(crate) mod get_page;
pub(crate) mod get_room;
pub(crate) mod get_status;
pub(crate) mod import_key;
pub(crate) mod list_rooms;
pub(crate) mod list_sigv4_keys;
pub(crate) mod list_tokens;
pub(crate) mod match_request;
pub(crate) mod patch_room;
pub(crate) mod preview_page;
pub(crate) mod put_config;
pub(crate) mod put_logo;
pub(crate) mod put_page;
pub(crate) mod put_room;
pub(crate) mod read_audit;
pub(crate) mod reset_room;
pub(crate) mod responses;
pub(crate) mod revoke_session;
pub(crate) mod revoke_sigv4_key;
pub(crate) mod revoke_token;
pub(crate) mod rotate_keys;
pub(crate) mod webhooks;
pub(crate) mod withdraw_key;
