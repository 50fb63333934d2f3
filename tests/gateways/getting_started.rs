//! The commands of `docs/getting-started.md`, typed one after the other on a machine of their own: a network and
//! folders that nobody else uses.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::place::is_left_out;

const MACHINE: &str = include_str!("getting_started.sh");
const MARK: &str = "<!-- typed by a test -->\n```sh\n";
const NAMESPACES: [&str; 6] =
    ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
/// The site takes a moment to listen, and so does nginx after it was told to read its configuration anew.
const THEY_LISTEN: &str = "
if [ -d site ]; then listens 3000; fi
if [ -e /etc/nginx/conf.d/vestibule.conf ]; then listens 80; fi
";
/// The third visitor's page would do this.
const THIRD_ENTERS: &str = "
until curl -sS -H 'Host: shop.example' -b third.cookies http://127.0.0.1/sale | grep 'the shop'; do
  sleep 0.5
done
";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Whether this process may have namespaces of its own: root may, and a container that was allowed to.
fn has_namespaces() -> bool {
    let has = Command::new("unshare").args(NAMESPACES).arg("true").output();
    let has = has.is_ok_and(|tried| tried.status.success());
    if !has {
        // Not `eprintln`, which the test runner swallows.
        let warning = "WARNING: no namespaces here: docs/getting-started.md is NOT tested\n";
        let _ = std::io::Write::write_all(&mut std::io::stderr(), warning.as_bytes());
    }
    has
}

/// What is typed, in the page's order.
fn typed() -> Result<Vec<String>> {
    let page = fs::read_to_string(repository().join("docs/getting-started.md"))?;
    let blocks = page.split(MARK).skip(1);
    let command = |block: &str| block.split_once("```").map(|(typed, _)| typed.to_owned());
    blocks.map(|block| command(block).context("a block without an end")).collect()
}

#[test]
fn whoever_types_the_commands_has_a_room_in_front_of_a_site() -> Result<()> {
    if is_left_out() {
        return Ok(());
    }
    if !has_namespaces() {
        return Ok(());
    }
    let typed = typed()?;
    ensure!(typed.len() == 7, "{} blocks", typed.len());
    let script = format!("{MACHINE}{}{THIRD_ENTERS}", typed.join(THEY_LISTEN));
    let folder = tempfile::tempdir()?;
    symlink(repository().canonicalize()?.join("deploy"), folder.path().join("deploy"))?;
    let ours = vestibule_tests::ours("vestibule-admission")?;
    let ours = ours.parent().context("no folder")?;
    let path = env::var_os("PATH").context("no PATH")?;
    let path = [ours.into(), "/usr/sbin".into()].into_iter().chain(env::split_paths(&path));
    let output = Command::new("unshare")
        .args(NAMESPACES)
        .args(["timeout", "120", "bash", "-c", &script])
        .current_dir(folder.path())
        .env("PATH", env::join_paths(path)?)
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    ensure!(said.lines().any(|line| line.ends_with("third.html")), "the third waits: {said}");
    ensure!(!said.contains("first.html") && !said.contains("second.html"), "{said}");
    ensure!(said.contains(r#""waiting":1"#) && said.contains(r#""active_users":2"#), "{said}");
    ensure!(said.ends_with("the shop\n"), "{said}");
    Ok(())
}
