//! A queue number never has two sessions, two tokens at once, or a second entry.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{
    Act, Event, Invariant, SessionApi, Token, What,
    check::{Check, Facts, Findings, Seen, Turn},
    checks::holding,
};

/// A number enters once per reset epoch, and all tokens that it gets are the same but for renewals.
///
/// A violation: a session that *began* twice for one number, ended in between or not; two tokens of one
/// number that were issued in the same second and differ; an AWS-style session, which is never renewed,
/// with two different tokens. Why: a second session is a second visitor inside.
///
/// Not a violation: the same token again, however often, also if a retried call says that the
/// session began with it; a later token of a renewed session; an earlier one, which a visitor may still
/// carry; another key for the same times after Redis was lost, because the session is rebuilt from the
/// visitor's ticket, which does not name the key; any number after a reset; number 0.
///
/// During a split one number may have a session on each side. Once it is over, a token that somebody apart has given is
/// as good as any; and for a number that entered apart, a session that begins more than `settles_ms` later is a
/// violation.
#[derive(Debug, Clone, Default)]
pub(super) struct OneSession {
    held: FxHashMap<(u64, u64), Held>,
    /// Who entered apart, and the tokens that it was given there.
    apart: FxHashMap<(u64, u64), Apart>,
    /// When the last split was over, ms.
    healed_ms: Option<u64>,
}

#[derive(Debug, Clone)]
struct Held {
    /// How its beginning is known.
    began: Option<Arc<Event>>,
    token: Token,
    generation: u32,
    last: Arc<Event>,
}

#[derive(Debug, Clone, Default)]
struct Apart {
    began: Option<Arc<Event>>,
    tokens: Vec<Token>,
}

// === impl OneSession ===

impl Check for OneSession {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        if let Some(held) = holding(now) {
            for holder in held.holders() {
                let seen = (held.token, held.api, held.generation, held.is_new);
                self.take(holder, seen, now, facts, found);
            }
        } else if let What::Visitor(Act::Entered { number, reset_epoch, token }) = &now.what
            && *number > 0
            && let Some(known) = self.held.get(&(*reset_epoch, *number))
            && !self.is_of_apart((*reset_epoch, *number), token)
        {
            compare(*number, known, (token, SessionApi::Visitor, known.generation), now, found);
        }
    }

    fn hear_apart(&mut self, now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {
        let Some(held) = holding(now) else { return };
        for holder in held.holders() {
            let apart = self.apart.entry(holder).or_default();
            apart.tokens.push(held.token.clone());
            if held.is_new {
                apart.began.get_or_insert_with(|| now.keep());
            }
        }
    }

    fn turn(&mut self, turn: &Turn, _facts: &Facts) {
        self.healed_ms = turn.is_over.then_some(turn.at_ms);
    }
}

impl OneSession {
    fn take(
        &mut self,
        holder: (u64, u64),
        (token, api, generation, is_new): (&Token, SessionApi, u32, bool),
        now: &Seen<'_>,
        facts: &Facts,
        found: &mut Findings<'_>,
    ) {
        let is_of_apart = self.is_of_apart(holder, token);
        if let Some(began) = self.entered_apart(holder, now, facts.bounds.settles_ms)
            && is_new
            && !is_of_apart
        {
            let what = format!("number {} entered twice, once apart", holder.1);
            found.add(Invariant::OneSession, what, &[began, now]);
        }
        let held = || Held {
            began: is_new.then(|| now.keep()),
            token: token.clone(),
            generation,
            last: now.keep(),
        };
        let Some(known) = self.held.get_mut(&holder) else {
            self.held.insert(holder, held());
            return;
        };
        let number = holder.1;
        if is_of_apart {
            // It takes the place of the other, if there was one.
        } else if let (true, Some(began)) = (is_new, &known.began)
            && known.token != *token
        {
            let what = format!("number {number} entered twice");
            found.add(Invariant::OneSession, what, &[began, now]);
        } else {
            compare(number, known, (token, api, generation), now, found);
        }
        if is_new {
            known.began.get_or_insert_with(|| now.keep());
        }
        if is_of_apart || token.issued_at >= known.token.issued_at {
            (known.token, known.generation) = (token.clone(), generation);
            known.last = now.keep();
        }
    }
}

impl OneSession {
    /// Whether the number was given this token by somebody apart.
    fn is_of_apart(&self, holder: (u64, u64), token: &Token) -> bool {
        self.apart.get(&holder).is_some_and(|apart| apart.tokens.contains(token))
    }

    /// How it is known that the number entered apart, if everybody could know it when the call of `now` began.
    fn entered_apart(
        &self,
        holder: (u64, u64),
        now: &Event,
        settles_ms: u64,
    ) -> Option<&Arc<Event>> {
        let settled_ms = self.healed_ms? + settles_ms;
        self.apart.get(&holder)?.began.as_ref().filter(|_| now.began_ms > settled_ms)
    }
}

fn compare(
    number: u64,
    known: &Held,
    (token, api, generation): (&Token, SessionApi, u32),
    now: &Seen<'_>,
    found: &mut Findings<'_>,
) {
    let Token { issued_at, expires_at, kid } = token;
    let same_second = *issued_at == known.token.issued_at;
    let rebuilt = generation > known.generation;
    let unnamed = kid.is_empty() || known.token.kid.is_empty();
    let same_key = *kid == known.token.kid || rebuilt || unnamed;
    let is_same = *expires_at == known.token.expires_at && same_key;
    let is_renewed = api == SessionApi::Visitor && !same_second;
    let is_repeated = same_second && is_same;
    if !is_renewed && !is_repeated {
        let what = format!("number {number} has two different tokens");
        found.add(Invariant::OneSession, what, &[&known.last, now]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ClaimedAs,
        checks::testing::{EPOCH, History, claimed, entered, token},
    };

    fn seated(issued_at: u64, expires_at: u64) -> What {
        claimed(3, ClaimedAs::Seated(token(issued_at, expires_at)))
    }

    fn repeated(issued_at: u64, expires_at: u64) -> What {
        claimed(3, ClaimedAs::Repeated(token(issued_at, expires_at)))
    }

    fn inside() -> History {
        History::new().does(5, seated(10, 310))
    }

    #[test]
    fn the_same_token_again_and_renewals_are_fine() {
        let history = inside().does(6, repeated(10, 310)).does(7, repeated(200, 500));
        history.does(8, repeated(10, 310)).does(9, seated(200, 500)).holds();
    }

    #[test]
    fn a_second_entry_is_found_even_after_the_first_has_ended() {
        inside().does(900, seated(800, 1_100)).breaks(Invariant::OneSession);
        let newcomers = entered(1, 5, 4, Some(token(20, 320)));
        inside().does(6, newcomers).breaks(Invariant::OneSession);
    }

    #[test]
    fn two_tokens_of_one_second_are_found() {
        inside().does(6, repeated(10, 311)).breaks(Invariant::OneSession);
        let mut other_key = token(10, 310);
        other_key.kid = "k2".to_owned();
        let again = claimed(3, ClaimedAs::Repeated(other_key.clone()));
        inside().does(6, again).breaks(Invariant::OneSession);
        let rebuilt =
            crate::Touched { id_epoch: EPOCH, generation: 2, number: 3, token: Some(other_key) };
        inside().does(6, What::Touched(rebuilt)).holds();
    }

    #[test]
    fn an_aws_token_is_never_renewed() {
        let aws = |outcome| {
            let What::Claimed(claim) = claimed(3, outcome) else { unreachable!() };
            What::Claimed(crate::Claimed { api: SessionApi::Aws, ..claim })
        };
        let history = History::new().does(5, aws(ClaimedAs::Seated(token(10, 3_610))));
        let history = history.does(6, aws(ClaimedAs::Repeated(token(10, 3_610)))).holds();
        history.does(7, aws(ClaimedAs::Repeated(token(9, 3_609)))).breaks(Invariant::OneSession);
    }

    #[test]
    fn what_the_visitor_holds_is_what_was_given() {
        let holds = |issued_at, expires_at| {
            let token = Token { kid: String::new(), ..token(issued_at, expires_at) };
            What::Visitor(Act::Entered { number: 3, reset_epoch: EPOCH, token })
        };
        inside().does(6, holds(10, 310)).holds();
        inside().does(6, holds(10, 320)).breaks(Invariant::OneSession);
    }
}
