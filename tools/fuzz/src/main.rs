//! `cargo run --release -p vestibule-fuzz -- TARGET --seconds N`: changes the corpus of a target for so long. What breaks
//! something is printed, and written into the corpus, where the tests find it from then on.

use std::{
    fs,
    panic::catch_unwind,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::Parser;
use vestibule_fuzz::{TARGETS, Target, corpus, mutate::Mutator};

/// Makes up input for what reads strangers' input, until something breaks.
#[derive(Debug, Parser)]
#[command(name = "vestibule-fuzz", version, max_term_width = 100)]
struct Cli {
    /// What to fuzz; without it they are listed.
    target: Option<String>,
    /// For how long.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// From which seed; the same seed makes the same inputs of the same corpus.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[expect(clippy::disallowed_methods, reason = "it goes on for as long as it was told to")]
fn main() -> Result<()> {
    let cli = Cli::parse();
    let Some(name) = &cli.target else {
        for target in TARGETS {
            println!("{}", target.name);
        }
        return Ok(());
    };
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.with_context(|| format!("there is no target {name}"))?;
    let kept = corpus::read(target.name).with_context(|| format!("the corpus of {name}"))?;
    let inputs: Vec<Vec<u8>> = kept.into_iter().map(|(_, input)| input).collect();
    if inputs.is_empty() {
        bail!("the corpus of {name} is empty");
    }
    let (mut mutator, begun, mut made) = (Mutator::new(cli.seed), Instant::now(), 0_u64);
    while begun.elapsed() < Duration::from_secs(cli.seconds) {
        let input = mutator.next(target, &inputs);
        made += 1;
        if catch_unwind(|| (target.run)(&input)).is_err() {
            let file = keep(target, &input)?;
            bail!("input {made} of seed {} breaks {name}: see {}", cli.seed, file.display());
        }
    }
    println!("{name}: {made} inputs, and nothing broke");
    Ok(())
}

fn keep(target: &Target, input: &[u8]) -> Result<PathBuf> {
    let sum = input.iter().fold(5_381_u32, |sum, byte| sum.wrapping_mul(33) ^ u32::from(*byte));
    let file = corpus::folder(target.name).join(format!("broke-{sum:08x}"));
    fs::write(&file, input)?;
    Ok(file)
}
