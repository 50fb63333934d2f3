//! Which of several cookies counts: never one that a sibling of the host may have set, and the first that is a ticket.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::header::{COOKIE, SET_COOKIE};
use serde_json::json;
use vestibule_tests::{Deployment, Reply, eventually};

use crate::authorizer::{create_sale, expect};

async fn status(deployment: &Deployment, cookies: &str) -> Result<Reply> {
    let fleet = deployment.admissions();
    let request = fleet.http().get(fleet.at("/v1/rooms/sale/status")?).header(COOKIE, cookies);
    Reply::of(request).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_https_the_name_that_a_sibling_can_set_is_not_read() -> Result<()> {
    let builder = Deployment::builder();
    let deployment =
        builder.environment("VESTIBULE_PUBLIC_URL", "https://wait.example").start().await?;
    create_sale(&deployment, json!({ "total_active_users": 1 })).await?;
    let mut attacker = deployment.visitor("sale");
    ensure!(attacker.join().await?.expect(200)?.says("admitted"));
    let ticket = attacker.ticket();
    status(&deployment, &format!("vestibule_sale={ticket}")).await?.expect(400)?;
    status(&deployment, &format!("__Host-vestibule_sale={ticket}")).await?.expect(200)?;
    for blank in ['\u{2000}', '\u{a0}', '\u{3000}'] {
        let disguised = format!("{blank}__Host-vestibule_sale={ticket}");
        status(&deployment, &disguised).await?.expect(400)?;
    }

    let victim = || deployment.site_visitor("shop.example").with_cookie("vestibule_sale", ticket);
    let mut over_https = victim();
    expect(&over_https.get("/sale").await?, 503, "wait")?;
    ensure!(over_https.cookies["__Host-vestibule_sale"] != ticket, "a number of its own");
    expect(&victim().over_http().get("/sale").await?, 200, "inside")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_cookie_that_is_a_ticket_counts() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 0 })).await?;
    deployment.create_room("other", &json!({})).await?;
    let mut ann = deployment.visitor("sale");
    let number = ann.join().await?.expect(200)?.number("queue_number")?;
    let mut other = deployment.visitor("other");
    other.join().await?.expect(200)?;
    let (ticket, foreign) = (ann.ticket(), other.ticket());
    for cookies in [
        format!("vestibule_sale=garbage; vestibule_sale={ticket}"),
        format!("vestibule_sale={foreign}; vestibule_sale=; vestibule_sale={ticket}"),
        format!("vestibule_sale={ticket}; vestibule_sale=garbage"),
        format!("vestibule_sale={ticket}; __Host-vestibule_sale=garbage"),
    ] {
        let reply = status(&deployment, &cookies).await?.expect(200)?;
        assert_eq!(reply.number("queue_number")?, number, "{cookies}");
    }
    status(&deployment, "vestibule_sale=garbage").await?.expect(400)?;
    Ok(())
}

/// A name that a room gave up is read for a week; what another room has in it meanwhile is that one's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visit_to_the_room_that_gave_a_name_up_takes_nobodys_place_in_the_room_that_has_it()
-> Result<()> {
    let deployment = Deployment::builder().controllers(1).start().await?;
    let operator = deployment.operator();
    for (room, suffix, status) in
        [("june", "shop", 201), ("june", "june", 200), ("july", "shop", 201)]
    {
        let cookie = json!({ "cookie": { "suffix": suffix } });
        operator.put_room(room, &cookie).await?.expect(status)?;
    }
    let mut ann = deployment.visitor("july");
    ann.join().await?.expect(200)?;
    let fleet = deployment.admissions();
    let join = fleet.http().post(fleet.at("/v1/rooms/june/join")?);
    let reply = Reply::of(join.header(COOKIE, format!("vestibule_shop={}", ann.ticket()))).await?;
    let reply = reply.expect(200)?;
    let set: Vec<_> = reply.headers.get_all(SET_COOKIE).iter().collect();
    ensure!(
        set.iter().all(|cookie| !cookie.to_str().unwrap_or("").starts_with("vestibule_shop=")),
        "{set:?}"
    );
    Ok(())
}

/// Some gateways join several cookies into one line, others pass on one: the new one has to arrive alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_passes_by_a_former_cookie_gets_one_of_the_name_of_now() -> Result<()> {
    let deployment = Deployment::builder().controllers(1).start().await?;
    let operator = deployment.operator();
    create_sale(&deployment, json!({ "total_active_users": 0, "cookie": { "suffix": "old" } }))
        .await?;
    let mut ann = deployment.site_visitor("shop.example").over_http();
    expect(&ann.get("/sale").await?, 503, "wait")?;
    ensure!(ann.cookies.contains_key("vestibule_old"), "{:?}", ann.cookies);
    let open = json!({ "total_active_users": 1, "cookie": { "suffix": "new" } });
    operator.patch_room("sale", &open).await?.expect(200)?;
    // By the cookie of before, each time.
    let passes = eventually(Duration::from_secs(10), "ann enters", || {
        let mut ann = ann.clone();
        async move {
            let reply = ann.get("/sale").await?;
            expect(&reply, 200, "entered")?;
            Ok(reply)
        }
    })
    .await?;
    let set: Vec<_> = passes.headers.get_all(SET_COOKIE).iter().collect();
    ensure!(set.len() == 1 && set[0].to_str()?.starts_with("vestibule_new="), "{set:?}");
    Ok(())
}
