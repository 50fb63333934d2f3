//! Against a small server on this machine that tells real rounds, and everything else a server
//! may say instead.

use std::{io::Read, net::SocketAddr};

use axum::{Json, Router, extract::Path, response::Redirect, routing::get};
use serde_json::{Value, json};

use super::*;

/// Quicknet and its round 657413.
const QUICKNET: &str = "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a";
const ROUND: u64 = 657_413;
const SIGNATURE: &str = "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b";
const RANDOMNESS: &str = "fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587";

/// The first mainnet, which is chained, and its round 1.
const MAINNET: &str = "868f005eb8e6e4ca0a47c8a77ceaa5309a47978a7c71bc5cce96366b5d7a569937c529eeda66c7293784a9402801af31";
const MAINNET_SIGNATURE: &str = "8d61d9100567de44682506aea1a7a6fa6e5491cd27a0a0ed349ef6910ac5ac20ff7bc3e09d7c046566c9f7f3c6f3b10104990e7cb424998203d8f7de586fb7fa5f60045417a432684f85093b06ca91c769f0e7ca19268375e659c2a2352b4655";
const MAINNET_PREVIOUS: &str = "176f93498eac9ca337150b46d21dd58673ea4e3581185f869672e59fa4cb390a";
const MAINNET_RANDOMNESS: &str = "101297f1ca7dc44ef6088d94ad5fb7ba03455dc33d53ddb412bbc4564ed986ec";

fn quicknet() -> Value {
    json!({ "round": ROUND, "randomness": RANDOMNESS, "signature": SIGNATURE })
}

/// Quicknet's round with one field told differently.
fn with(field: &str, value: Value) -> Value {
    let mut told = quicknet();
    told[field] = value;
    told
}

fn mainnet() -> Value {
    json!({
        "round": 1, "randomness": MAINNET_RANDOMNESS, "signature": MAINNET_SIGNATURE,
        "previous_signature": MAINNET_PREVIOUS,
    })
}

async fn tell(Path((chain, round)): Path<(String, u64)>) -> Result<Json<Value>, StatusCode> {
    let told = match chain.as_str() {
        "quicknet" if round == ROUND => quicknet(),
        "quicknet" => return Err(StatusCode::NOT_FOUND),
        "early" => return Err(StatusCode::TOO_EARLY),
        "broken" => return Err(StatusCode::BAD_GATEWAY),
        "mainnet" => mainnet(),
        "empty-previous" => with("previous_signature", json!("")),
        "other-round" => with("round", json!(ROUND + 1)),
        "other-signature" => with("signature", json!(SIGNATURE.replacen('b', "a", 1))),
        "other-randomness" => with("randomness", json!(MAINNET_RANDOMNESS)),
        "no-signature" => json!({ "round": ROUND, "randomness": RANDOMNESS }),
        "padded" => with("padding", json!("x".repeat(LARGEST_ANSWER))),
        "silent" => std::future::pending().await,
        _ => return Err(StatusCode::INTERNAL_SERVER_ERROR),
    };
    Ok(Json(told))
}

async fn server() -> SocketAddr {
    let routes = Router::new()
        .route("/{chain}/public/{round}", get(tell))
        .route("/elsewhere/{round}", get(|| async { Json(quicknet()) }))
        .route("/moved/public/{round}", get(|| async { Redirect::to("/elsewhere/657413") }))
        .route("/junk/public/{round}", get(|| async { "<html>hello</html>" }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, routes).await });
    address
}

/// The beacons of these tests are on this machine.
fn client() -> BeaconClient {
    BeaconClient::new(true)
}

async fn ask(chain: &str, round: u64, public_key: &str) -> BeaconReply {
    let url = format!("http://{}/{chain}", server().await);
    let beacon = Beacon { url, round, public_key: public_key.to_owned() };
    client().ask(&beacon).await
}

async fn reason(chain: &str) -> BeaconFailure {
    match ask(chain, ROUND, QUICKNET).await {
        BeaconReply::Wrong(reason) => reason,
        other => panic!("{chain}: {other:?}"),
    }
}

#[tokio::test]
async fn a_genuine_round_is_taken() {
    for chain in ["quicknet", "quicknet/", "empty-previous"] {
        let BeaconReply::Verified(round) = ask(chain, ROUND, QUICKNET).await else {
            panic!("{chain}: not verified");
        };
        assert_eq!(to_hex(&round.randomness), RANDOMNESS);
        let outcome = BeaconOutcome::Verified {
            signature: SIGNATURE.to_owned(),
            previous_signature: None,
            randomness: RANDOMNESS.to_owned(),
        };
        assert_eq!(round.outcome(), outcome);
    }
}

#[tokio::test]
async fn a_chained_round_comes_with_the_one_before() {
    let BeaconReply::Verified(round) = ask("mainnet", 1, MAINNET).await else {
        panic!("not verified");
    };
    assert_eq!(to_hex(&round.randomness), MAINNET_RANDOMNESS);
    assert_eq!(round.previous_signature.as_deref(), Some(MAINNET_PREVIOUS));
}

#[tokio::test]
async fn a_round_that_lies_ahead_is_not_there_yet() {
    assert_eq!(ask("quicknet", ROUND + 1, QUICKNET).await, BeaconReply::NotYet);
    assert_eq!(ask("early", ROUND, QUICKNET).await, BeaconReply::NotYet);
}

#[tokio::test]
async fn nothing_but_the_genuine_round_is_taken() {
    assert_eq!(reason("other-round").await, BeaconFailure::OtherRound(ROUND + 1));
    assert_eq!(reason("other-randomness").await, BeaconFailure::Randomness);
    assert_eq!(reason("other-signature").await, BeaconFailure::Signature(BeaconError::Malformed));
    let other_key = ask("quicknet", ROUND, MAINNET).await;
    assert_eq!(other_key, BeaconReply::Wrong(BeaconFailure::Signature(BeaconError::Malformed)));
}

#[tokio::test]
async fn answers_that_are_no_rounds_are_refused() {
    assert_eq!(reason("broken").await, BeaconFailure::Status(StatusCode::BAD_GATEWAY));
    assert_eq!(reason("moved").await, BeaconFailure::Status(StatusCode::SEE_OTHER));
    for chain in ["junk", "no-signature", "padded"] {
        let reason = reason(chain).await;
        assert!(matches!(reason, BeaconFailure::Body(_)), "{chain}: {reason}");
    }
}

#[tokio::test]
async fn nobody_is_waited_for_too_long() {
    let url = format!("http://{}/silent", server().await);
    let beacon = Beacon { url, round: ROUND, public_key: QUICKNET.to_owned() };
    let patience = Duration::from_millis(50);
    let answer = BeaconClient { timeout: patience, ..client() }.ask(&beacon).await;
    assert_eq!(answer, BeaconReply::Wrong(BeaconFailure::Silent(patience)));
}

#[tokio::test]
async fn a_beacon_out_of_reach_is_said_to_be() {
    // Bound and dropped: nobody listens there.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = listener.local_addr().unwrap();
    drop(listener);
    for (url, public_key) in [(format!("http://{nobody}"), QUICKNET), ("https://".into(), MAINNET)]
    {
        let beacon = Beacon { url, round: 1, public_key: public_key.to_owned() };
        let answer = client().ask(&beacon).await;
        let unusable = matches!(
            &answer,
            BeaconReply::Wrong(BeaconFailure::Unreachable(_) | BeaconFailure::Address(_))
        );
        assert!(unusable, "{answer:?}");
    }
}

#[tokio::test]
async fn https_is_spoken() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let greeted = tokio::task::spawn_blocking(move || {
        let mut greeting = [0; 2];
        listener.accept().unwrap().0.read_exact(&mut greeting).map(|()| greeting)
    });
    let beacon = Beacon { url, round: ROUND, public_key: QUICKNET.to_owned() };
    let answer = client().ask(&beacon).await;
    assert!(matches!(answer, BeaconReply::Wrong(BeaconFailure::Unreachable(_))), "{answer:?}");
    assert_eq!(greeted.await.unwrap().unwrap(), [0x16, 0x03], "a TLS handshake");
}

#[tokio::test]
async fn a_private_address_is_connected_to_only_if_that_was_said() {
    let address = server().await;
    let (careful, nobody) = (BeaconClient::new(false), [169, 254, 169, 254].into());
    let ask = async |client: &BeaconClient, host: &str| {
        let url = format!("http://{host}:{}/quicknet", address.port());
        client.ask(&Beacon { url, round: ROUND, public_key: QUICKNET.to_owned() }).await
    };
    for host in ["127.0.0.1", "0x7f000001", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254"] {
        let answer = ask(&careful, host).await;
        assert_eq!(answer, BeaconReply::Wrong(BeaconFailure::Address(NOT_PUBLIC)), "{host}");
    }
    let answer = ask(&careful, "localhost").await;
    let BeaconReply::Wrong(BeaconFailure::Unreachable(reason)) = answer else {
        panic!("{answer:?}");
    };
    assert!(reason.contains("no address that may be connected to"), "{reason}");
    assert!(matches!(ask(&client(), "127.0.0.1").await, BeaconReply::Verified(_)));
    assert!(!(client().may_ask)(nobody), "whatever was said");
}
