//! Apps that have a key: what they are given is worth nothing to whoever copies it.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Fleet, Prover, Reply, claims_of, eventually};

use crate::authorizer::{create_sale, expect};

const SOON: Duration = Duration::from_secs(20);
const HOST: &str = "shop.example";
const SITE: &str = "https://shop.example/sale";

/// An app with a key, at one instance.
struct App<'a> {
    deployment: &'a Deployment,
    site: Fleet,
    public_url: String,
    prover: Prover,
    ticket: String,
}

impl<'a> App<'a> {
    async fn new(deployment: &'a Deployment) -> Result<Self> {
        let mut probe = deployment.visitor("other");
        let token = probe.join().await?.expect(200)?.text_of("access_token")?;
        let site = deployment.admissions().only(0);
        let (public_url, prover) = (claims_of(&token)?.iss, Prover::generate()?);
        Ok(Self { deployment, site, public_url, prover, ticket: String::new() })
    }

    async fn proof_by(&self, prover: &Prover, method: &str, name: &str) -> Result<String> {
        let url = format!("{}/v1/rooms/sale/{name}", self.public_url);
        prover.proof(method, &url, self.deployment.redis().now_seconds().await?)
    }

    /// A call with these proofs.
    async fn call(&mut self, method: Method, name: &str, proofs: &[&str]) -> Result<Reply> {
        let url = self.site.at(&format!("/v1/rooms/sale/{name}"))?;
        let mut request = self.site.http().request(method, url);
        if !self.ticket.is_empty() {
            request = request.header("vestibule-ticket", &self.ticket);
        }
        for proof in proofs {
            request = request.header("dpop", *proof);
        }
        let reply = Reply::of(request).await?;
        if reply.status == 200 {
            reply.header("vestibule-ticket").clone_into(&mut self.ticket);
        }
        Ok(reply)
    }

    async fn proven(&mut self, method: Method, name: &str) -> Result<Reply> {
        let proof = self.proof_by(&self.prover, method.as_str(), name).await?;
        self.call(method, name, &[&proof]).await
    }

    /// What the authorizer says to a request for the site with this proof. Gateways drop the ticket's header, so it travels
    /// as the cookie.
    async fn asks(&self, proof: Option<&str>) -> Result<Reply> {
        let mut visitor = self
            .deployment
            .site_visitor(HOST)
            .at(self.site.clone())
            .with_cookie("__Host-vestibule_sale", &self.ticket);
        if let Some(proof) = proof {
            visitor = visitor.with_header("dpop", proof);
        }
        visitor.get("/sale").await
    }

    /// The page for such a request, as nginx asks for it when the authorizer has refused it: with the very headers that the
    /// authorizer has looked at.
    async fn page(&self, proof: &str) -> Result<Reply> {
        let told = [("method", "GET"), ("proto", "https"), ("host", HOST), ("uri", "/sale")];
        let request = self.site.http().get(self.site.at("/room/sale")?).header("dpop", proof);
        let request = request.header("cookie", format!("__Host-vestibule_sale={}", self.ticket));
        let request = told.iter().fold(request, |request, (name, value)| {
            request.header(format!("x-forwarded-{name}"), *value)
        });
        Reply::of(request.header("x-forwarded-for", "203.0.113.9")).await
    }

    async fn proof_of_site(&self, url: &str) -> Result<String> {
        self.prover.proof("GET", url, self.deployment.redis().now_seconds().await?)
    }
}

fn is_unproven(reply: &Reply) -> Result<()> {
    let challenge = reply.header("www-authenticate");
    ensure!(
        reply.status == 401 && challenge == r#"DPoP error="invalid_dpop_proof""#,
        "{} {challenge}: {}",
        reply.status,
        reply.text
    );
    Ok(())
}

async fn room(settings: Value) -> Result<Deployment> {
    let deployment = Deployment::builder().admissions(1).start().await?;
    deployment.create_room("other", &json!({ "total_active_users": 9 })).await?;
    create_sale(&deployment, settings).await?;
    Ok(deployment)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_proves_a_key_has_a_session_that_is_bound_to_it() -> Result<()> {
    let deployment = room(json!({ "total_active_users": 2 })).await?;
    let mut app = App::new(&deployment).await?;
    let joined = app.proven(Method::POST, "join").await?.expect(200)?;
    let bound = json!({ "jkt": app.prover.thumbprint()? });
    assert_eq!(claims_of(&joined.text_of("access_token")?)?.cnf, Some(bound.clone()));

    let renewed = app.proven(Method::GET, "status").await?.expect(200)?;
    assert_eq!(claims_of(&renewed.text_of("access_token")?)?.cnf, Some(bound));
    is_unproven(&app.call(Method::GET, "status", &[]).await?)?;
    is_unproven(&app.call(Method::POST, "leave", &[]).await?)?;
    let thief = Prover::generate()?;
    let stolen = app.proof_by(&thief, "GET", "status").await?;
    is_unproven(&app.call(Method::GET, "status", &[&stolen]).await?)?;
    let good = app.proof_by(&app.prover, "GET", "status").await?;
    is_unproven(&app.call(Method::POST, "leave", &[&good]).await?)?;
    let two = app.proof_by(&app.prover, "GET", "status").await?;
    is_unproven(&app.call(Method::GET, "status", &[&good, &two]).await?)?;
    app.call(Method::GET, "status", &[&good]).await?.expect(200)?;
    is_unproven(&app.call(Method::GET, "status", &[&good]).await?)?;
    let refused = deployment.aws("sale").generate_token(&joined.text_of("request_id")?).await?;
    ensure!(refused.status == 400, "a token without the key: {}", refused.text);
    app.proven(Method::POST, "leave").await?.expect(200)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_lets_the_holder_of_the_key_pass() -> Result<()> {
    let deployment = room(json!({ "total_active_users": 2 })).await?;
    let mut app = App::new(&deployment).await?;
    app.proven(Method::POST, "join").await?.expect(200)?;
    let (proof, elsewhere) =
        (app.proof_of_site(SITE).await?, app.proof_of_site("https://shop.example/").await?);
    expect(&app.asks(Some(&proof)).await?, 200, "inside")?;
    for copy in [Some(proof.as_str()), Some(elsewhere.as_str()), Some("proof"), None] {
        let reply = app.asks(copy).await?;
        expect(&reply, 401, "unproven")?;
        is_unproven(&reply)?;
    }
    // Who is not bound to a key may have proofs for the site itself.
    let mut other = deployment.site_visitor(HOST).with_header("dpop", "of the site");
    expect(&other.get("/sale").await?, 200, "entered")?;
    expect(&other.get("/sale").await?, 200, "inside")?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_too_often_is_told_so_and_not_that_the_proof_was_used() -> Result<()> {
    let settings = json!({ "total_active_users": 2, "requests_per_session_per_second": 1 });
    let deployment = room(settings).await?;
    let mut app = App::new(&deployment).await?;
    app.proven(Method::POST, "join").await?.expect(200)?;
    let refused = async || {
        for _ in 0..60 {
            let proof = app.proof_of_site(SITE).await?;
            if app.asks(Some(&proof)).await?.header("vestibule-decision") == "limited" {
                return Ok(proof);
            }
        }
        bail!("sixty requests pass")
    };
    let proof = refused().await?;
    let page = app.page(&proof).await?;
    ensure!(page.status == 429 && !page.header("retry-after").is_empty(), "{}", page.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whose_session_is_over_is_shown_the_challenge_and_not_that_the_proof_was_used() -> Result<()>
{
    let deployment = room(json!({ "total_active_users": 2 })).await?;
    let mut app = App::new(&deployment).await?;
    app.proven(Method::POST, "join").await?.expect(200)?;
    let ticket = app.ticket.clone();
    app.proven(Method::POST, "leave").await?.expect(200)?;
    app.ticket = ticket;
    let challenge = json!({ "challenge": { "mode": "challenge" } });
    deployment.operator().patch_room("sale", &challenge).await?.expect(200)?;
    let refused = eventually(SOON, "the challenge", || async {
        let proof = app.proof_of_site(SITE).await?;
        expect(&app.asks(Some(&proof)).await?, 503, "challenge")?;
        Ok(proof)
    })
    .await?;
    let page = app.page(&refused).await?;
    ensure!(page.status == 200 && page.text.contains("<html"), "{} {}", page.status, page.text);
    // A copy of it is worth nothing, at either.
    is_unproven(&app.page(&refused).await?)?;
    is_unproven(&app.asks(Some(&refused)).await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_with_a_proof_binds_and_the_ticket_of_before_is_worth_nothing() -> Result<()> {
    let deployment = room(json!({ "total_active_users": 0 })).await?;
    let mut app = App::new(&deployment).await?;
    app.call(Method::POST, "join", &[]).await?.expect(200)?;
    let waiting = app.ticket.clone();
    let more = json!({ "total_active_users": 5 });
    deployment.operator().patch_room("sale", &more).await?.expect(200)?;
    let admitted = loop {
        let reply = app.proven(Method::POST, "claim").await?.expect(200)?;
        if reply.says("admitted") {
            break reply;
        }
    };
    ensure!(claims_of(&admitted.text_of("access_token")?)?.cnf.is_some(), "{}", admitted.text);
    let mut thief = deployment.visitor("sale").with_ticket(waiting);
    let reply = thief.claim().await?;
    ensure!(reply.status == 400 && reply.text.contains("another client"), "{}", reply.text);
    Ok(())
}
