//! A real nginx with the configuration from `deploy/gateways/nginx`, and a second server block
//! without the authorizer.

use std::{
    env, fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use super::{Deployment, eventually, process::Process, programs};

const TEMPLATE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/gateways/nginx/vestibule.conf.template");
/// Directories outside the usual `PATH` where Debian installs it.
const PLACES: [&str; 2] = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"];

/// A running nginx in front of the bare service.
#[derive(Debug)]
pub(crate) struct Nginx {
    /// The address with the authorizer.
    pub(crate) guarded: SocketAddr,
    /// The address without it.
    pub(crate) plain: SocketAddr,
    _process: Process,
}

// === impl Nginx ===

impl Nginx {
    /// Starts it in front of the bare service of `deployment`, for the site `host`; `None` if nginx
    /// is not installed.
    pub(crate) async fn start(deployment: &Deployment, host: &str) -> Result<Option<Self>> {
        let Some(program) = program() else { return Ok(None) };
        let directory = deployment.directory.path().join("nginx");
        fs::create_dir_all(&directory)?;
        let (guarded, plain) = (programs::free_address()?, programs::free_address()?);
        let site = deployment.bare.address;
        let template = fs::read_to_string(TEMPLATE).with_context(|| TEMPLATE)?;
        let served = template
            .replace("${VESTIBULE}", &deployment.admission.address.to_string())
            .replace("${SITE}", &site.to_string())
            .replace("${SITE_HOSTS}", host)
            .replace("${LISTEN}", &guarded.to_string());
        fs::write(directory.join("vestibule.conf"), served)?;
        fs::write(directory.join("nginx.conf"), main_config(&directory, plain))?;
        let mut command = Command::new(program);
        command.arg("-p").arg(&directory).arg("-c").arg(directory.join("nginx.conf"));
        let mut process = Process::start(&mut command, directory.join("log"))?;
        let url = format!("http://{plain}/");
        let answers = async || {
            deployment.http.get(&url).send().await?.error_for_status()?;
            Ok(())
        };
        eventually("nginx", &mut process, answers).await?;
        Ok(Some(Self { guarded, plain, _process: process }))
    }
}

/// The main configuration. It uses a single process, so that killing it leaves nothing behind.
fn main_config(directory: &Path, plain: SocketAddr) -> String {
    let directory = directory.display();
    format!(
        "daemon off; master_process off; pid {directory}/pid; error_log stderr;
         events {{ worker_connections 1024; }}
         http {{
             access_log off; keepalive_requests 1000000;
             client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
             fastcgi_temp_path {directory}/fastcgi; uwsgi_temp_path {directory}/uwsgi;
             scgi_temp_path {directory}/scgi;
             include {directory}/vestibule.conf;
             server {{
                 listen {plain};
                 location / {{
                     proxy_pass http://site; proxy_http_version 1.1;
                     proxy_set_header Connection \"\";
                 }}
             }}
         }}"
    )
}

fn program() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| folder.join("nginx"));
    on_path.chain(PLACES.map(PathBuf::from)).find(|program| program.is_file())
}
