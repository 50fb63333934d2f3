//! A site behind a gateway, with a full room in front of it.

use std::{env, path::Path, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use vestibule_tests::{
    Deployment, Service,
    browser::{Chromium, Options, Seat},
    gateway::{Addresses, Gateway, Kind, SITE_HOST, Site, deployed},
};

/// How long the page may take to show what has happened.
pub(crate) const SOON: Duration = Duration::from_secs(20);
/// What visitors want, as their browsers have it.
pub(crate) const WANTED: &str = "http://shop.example/sale/item?size=40&colour=red%20wine";
/// For how long a seat is held for somebody whose turn it is, before anything is learned, in seconds.
pub(crate) const HELD: u64 = 30;
/// True once the site itself has answered, which it does with JSON.
pub(crate) const ON_THE_SITE: &str =
    "document.contentType === 'application/json' && document.body.innerText.includes('\"shop\"')";

/// Everything that a visitor meets.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) deployment: Deployment,
    port: u16,
    _site: Site,
    _gateway: Gateway,
    _keys: TempDir,
}

// === impl Place ===

impl Place {
    /// The room `sale`, which covers `/sale`, full; its page stands in the place of what is wanted.
    pub(crate) async fn in_place() -> Result<Self> {
        Self::in_place_of(json!({})).await
    }

    /// The same, with these settings.
    pub(crate) async fn in_place_of(settings: Value) -> Result<Self> {
        Self::build(Kind::Nginx, Deployment::builder().start().await?, settings).await
    }

    /// The same behind a gateway that verifies tokens and sends visitors to the page's own address.
    /// Each instance has live updates for so many pages.
    pub(crate) async fn own_address(live: u32) -> Result<Self> {
        Self::own_address_of(live, json!({})).await
    }

    /// The same, with these settings.
    pub(crate) async fn own_address_of(live: u32, settings: Value) -> Result<Self> {
        let builder = Deployment::builder();
        let builder = builder.environment("VESTIBULE_MAX_LIVE_UPDATES", &live.to_string());
        Self::build(Kind::HaproxyLocal, builder.start().await?, settings).await
    }

    async fn build(kind: Kind, deployment: Deployment, more: Value) -> Result<Self> {
        let mut settings = room("/sale");
        for (name, value) in more.as_object().into_iter().flatten() {
            settings[name] = value.clone();
        }
        settings["access_token_cookie"] = json!(kind == Kind::HaproxyLocal);
        settings["seats_end_with"] = json!("session");
        fill(&deployment, "sale", &settings).await?;
        deployment.site_visitor(SITE_HOST).finds_a_room("/sale", SOON).await?;
        let site = Site::start().await?;
        let vestibule = deployment.address(Service::Admission, 0);
        let mut addresses = Addresses::new(vestibule, site.address());
        let keys = TempDir::new()?;
        if kind == Kind::HaproxyLocal {
            write_keys(vestibule, keys.path())?;
            keys.path().clone_into(&mut addresses.keys);
        }
        let gateway = Gateway::start(kind, &addresses).await?;
        let port = addresses.port;
        Ok(Self { deployment, port, _site: site, _gateway: gateway, _keys: keys })
    }

    /// Somebody is ahead of those who come now, and stays there. The first in line is let in as soon
    /// as it asks for the site: a gateway holds its question for some seconds, in case a seat comes
    /// free; and what is said to it changes when it is counted among those at the door.
    /// A browser takes a while to start: this comes after that, since who is called and does not come is soon ahead of nobody.
    pub(crate) async fn somebody_comes(&self) -> Result<()> {
        self.deployment.visitor("sale").join().await?.expect(200)?;
        Ok(())
    }

    /// Makes room for everyone who waits.
    pub(crate) async fn call(&self) -> Result<()> {
        call(&self.deployment, "sale").await
    }

    /// A browser that knows the site.
    pub(crate) async fn browser(&self) -> Result<Chromium> {
        self.browser_of("").await
    }

    /// A browser that knows the site, of someone who reads these languages.
    pub(crate) async fn browser_of(&self, languages: &str) -> Result<Chromium> {
        Chromium::start(&Options::site(SITE_HOST, self.port).reads(languages)).await
    }
}

/// The seat of a test that needs a gateway too; `None` where either is left out.
pub(crate) async fn seat_and_gateway() -> Result<Option<Seat>> {
    let left_out = env::var_os("VESTIBULE_TEST_SKIP_GATEWAYS").is_some_and(|value| value == "1");
    if left_out { Ok(None) } else { Seat::take().await }
}

/// The page of a room at its own address, with this query.
pub(crate) fn page(deployment: &Deployment, room: &str, query: &str) -> String {
    format!("http://{}/room/{room}{query}", deployment.address(Service::Admission, 0))
}

/// Creates a room and fills its only seat: who comes now has to wait. The seat stays taken, and
/// places in line stay kept, for longer than any test takes. Visitors enter by the button, unless the
/// settings say otherwise.
pub(crate) async fn fill(deployment: &Deployment, room: &str, settings: &Value) -> Result<()> {
    let mut settings = settings.clone();
    if settings["enter"].is_null() {
        settings["enter"] = json!("button");
    }
    for lasts in ["session_duration_seconds", "presence_grace_seconds"] {
        settings[lasts] = json!(3600);
    }
    deployment.create_room(room, &settings).await?;
    let mut occupant = deployment.visitor(room);
    occupant.join().await?.expect(200)?;
    occupant.claims(SOON).await?;
    Ok(())
}

/// Makes room for everyone who waits.
pub(crate) async fn call(deployment: &Deployment, room: &str) -> Result<()> {
    let more = json!({ "total_active_users": 100 });
    deployment.operator().patch_room(room, &more).await?.expect(200)?;
    Ok(())
}

/// A room with one seat at a path of the site.
pub(crate) fn room(path: &str) -> Value {
    json!({
        "total_active_users": 1,
        "position_expiry_seconds": 900,
        "routes": [{ "host": SITE_HOST, "path": path }],
    })
}

/// For how long the page says that the place is held, in seconds.
pub(crate) async fn held_for(browser: &Chromium) -> Result<u64> {
    let text = browser.text("hold").await?;
    let (minutes, seconds) = text.split_once(':').with_context(|| format!("held for `{text}`"))?;
    Ok(60 * minutes.parse::<u64>()? + seconds.parse::<u64>()?)
}

/// What an operator of such a gateway does every minute.
fn write_keys(vestibule: &str, directory: &Path) -> Result<()> {
    let url = format!("http://{vestibule}/.well-known/jwks.json");
    let script = deployed("haproxy/jwks-to-pem.py");
    let status = Command::new("python3").arg(script).arg(url).arg(directory).status()?;
    ensure!(status.code() == Some(10), "no keys: {status}");
    Ok(())
}
