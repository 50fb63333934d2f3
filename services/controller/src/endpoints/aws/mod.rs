//! The private calls of the AWS-style API, as its clients know them: their statuses and bodies, to
//! the letter. Errors are `{"error": …}` or `{"message": …}`, not problem documents.

mod certainty;
pub(crate) mod expired_tokens;
pub(crate) mod generate_token;
pub(crate) mod increment_serving_counter;
pub(crate) mod num_active_tokens;
pub(crate) mod reset_initial_state;
pub(crate) mod update_session;
