//! Tests that the shuffle is that of the specification, not only some permutation.

use sha2::{Digest, Sha256};

use super::{Seed, Shuffle};

/// Places computed by an independent implementation: see `vectors.py`.
const VECTORS: &str = include_str!("vectors.json");

/// Test vectors that Ethereum publishes with its specification (ethereum/consensus-spec-tests,
/// `tests/mainnet/phase0/shuffling`): seed, count, and the SHA-256 of the file `mapping.yaml`,
/// which lists the shuffled index of every index.
const OFFICIAL: [(&str, u64, &str); 9] = [
    (
        "0623ccb9b1619bd388284a438034d8cb6431964ba727d8b1c450303105735488",
        1,
        "dbe2eb447229406fa21439fd59045a3336ebfeb9aed4aa136711bf62188a6992",
    ),
    (
        "075de2b906dbd7066da008cab735bee896370154603579a50122f9b88545bd45",
        2,
        "3ede99381e9212ba792e0cd774be88860aeb7845e19882cdef3d9e630178ad58",
    ),
    (
        "17fa9c7f5e9039a2d46e73e17d8e094a796ee4c313199bad42db4ee1dc30d865",
        3,
        "237b7929d936877badc47afb90eefcf5fa892058189394684cc0b89adb16cf04",
    ),
    (
        "01b4f6bd5d6a06a7b74a8565ceb4f845afe0ae96a0ac05cf5e86066bf7b538ec",
        10,
        "030e863e01b804aa084bdf69a7da2ca6cad7bc51ffc5dbd50cd74e3a8910a50e",
    ),
    (
        "01b4f6bd5d6a06a7b74a8565ceb4f845afe0ae96a0ac05cf5e86066bf7b538ec",
        33,
        "a014701e692faf6390f43a5b32470689ffdec35891f58bcd7572eb8226b19488",
    ),
    (
        "075de2b906dbd7066da008cab735bee896370154603579a50122f9b88545bd45",
        100,
        "e5ea8ce0d10309e44715cb6790f41c5111160e8bedf1068619fbbd61c9d011b9",
    ),
    (
        "17fa9c7f5e9039a2d46e73e17d8e094a796ee4c313199bad42db4ee1dc30d865",
        1_000,
        "365897d6589317fc16a5b3878491ea25df73842cade1fe9c8b07d1ef920d0ae2",
    ),
    (
        "01b4f6bd5d6a06a7b74a8565ceb4f845afe0ae96a0ac05cf5e86066bf7b538ec",
        9_999,
        "c3577795cf7bbe42bcca0c97e2d97b8caf8bf3defa8d1b3cffd6ce7813a06575",
    ),
    (
        "075de2b906dbd7066da008cab735bee896370154603579a50122f9b88545bd45",
        9_999,
        "0531447fc9354b6ddf49128f6ff9ddf0862a4360ac688045dfa68072aa17a985",
    ),
];

fn seed(hex: &str) -> Seed {
    let mut seed = [0; 32];
    hex::decode_to_slice(hex, &mut seed).expect("64 hex digits");
    seed
}

#[derive(serde::Deserialize)]
struct Vector {
    count: u64,
    seed: String,
    shuffled: Vec<(u64, u64)>,
}

#[test]
fn agrees_with_an_independent_implementation() {
    let vectors: Vec<Vector> = serde_json::from_str(VECTORS).unwrap();
    assert!(vectors.len() > 60);
    for Vector { count, seed: hex, shuffled } in vectors {
        let shuffle = Shuffle::new(count, seed(&hex));
        for (index, expected) in shuffled {
            assert_eq!(shuffle.shuffled(index), Some(expected), "{index} of {count} under {hex}");
        }
    }
}

#[test]
fn agrees_with_the_official_vectors() {
    for (hex, count, digest) in OFFICIAL {
        let file = official_file(&Shuffle::new(count, seed(hex)));
        let found = hex::encode(Sha256::digest(&file));
        assert_eq!(found, digest, "count {count}, seed {hex}: {file:.300}");
    }
}

/// A whole `mapping.yaml`, formatted byte for byte as the official ones: a line of the list is
/// broken after the comma beyond column 80.
fn official_file(shuffle: &Shuffle) -> String {
    let mut line = "mapping: [".to_owned();
    let mut list = String::new();
    for index in 0..shuffle.count() {
        if index > 0 {
            line.push(',');
            if line.len() > 80 {
                list = list + &line + "\n";
                line = "  ".to_owned();
            } else {
                line.push(' ');
            }
        }
        line += &shuffle.shuffled(index).expect("below the count").to_string();
    }
    let (seed, count) = (hex::encode(shuffle.seed()), shuffle.count());
    format!("seed: '0x{seed}'\ncount: {count}\n{list}{line}]\n")
}
