//! An AWS-style private call that is signed, by AWS Signature Version 4: what it costs to check it. It names a request id
//! that is none, which is answered 400 and asks Redis nothing; so the rest is the way that every private call takes.

use anyhow::Result;
use vestibule_tests::AwsSigner;

use super::Bench;
use crate::{
    deployment::SIGNER,
    driver::Caller,
    report::{Figures, Target, Unit},
};

const ROOM: &str = "bench-signed";
const PATH: &str = "/api/update_session";
const BODY: &[u8] = br#"{"event_id":"bench-signed","request_id":"none","status":1}"#;
const RATIO: Target = Target::AtLeast(0.5);
/// There should be no calls except in the background; this allows for the error of subtracting
/// those.
const CALLS: Target = Target::Below(0.01);

/// Measures signed calls. A signature holds for five minutes, so one is enough.
pub(crate) async fn signed_call(bench: &mut Bench) -> Result<Figures> {
    bench.make_operated_room(ROOM).await?;
    let controller = bench.deployment.controller;
    let (key_id, secret) = SIGNER;
    let url = format!("http://{}{PATH}", controller.address).parse()?;
    let mut headers = AwsSigner::new(key_id, secret).headers("POST", &url, BODY);
    headers.push(("host", controller.address.to_string()));
    let callers = vec![Caller::misaddressing(PATH, &headers, BODY); bench.connections()];
    let background = bench.background().await?;
    let comparison = bench.compare_at(controller, "POST", callers).await?;
    let calls = background.per_request(&comparison.measured);
    let figures = comparison.figures_of_controller("signed call", RATIO);
    Ok(figures.add("script calls per request", Unit::Number, calls).with_target(CALLS))
}
