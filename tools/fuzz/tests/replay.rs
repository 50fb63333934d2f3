//! Every input that is kept, as it is, and with a few hundred changes: always the same ones.

use vestibule_fuzz::{TARGETS, corpus, mutate::Mutator};

const CHANGED: usize = 300;

#[test]
fn nothing_breaks() {
    for target in TARGETS {
        let kept = corpus::read(target.name).unwrap();
        assert!(!kept.is_empty(), "{} has no corpus", target.name);
        for (name, input) in &kept {
            println!("{}/{name}", target.name);
            (target.run)(input);
        }
        let inputs: Vec<_> = kept.into_iter().map(|(_, input)| input).collect();
        let mut mutator = Mutator::new(7);
        for nth in 0..CHANGED {
            println!("{}, change {nth}", target.name);
            (target.run)(&mutator.next(target, &inputs));
        }
    }
}

#[test]
fn the_corpus_is_small_and_of_known_targets() {
    let folders = std::fs::read_dir(corpus::folder("")).unwrap();
    let mut bytes = 0;
    for folder in folders {
        let name = folder.unwrap().file_name().to_string_lossy().into_owned();
        assert!(TARGETS.iter().any(|target| target.name == name), "there is no target {name}");
        bytes += corpus::read(&name).unwrap().iter().map(|(_, input)| input.len()).sum::<usize>();
    }
    assert!(bytes < 300_000, "{bytes} bytes");
}
