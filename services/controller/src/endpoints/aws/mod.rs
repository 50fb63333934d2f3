//! The private calls of the AWS-style API, as its clients know them: their statuses and bodies, to
//! the letter. Errors are `{"error": …}` or `{"message": …}`, not problem documents.

pub mod expired_tokens;
pub mod generate_token;
pub mod increment_serving_counter;
pub mod num_active_tokens;
pub mod reset_initial_state;
pub mod update_session;
