//! The public AWS-style calls, with no prefix. Statuses and bodies are those that their clients
//! know: see `vestibule_issuance::aws`.

mod assign_queue_num;
mod event;
mod generate_token;
mod get_public_key;
mod get_queue_num;
mod get_queue_pos_expiry;
mod get_serving_num;
mod get_waiting_num;

pub(crate) use assign_queue_num::*;
pub(crate) use generate_token::*;
pub(crate) use get_public_key::*;
pub(crate) use get_queue_num::*;
pub(crate) use get_queue_pos_expiry::*;
pub(crate) use get_serving_num::*;
pub(crate) use get_waiting_num::*;
