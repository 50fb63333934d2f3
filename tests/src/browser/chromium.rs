//! One Chromium with its driver: how it is started and ended, and what everything else is made of.

use std::{
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;
use thirtyfour::{Capabilities, WebDriver, cdp::Cdp};

use super::found;
use crate::{Process, eventually};

const START: Duration = Duration::from_secs(30);
/// On a busy machine a Chromium now and then ends while it starts: that is no finding of a test.
const STARTS: usize = 4;
const SWITCHES: [&str; 12] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-crash-reporter",
    "--no-proxy-server",
    "--window-size=1000,900",
];

/// What a browser is started with.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Host names of sites, and the port of this machine where each is found.
    pub hosts: Vec<(String, u16)>,
    /// The languages that its user reads, as `Accept-Language` has them; American English if empty.
    pub languages: String,
}

/// A running Chromium. It ends with this, also when the test fails.
#[derive(Debug)]
pub struct Chromium {
    driver: Option<WebDriver>,
    process: Process,
    _dir: TempDir,
}

// === impl Options ===

impl Options {
    /// A browser for which the site `host` is at `port` of this machine.
    #[must_use]
    pub fn site(host: &str, port: u16) -> Self {
        Self { hosts: vec![(host.to_owned(), port)], ..Self::default() }
    }

    /// The same for someone who reads these languages.
    #[must_use]
    pub fn reads(mut self, languages: &str) -> Self {
        languages.clone_into(&mut self.languages);
        self
    }

    fn capabilities(&self, chromium: &Path, profile: &Path) -> Capabilities {
        let mut switches: Vec<_> = SWITCHES.map(str::to_owned).into();
        switches.push(format!("--user-data-dir={}", profile.display()));
        let rules = self.hosts.iter().map(|(host, port)| format!("MAP {host} 127.0.0.1:{port}"));
        switches.push(format!("--host-resolver-rules={}", rules.collect::<Vec<_>>().join(",")));
        let languages = if self.languages.is_empty() { "en-US,en" } else { &self.languages };
        let json = json!({
            "browserName": "chrome",
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
            "goog:chromeOptions": {
                "binary": chromium,
                "args": switches,
                "prefs": { "intl.accept_languages": languages },
            },
        });
        json.as_object().cloned().unwrap_or_default().into()
    }
}

// === impl Chromium ===

impl Chromium {
    /// Starts one with an empty profile.
    pub async fn start(options: &Options) -> Result<Self> {
        for _ in 1..STARTS {
            match Self::try_start(options).await {
                Ok(browser) => return Ok(browser),
                Err(error) => eprintln!("once more: {error:#}"),
            }
        }
        Self::try_start(options).await
    }

    async fn try_start(options: &Options) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let mut process = start_driver(dir.path())?;
        let driver = match open(&mut process, options, dir.path()).await {
            Ok(driver) => driver,
            Err(error) => {
                process.kill_group()?;
                bail!("no browser: {error:#}; the driver's log ends:\n{}", process.log_end());
            }
        };
        Ok(Self { driver: Some(driver), process, _dir: dir })
    }

    /// The session of the driver.
    pub fn driver(&self) -> Result<&WebDriver> {
        self.driver.as_ref().context("the browser has ended")
    }

    /// Goes to an address, and waits until the page is there.
    pub async fn goto(&self, url: &str) -> Result<()> {
        self.driver()?.goto(url).await.with_context(|| url.to_owned())?;
        // On a busy machine the driver comes back while there is no document at all.
        self.until("document.documentElement !== null", START).await
    }

    /// A command of the `DevTools` protocol, to the tab in front.
    pub async fn devtools(&self, method: &str, params: Value) -> Result<Value> {
        let cdp: Cdp = self.driver()?.cdp();
        cdp.send_raw(method, params).await.with_context(|| method.to_owned())
    }

    /// The value of an expression in the page, also where its own scripts are off; a promise is
    /// waited for.
    pub async fn eval(&self, expression: &str) -> Result<Value> {
        let params =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.devtools("Runtime.evaluate", params).await?;
        if let Some(thrown) = answer.get("exceptionDetails") {
            bail!("{expression} throws {thrown}");
        }
        Ok(answer["result"]["value"].take())
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        if let Some(driver) = self.driver.take() {
            // Its browser ends with the driver's group: no farewell is needed.
            let _ = driver.leak();
        }
        let _ = self.process.kill_group();
    }
}

fn start_driver(dir: &Path) -> Result<Process> {
    let mut command = Command::new(found::driver()?);
    command.arg("--port=0").process_group(0).env_clear().env("HOME", dir).env("TMPDIR", dir);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    // It shows times of this zone, on every machine.
    command.env("TZ", "UTC");
    Process::start(&mut command, &dir.join("driver"))
}

async fn open(process: &mut Process, options: &Options, dir: &Path) -> Result<WebDriver> {
    let port = eventually(START, "the driver", || {
        let (running, log) = (process.check_running(), process.stdout());
        async move {
            if let Err(ended) = running {
                return Ok(Err(ended));
            }
            Ok(Ok(port_of(&log).context("no port yet")?))
        }
    });
    let url = format!("http://127.0.0.1:{}", port.await??);
    let profile: PathBuf = dir.join("profile");
    let capabilities = options.capabilities(&found::chromium()?, &profile);
    Ok(WebDriver::new(url, capabilities).await?)
}

/// The port in "`ChromeDriver` was started successfully on port 12345."
fn port_of(log: &str) -> Option<u16> {
    let rest = log.split_once("started successfully on port ")?.1;
    rest.split_once('.')?.0.parse().ok()
}
