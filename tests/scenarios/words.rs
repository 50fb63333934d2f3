//! What an operator says: messages by language, to those who wait and to those who are turned away; that everything
//! is sold out, and that it is not after all; and what is refused because it could not be read.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Reply, Visitor, eventually};

use crate::page::{Browser, is};

const SOON: Duration = Duration::from_secs(20);

/// A room of one seat, and who is inside.
async fn full_room(deployment: &Deployment, more: Value) -> Result<Visitor> {
    let mut settings = json!({ "total_active_users": 1 });
    for (name, value) in more.as_object().into_iter().flatten() {
        settings[name] = value.clone();
    }
    deployment.create_room("sale", &settings).await?;
    let mut inside = deployment.visitor("sale");
    ensure!(inside.join().await?.expect(200)?.says("admitted"));
    Ok(inside)
}

/// Changes the room, and waits until every instance goes by it.
async fn set(deployment: &Deployment, changes: Value) -> Result<()> {
    eventually(SOON, "every instance", || async {
        let reply = deployment.operator().patch_room("sale", &changes).await?.expect(200)?;
        ensure!(
            reply.header("vestibule-behind").is_empty(),
            "{}",
            reply.header("vestibule-behind")
        );
        Ok(())
    })
    .await
}

/// Somebody who reads these languages, in line.
async fn in_line(deployment: &Deployment, languages: &'static str) -> Result<Visitor> {
    let mut visitor = deployment.visitor("sale").with_header("accept-language", languages);
    ensure!(visitor.join().await?.expect(200)?.says("waiting"));
    Ok(visitor)
}

fn expect_message(reply: &Reply, message: &Value) -> Result<()> {
    ensure!(reply.body["message"] == *message, "not {message}: {}", reply.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_reaches_everybody_in_the_next_best_language() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let _inside = full_room(&deployment, json!({ "default_language": "fr" })).await?;
    let mut german = in_line(&deployment, "de-CH, en;q=0.5").await?;
    let mut korean = in_line(&deployment, "ko").await?;
    expect_message(&german.status().await?, &Value::Null)?;
    let texts = json!({ "de": "Gleich geht es\nlos", "en": "Soon", "fr": "Bientôt <b>" });
    set(&deployment, json!({ "message": texts, "closed_message": "Over", "title": "Drop" }))
        .await?;
    expect_message(&german.status().await?.expect(200)?, &json!("Gleich geht es\nlos"))?;
    expect_message(&korean.status().await?.expect(200)?, &json!("Bientôt <b>"))?;
    let newcomer = deployment.visitor("sale").with_header("accept-language", "en").join().await?;
    expect_message(&newcomer, &json!("Soon"))?;
    // On the page, as text; and its script is told the same, with the language.
    let mut ann = Browser::new(&deployment);
    let page = ann.get("/room/sale?lang=ja").await?.expect(200)?;
    is(&page, "waiting")?;
    ensure!(page.text.contains("lang=\"fr\">Bientôt &#60;b&#62;</p>"), "{}", page.text);
    ensure!(page.text.contains(" · Drop</title>"), "{}", page.text);
    let news = ann.news("/room/sale?lang=de").await?;
    assert_eq!(news.body["texts"]["message"], "Gleich geht es\nlos");
    assert_eq!(news.body["languages"], json!({ "message": "de", "room-title": "" }));
    // A patch changes one language, and null takes it away; a text is for all.
    set(&deployment, json!({ "message": { "de": null, "fr": "Tout de suite" } })).await?;
    expect_message(&german.status().await?, &json!("Tout de suite"))?;
    set(&deployment, json!({ "message": "For all" })).await?;
    expect_message(&german.status().await?, &json!("For all"))?;
    set(&deployment, json!({ "message": null })).await?;
    expect_message(&korean.status().await?, &Value::Null)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_says_what_it_has_to_say_and_leaves_the_rest() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let words = json!({ "message": "The room's", "title": "The room" });
    let _inside = full_room(&deployment, words).await?;
    let mut ann = in_line(&deployment, "en").await?;
    expect_message(&ann.status().await?, &json!("The room's"))?;
    let now = deployment.redis().now_seconds().await?;
    let event = json!({
        "event_start_time": now + 5, "event_end_time": now + 3600, "message": { "en": "The event's" },
    });
    let path = "/v1/rooms/sale/events/drop";
    let operator = deployment.operator();
    let told = operator.call(Method::PUT, path, Some(&event)).await?.expect(201)?;
    assert_eq!(
        (&told.body["message"]["en"], &told.body["title"]),
        (&json!("The event's"), &Value::Null)
    );
    let mut page = Browser::new(&deployment);
    eventually(SOON, "the event's message", || async {
        expect_message(&ann.clone().status().await?, &json!("The event's"))
    })
    .await?;
    let page = page.get("/room/sale").await?;
    ensure!(page.text.contains(">The event&#39;s</p>") && page.text.contains(">The room</p>"));
    // Sold out is what the event sells, not the room.
    let sold_out = json!({ "sold_out": true, "closed_message": "All gone" });
    operator.call(Method::PATCH, path, Some(&sold_out)).await?.expect(200)?;
    eventually(SOON, "the event sold out", || async {
        let told = ann.clone().status().await?;
        ensure!(told.body["reason"] == "sold_out", "{}", told.text);
        expect_message(&told, &json!("All gone"))
    })
    .await?;
    operator.call(Method::DELETE, path, None).await?.expect(204)?;
    eventually(SOON, "the room as it was", || async {
        expect_message(&ann.clone().status().await?, &json!("The room's"))
    })
    .await?;
    ensure!(!ann.status().await?.says("closed"));
    let wrong = json!({ "message": { "xx": "x" }, "event_start_time": now + 60, "event_end_time": now + 600 });
    let refused = operator.call(Method::PUT, path, Some(&wrong)).await?.expect(400)?;
    assert_eq!(refused.body["errors"][0]["field"], "message.xx");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sold_out_room_says_so_at_once_and_takes_its_line_up_again() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    let mut inside = full_room(&deployment, json!({ "closed_message": "Next year!" })).await?;
    let mut ann = in_line(&deployment, "en").await?;
    let mut bob = in_line(&deployment, "en").await?;
    let number = ann.status().await?.number("queue_number")?;
    let mut page = Browser::new(&deployment);
    is(&page.get("/room/sale").await?, "waiting")?;
    // Whatever else is set, but that the room is off.
    set(&deployment, json!({ "sold_out": true, "queue_all": true })).await?;
    for visitor in [&mut ann, &mut bob] {
        let told = visitor.status().await?.expect(200)?;
        ensure!(told.says("closed") && told.body["reason"] == "sold_out", "{}", told.text);
        ensure!(told.number("queue_number")? > 0 && told.body["next_check_in_seconds"] == 0.0);
        expect_message(&told, &json!("Next year!"))?;
    }
    let news = page.news("/room/sale").await?;
    assert_eq!(news.body["state"], "sold_out");
    ensure!(news.body["refresh_seconds"].as_f64() >= Some(30.0), "{}", news.text);
    let shown = page.get("/room/sale").await?;
    ensure!(shown.text.contains("<h1 id=\"headline\">Sold out</h1>"), "{}", shown.text);
    ensure!(shown.text.contains("You keep your place"), "{}", shown.text);
    let newcomer = deployment.visitor("sale").join().await?.expect(200)?;
    ensure!(newcomer.says("closed") && newcomer.number("queue_number")? == 0, "{}", newcomer.text);
    assert_eq!(newcomer.body["reason"], "sold_out");
    ensure!(inside.status().await?.says("admitted"), "whoever is inside stays");
    inside.leave().await?.expect(200)?;
    ensure!(ann.claim().await?.says("closed"), "a seat is free, and nobody gets it");
    // What operators set stays as they set it.
    let room = deployment.operator().call(Method::GET, "/v1/rooms/sale", None).await?;
    assert_eq!(
        (&room.body["queueing_method"], &room.body["sold_out"]),
        (&json!("fifo"), &json!(true))
    );
    set(&deployment, json!({ "sold_out": false, "queue_all": false })).await?;
    eventually(SOON, "the first of the line inside", || async {
        let told = ann.clone().claim().await?;
        ensure!(told.says("admitted") && told.number("queue_number")? == number, "{}", told.text);
        Ok(())
    })
    .await?;
    let told = bob.status().await?.expect(200)?;
    // The line is served a little ahead of the seats: it may be its turn.
    ensure!(!told.says("closed") && told.body.get("reason").is_none(), "{}", told.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_could_not_be_read_is_refused_and_changes_nothing() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    deployment.create_room("sale", &json!({ "message": "as it was" })).await?;
    let operator = deployment.operator();
    for (changes, field, reason) in [
        (
            json!({ "message": { "tlh": "nuqneH" } }),
            "message.tlh",
            "en, de, fr, es, pt, it, nl, pl, ja",
        ),
        (json!({ "message": "x".repeat(501) }), "message", "at most 500 characters, and has 501"),
        (json!({ "message": "to the \u{202e}left" }), "message", "U+202E"),
        (json!({ "closed_message": { "de": "a\u{0}b" } }), "closed_message.de", "U+0000"),
        (json!({ "title": "two\nlines" }), "title", "one line"),
        (json!({ "title": 5 }), "title", "a text, or an object of texts by language"),
        (json!({ "accent_colour": "red" }), "accent_colour", "#rrggbb"),
        (json!({ "accent_colour": "#ffcc00" }), "accent_colour", "must have 4.5:1"),
        (json!({ "logo_alt": "" }), "logo_alt", "null is for none"),
    ] {
        let refused = operator.patch_room("sale", &changes).await?.expect(400)?;
        let error = &refused.body["errors"][0];
        ensure!(error["field"] == field, "{changes}: {}", refused.text);
        ensure!(error["reason"].to_string().contains(reason), "{changes}: {}", refused.text);
    }
    let room = operator.call(Method::GET, "/v1/rooms/sale", None).await?.expect(200)?;
    assert_eq!((&room.body["message"], &room.body["title"]), (&json!("as it was"), &Value::Null));
    // The shade that the error names is taken.
    let refused = operator.patch_room("sale", &json!({ "accent_colour": "#ffcc00" })).await?;
    let reason = refused.body["errors"][0]["reason"].as_str().unwrap_or_default();
    let nearest = reason.rsplit(' ').next().unwrap_or_default();
    operator.patch_room("sale", &json!({ "accent_colour": nearest })).await?.expect(200)?;
    let page = operator.call(Method::GET, "/v1/rooms/sale/preview", None).await?.expect(200)?;
    ensure!(page.text.contains(&format!("<style>:root{{--accent:{nearest};")), "{}", page.text);
    ensure!(page.text.contains(">as it was</p>"));
    Ok(())
}
