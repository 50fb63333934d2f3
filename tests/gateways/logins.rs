//! A gateway at which visitors log in by OpenID Connect, where to log in is to wait: Vestibule is asked about nobody,
//! the waiting page is served under Vestibule's own name, and the gateway keeps its visitors by cookies of its own.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use anyhow::{Context, Result, ensure};
use reqwest::{
    Client, Method, Url,
    header::{ACCEPT, COOKIE, SET_COOKIE},
    redirect::Policy,
};
use serde_json::{Value, json};
use vestibule_tests::{
    Deployment, Reply, Service, Verifier, eventually,
    gateway::{Addresses, Gateway, Kind, SITE_HOST, Site},
};

use crate::{
    journey::{expect_site, header_of},
    place,
};

const SOON: Duration = Duration::from_secs(20);
const WANTED: &str = "/sale/item?size=40&colour=red%20wine";

/// A browser that goes from one host to another, with the cookies of each. It sends those that are for TLS alone, too,
/// as browsers do to this machine.
#[derive(Debug, Clone)]
struct Walker {
    http: Client,
    cookies: BTreeMap<(String, String), String>,
}

// === impl Walker ===

impl Walker {
    /// One without cookies, for whom the site is at `port` of this machine.
    fn new(port: u16) -> Result<Self> {
        let http = Client::builder()
            .redirect(Policy::none())
            .resolve(SITE_HOST, SocketAddr::from(([127, 0, 0, 1], port)))
            .no_proxy()
            .build()?;
        Ok(Self { http, cookies: BTreeMap::new() })
    }

    async fn send(&mut self, method: Method, url: &Url) -> Result<Reply> {
        let host = url.host_str().unwrap_or_default().to_owned();
        let own = self.cookies.iter().filter(|((of, _), _)| *of == host);
        let pairs: Vec<_> = own.map(|((_, name), value)| format!("{name}={value}")).collect();
        let request = self.http.request(method, url.clone()).header(ACCEPT, "text/html,*/*;q=0.8");
        let request = request.header("sec-fetch-mode", "navigate");
        let reply = Reply::of(request.header(COOKIE, pairs.join("; "))).await?;
        for line in reply.headers.get_all(SET_COOKIE) {
            let pair = line.to_str()?.split(';').next().and_then(|pair| pair.split_once('='));
            let Some((name, value)) = pair else { continue };
            let key = (host.clone(), name.to_owned());
            if value.is_empty() || value == "deleted" {
                self.cookies.remove(&key);
            } else {
                self.cookies.insert(key, value.to_owned());
            }
        }
        Ok(reply)
    }

    /// Opens a page and goes where it is led: the last answer, and its address.
    async fn walk(&mut self, url: &Url) -> Result<(Reply, Url)> {
        let mut url = url.clone();
        for _ in 0..8 {
            let reply = self.send(Method::GET, &url).await?;
            if reply.status != 302 {
                return Ok((reply, url));
            }
            url = url.join(reply.header("location"))?;
        }
        anyhow::bail!("led around: {url}")
    }
}

fn client(addresses: &Addresses) -> Value {
    let callback = format!("http://{SITE_HOST}:{}/vestibule/callback", addresses.port);
    json!([{ "id": "envoy", "redirect_uris": [callback] }])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn visitors_log_in_at_envoy_by_waiting() -> Result<()> {
    if place::is_left_out() {
        return Ok(());
    }
    let deployment = Deployment::builder().start().await?;
    let site = Site::start().await?;
    let vestibule = deployment.address(Service::Admission, 0).to_owned();
    let mut addresses = Addresses::new(&vestibule, site.address());
    let mut room = place::room();
    room["oidc_clients"] = client(&addresses);
    // Whoever leaves makes room at once here.
    room["seats_end_with"] = json!("session");
    deployment.create_room("sale", &room).await?;
    let secret = "/v1/rooms/sale/oidc_clients/envoy/secret";
    let made = deployment.operator().call(Method::POST, secret, None).await?.expect(201)?;
    addresses.client_secret = made.text_of("client_secret")?;
    let gateway = Gateway::start(Kind::EnvoyOauth2, &addresses).await?;
    let done = async {
        crate::passed_on::by(&gateway.browser()?).await?;
        journey(&addresses, &deployment).await
    };
    let done = done.await;
    done.with_context(|| format!("its log ends:\n{}", gateway.log_end()))
}

async fn journey(addresses: &Addresses, deployment: &Deployment) -> Result<()> {
    let at = |path: &str| Url::parse(&format!("http://{SITE_HOST}:{}{path}", addresses.port));
    let vestibule = Url::parse(&format!("http://{}", addresses.vestibule))?;
    let (mut first, mut second) = (Walker::new(addresses.port)?, Walker::new(addresses.port)?);
    for target in ["/", "/saleroom"] {
        expect_site(&first.send(Method::GET, &at(target)?).await?).context("not covered")?;
    }
    for target in crate::hostile::DISGUISED.iter().chain(crate::local::SPELLED) {
        let reply = Walker::new(addresses.port)?.send(Method::GET, &at(target)?).await?;
        ensure!(expect_site(&reply).is_err(), "{target} got through");
    }

    let (reply, url) = first.walk(&at(WANTED)?).await?;
    expect_site(&reply).with_context(|| format!("the first visitor, at {url}"))?;
    ensure!(url.as_str().ends_with(WANTED), "at {url}");
    let shown = header_of(&reply, "authorization");
    let token = shown.first().and_then(|shown| shown.strip_prefix("Bearer "));
    let token = token.context("no token for the site")?;
    let claims = Verifier::fetch(deployment.admissions()).await?.verify(token, "sale")?;
    assert_eq!(claims.queue_position, 1);

    let (page, url) = second.walk(&at(WANTED)?).await?;
    ensure!(page.status == 200 && url.path() == "/room/sale", "{} at {url}", page.status);
    let (_, resume) =
        url.query_pairs().find(|(name, _)| name == "return").context("no way back")?;
    let resume = vestibule.join(&resume)?;
    let (again, url) = second.walk(&resume).await?;
    ensure!(url.path() == "/room/sale", "{} at {url}: past the line", again.status);

    // A code of nobody's, and one that somebody else has brought home.
    let forged = at("/vestibule/callback?code=AQAA&state=x")?;
    let refused = second.send(Method::GET, &forged).await?;
    ensure!(refused.status >= 400, "{}: {}", refused.status, refused.text);

    let leave = vestibule.join("/v1/rooms/sale/leave")?;
    first.send(Method::POST, &leave).await?.expect(200).context("the first visitor leaves")?;
    let entered = eventually(SOON, "the seat", || {
        let (mut second, resume) = (second.clone(), resume.clone());
        async move {
            let (reply, url) = second.walk(&resume).await?;
            expect_site(&reply).with_context(|| format!("at {url}"))?;
            Ok((second, url))
        }
    });
    let (mut second, url) = entered.await?;
    ensure!(url.as_str().ends_with(WANTED), "at {url}");
    expect_site(&second.send(Method::GET, &at("/sale")?).await?).context("a second page")?;

    // Out, and in again without a wait, since the seat is still theirs.
    second.send(Method::GET, &at("/vestibule/signout")?).await?.expect(302)?;
    let (reply, url) = second.walk(&at("/sale")?).await?;
    expect_site(&reply).with_context(|| format!("again, at {url}"))?;
    Ok(())
}
