//! How endpoints get at what they are sent, where the extractors of `vestibule-runtime` do not fit:
//! AWS-style bodies and queries, uploaded files, and the room in an address.

mod aws_body;
mod event_query;
mod room_path;
mod upload;

pub(crate) use aws_body::{AwsBody, WholeNumber};
pub(crate) use event_query::EventQuery;
pub(crate) use room_path::RoomPath;
pub(crate) use upload::Upload;
