//! Who may do what on the private side: roles, the rooms that a token is for, what tokens look like, and the set of
//! tokens, and of keys that requests are signed with, that a deployment has. Which call needs which role is the controller's to say.

mod role;
mod scope;
mod signer;
mod token_set;
mod token_text;

pub use role::{Role, UnknownRole};
pub use scope::{RoomPattern, RoomPatternError, RoomScope};
pub use signer::ApiSigner;
pub use token_set::{ApiToken, ApiTokens, MAX_API_TOKENS, TakeError};
pub use token_text::{TOKEN_PREFIX, digest, is_well_formed, make, random_text};
