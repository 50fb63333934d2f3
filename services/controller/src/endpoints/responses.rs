//! Answers that many calls share, as the OpenAPI document describes them.

use vestibule_runtime::shared_responses;

shared_responses! {
    /// Answers that every `/v1` call may give.
    pub(crate) Refusals {
        problem_response "401": "The API token is missing or wrong",
        problem_response "403": "The token lacks the role, or is for other rooms: `detail` says what is needed",
        problem_response "503": "Redis cannot be reached, or too much is going on: see Retry-After",
    }

    /// Answers of calls for a room.
    pub(crate) NoSuchRoom { problem_response "404": "There is no such room" }

    /// Answers of calls for an inlet.
    pub(crate) NoInlet { problem_response "409": "The room has no `max_size_inlet`" }

    /// Answers of messages for a room that believes none.
    pub(crate) NoTopics { problem_response "404": "There is no such room, or it has no `sns_topics`" }

    /// Answers of messages that are not believed.
    pub(crate) SnsRefusals {
        problem_response "403": "The message is of another topic, too old, or not signed by SNS: see `detail`",
        problem_response "503": "Redis or SNS cannot be reached, or too much is going on: see Retry-After",
    }

    /// Answers of calls for an event.
    pub(crate) NoSuchEvent {
        problem_response "404": "There is no such room, or it has no such event",
    }

    /// Answers of calls for a session.
    pub(crate) NoSuchSession {
        problem_response "404": "There is no such room, or no such session, or it is over",
    }

    /// Answers of calls for a signing key.
    pub(crate) NoSuchKey { problem_response "404": "There is no such key: it was withdrawn long ago, or never made" }

    /// Answers of calls for a client of OpenID Connect.
    pub(crate) NoSuchClient {
        problem_response "404": "There is no such room, or it has no such client",
    }

    /// Answers of calls for a token, or a key.
    pub(crate) NoSuchToken { problem_response "404": "There is no such token, or key" }

    /// Answers of calls for a webhook.
    pub(crate) NoSuchWebhook { problem_response "404": "There is no such webhook" }

    /// Answers of calls that change webhooks.
    pub(crate) TooManyWebhooks {
        problem_response "409": "There are as many webhooks as there may be, or others keep changing them. Nothing was changed",
    }

    /// Answers of calls that make or revoke tokens and keys.
    pub(crate) TakenToken {
        problem_response "409": "There is a token or a key of this name already, or as many as there may be, or an option has it",
    }

    /// Answers of calls that bring a signing key.
    pub(crate) KnownKey {
        problem_response "409": "A key of this `kid` is known already, or was withdrawn; or a service of an older release runs, which could not read it",
    }

    /// Answers of calls that make a signing key.
    pub(crate) UnreadKey {
        problem_response "409": "A service of an older release runs, which could not read such a key; or a room has `aws_style_api`, and `force` was not said",
    }

    /// Answers of calls for a page or a logo.
    pub(crate) NoSuchFile {
        problem_response "404": "There is no such room, or it has none of its own",
    }

    /// Answers of calls that change a room.
    pub(crate) Busy {
        problem_response "409": "Others keep changing the room. Nothing was changed",
    }

    /// Answers of a deletion of a room.
    pub(crate) Occupied {
        problem_response "409": "More people are in it than `people`: the members `waiting`, `inside` and `people` say how many. Nothing was changed",
    }

    /// Answers of calls that apply a document.
    pub(crate) ApplyConflict {
        problem_response "409": "Another document is being applied, or people are in a room that would be deleted: see `detail`. Nothing was changed, or `done` has the rooms that were",
    }

    /// Answers of calls with fields.
    pub(crate) InvalidRequest {
        problem_response "400": "A field is wrong: see `errors`. Nothing was changed",
    }

    /// Answers of calls with a body.
    pub(crate) BodyRefusals {
        problem_response "408": "The body does not arrive in time",
        problem_response "413": "The body is too long: `detail` has the limit",
    }

    /// Answers that every AWS-style call may give.
    pub(crate) AwsRefusals {
        json_response "403": "The signature or the API token is missing or wrong, lacks the role, or is for other rooms" ["MessageBody"],
        problem_response "503": "Redis cannot be reached, or too much is going on: see Retry-After",
    }

    /// Answers of AWS-style calls with a body.
    pub(crate) AwsBodyRefusals {
        json_response "408": "The body does not arrive within 10 seconds" ["MessageBody"],
        json_response "413": "The body is longer than 64 KiB" ["MessageBody"],
    }
}
