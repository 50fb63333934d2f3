//! The seeds that draws are committed to. A seed is not stored: it is derived from the deployment's secret and the
//! `draw_id` of the event, so nobody else knows it until it is published. Only of a draw that was announced under a secret
//! that is being replaced it is stored, sealed under the one that stays, since it was promised.

use vestibule_domain::{
    RoomId,
    draw::{Seed, commitment},
    schedule::Event,
};
use zeroize::Zeroizing;

use crate::{DeploymentSecret, sealed::SealingKeys, secret::Derived};

const PURPOSE: &str = "seed of an announced draw";

// === impl DeploymentSecret ===

impl DeploymentSecret {
    /// The seed of a draw that is to be announced.
    #[must_use]
    pub fn new_draw_seed(&self, room: &RoomId, draw_id: &str) -> Seed {
        *self.seeds(room, draw_id).current()
    }

    /// The seed that the draw of an event was announced with. `None`: it has no draw, or it was announced under a secret
    /// that is not known here.
    #[must_use]
    pub fn promised_seed(&self, room: &RoomId, event: &Event) -> Option<Seed> {
        let promise = event.commitment.as_deref()?;
        let is_promised = |seed: &Seed| commitment(seed) == promise;
        let derived = self.seeds(room, &event.draw_id);
        let derived = derived.find(|seed| is_promised(seed).then_some(*seed));
        derived.or_else(|| self.kept_seed(room, event).filter(is_promised))
    }

    /// That seed, sealed under the current secret. `None`: as the event is, the current secret alone gives it, or nothing.
    #[must_use]
    pub fn keep_seed(&self, room: &RoomId, event: &Event) -> Option<String> {
        let seed = Zeroizing::new(self.promised_seed(room, event)?);
        if *seed == self.new_draw_seed(room, &event.draw_id) {
            return None;
        }
        let (keys, name) = (SealingKeys::new(self, PURPOSE), name(room, event));
        match &event.sealed_seed {
            Some(sealed) if self.kept_seed(room, event).as_ref() == Some(&*seed) => {
                keys.reseal(&name, sealed)
            }
            _ => keys.seal(&name, &mut seed.to_vec()),
        }
    }

    fn kept_seed(&self, room: &RoomId, event: &Event) -> Option<Seed> {
        let sealed = event.sealed_seed.as_deref()?;
        let opened = SealingKeys::new(self, PURPOSE).open(&name(room, event), sealed).ok()?;
        opened.as_slice().try_into().ok()
    }

    fn seeds(&self, room: &RoomId, draw_id: &str) -> Derived<Seed> {
        self.derive_each("draw", &[room.as_str().as_bytes(), draw_id.as_bytes()], |seed| *seed)
    }
}

/// What a sealed seed is of. No room's name has a slash.
fn name(room: &RoomId, event: &Event) -> String {
    format!("{room}/{}", event.draw_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(byte: u8) -> DeploymentSecret {
        DeploymentSecret::new(&[byte; 32]).unwrap()
    }

    fn room(id: &str) -> RoomId {
        RoomId::new(id).unwrap()
    }

    fn announced(by: &DeploymentSecret, draw_id: &str) -> Event {
        let event = r#"{"name":"a","event_start_time":2000,"event_end_time":3000,"draw_at_event_start":true}"#;
        Event {
            draw_id: draw_id.to_owned(),
            commitment: Some(commitment(&by.new_draw_seed(&room("sale"), draw_id))),
            ..serde_json::from_str(event).unwrap()
        }
    }

    /// The commitments of every event that is already announced depend on this value.
    #[test]
    fn seeds_of_draws_are_pinned_and_differ() {
        let secret = DeploymentSecret::new(b"0123456789abcdef0123456789abcdef").unwrap();
        let seed = secret.new_draw_seed(&room("sale"), "0a");
        let pinned = "229d46445eb117d7797b445702a2060ac7b626f60b744526600e96b198ae0278";
        assert_eq!(vestibule_domain::draw::to_hex(&seed), pinned);
        assert_eq!(seed, *secret.derive("draw", &[b"sale", b"0a"]));
        assert_ne!(seed, secret.new_draw_seed(&room("sale"), "0b"));
        assert_ne!(seed, secret.new_draw_seed(&room("sale0"), "a"));
    }

    #[test]
    fn a_draw_keeps_the_seed_that_it_was_announced_with_through_all_steps_of_replacing_the_secret()
    {
        let sale = room("sale");
        let mut event = announced(&secret(1), "0a");
        let seed = secret(1).new_draw_seed(&sale, "0a");
        assert_eq!(secret(1).keep_seed(&sale, &event), None);
        let first = secret(1).with_others([secret(2)]);
        assert_eq!(first.promised_seed(&sale, &event), Some(seed));
        assert_eq!(first.keep_seed(&sale, &event), None, "it stays the one that is derived");
        let second = secret(2).with_others([secret(1)]);
        assert_eq!(second.promised_seed(&sale, &event), Some(seed));
        assert_eq!(secret(2).promised_seed(&sale, &event), None, "the third step came too early");
        event.sealed_seed = second.keep_seed(&sale, &event);
        assert!(event.sealed_seed.is_some());
        assert_eq!(second.keep_seed(&sale, &event), None, "once");
        assert_eq!(secret(2).promised_seed(&sale, &event), Some(seed));
        // And again.
        let next = secret(3).with_others([secret(2)]);
        event.sealed_seed = next.keep_seed(&sale, &event);
        assert_eq!(secret(3).promised_seed(&sale, &event), Some(seed));
    }

    #[test]
    fn no_draw_has_a_seed_that_was_not_promised() {
        let sale = room("sale");
        let mut event = announced(&secret(1), "0a");
        assert_eq!(secret(2).promised_seed(&sale, &event), None);
        assert_eq!(secret(2).keep_seed(&sale, &event), None);
        assert_eq!(secret(1).promised_seed(&room("other"), &event), None);
        let second = secret(2).with_others([secret(1)]);
        event.sealed_seed = second.keep_seed(&sale, &announced(&secret(1), "0b"));
        assert_eq!(secret(2).promised_seed(&sale, &event), None, "that of another draw");
        event.sealed_seed = second.keep_seed(&sale, &event);
        assert!(secret(2).promised_seed(&sale, &event).is_some(), "it is mended");
        assert_eq!(secret(2).promised_seed(&sale, &Event { commitment: None, ..event }), None);
    }
}
