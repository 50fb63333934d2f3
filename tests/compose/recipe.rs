//! What the Dockerfile runs, without an engine: which programs it puts into the images.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use anyhow::Result;

use crate::{
    engine::{root, run},
    say,
};

/// In the place of cargo: builds no more than a file of the right name.
const CARGO: &str = "#!/bin/sh\nmkdir -p target/release\n\
                     for name in admission controller; do cp /bin/true target/release/vestibule-$name; done\n";

#[test]
fn what_was_compiled_is_taken_and_not_what_was_handed_over_before() -> Result<()> {
    if !is_debian() {
        say("WARNING: deploy/image/build.sh is NOT tested: it runs on Debian");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let at = |path: &str| folder.path().join(path);
    for path in ["bin", "services", "shared", "target/programs"] {
        fs::create_dir_all(at(path))?;
    }
    for name in ["vestibule-admission", "vestibule-controller"] {
        fs::write(at("target/programs").join(name), "of an earlier build")?;
    }
    fs::write(at("bin/cargo"), CARGO)?;
    fs::set_permissions(at("bin/cargo"), fs::Permissions::from_mode(0o755))?;

    run(build(folder.path()).env("PROGRAMS", "target/programs").arg(at("handed-over")))
        .expect_err("a text has no symbols to leave out");
    run(build(folder.path()).env("PROGRAMS", "").arg(at("compiled")))?;
    for name in ["vestibule-admission", "vestibule-controller"] {
        run(&mut Command::new(at("compiled").join(name)))?;
    }
    Ok(())
}

/// Whether libgcc is where the script takes it from.
fn is_debian() -> bool {
    run(Command::new("sh").args(["-c", "ls /lib/*-linux-gnu*/libgcc_s.so.1"])).is_ok()
}

/// `deploy/image/build.sh` in a folder, with the cargo of the test.
fn build(folder: &Path) -> Command {
    let mut path = folder.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command
        .arg(root().join("deploy/image/build.sh"))
        .current_dir(folder)
        .env("PATH", path)
        .env("PROFILE", "release");
    command
}
