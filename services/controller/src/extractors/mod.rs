//! What happens to a request before its endpoint sees it: who may call, and the form of AWS-style
//! bodies and queries. The `/v1` calls use the extractors of `vestibule-runtime`.

mod aws_body;
mod aws_query;
mod bearer;
mod upload;

pub use aws_body::{AwsBody, WholeNumber};
pub use aws_query::EventQuery;
pub use bearer::{require_bearer, require_bearer_aws_style};
pub use upload::Upload;
