//! Refusals of AWS-style calls, as the OpenAPI documents describe them.

use vestibule_runtime::shared_responses;

shared_responses! {
    /// The 400 of calls about an event. What they find before the call proper has `message`.
    pub AwsBadRequest {
        json_response "400": "The request is malformed (`message`), or it names no event, or no \
            request id of it (`error`)" ["MessageBody", "ErrorBody"],
    }

    /// The 400 of calls that any event will do for.
    pub AwsMalformed { json_response "400": "The request is malformed" ["MessageBody"] }
}
