//! Splits: what those learn who are apart binds nobody on the other side, and each side is still held to all that it
//! can know. Each promise both ways.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::sync::Arc;

use vestibule_history::{
    Act, Asked, Bounds, Call, Claimed, ClaimedAs, ConfigRead, Ended, EndedSession, Event,
    Invariant, Joined, JoinedAs, Judge, Key, NetworkClaimed, NetworkLimitsSeen, NetworksJoined,
    Programme, Put, PutAs, Rules, ServersAre, SessionApi, Token, ToldStatus, What,
};

const EPOCH: u64 = 1_000;
/// A replica lags since then.
const LAGS: u64 = 400;
/// From then on `b` is apart, and `a` is not.
const SPLIT: u64 = 500;
/// Everybody is on the promoted server.
const HEALED: u64 = 8_000;

/// What is found in a history.
struct Night {
    judge: Judge,
    found: Vec<Invariant>,
}

// === impl Night ===

impl Night {
    /// A room with one seat, and one admission a minute after that.
    fn begin() -> Self {
        let bounds = Bounds { most_wait_error: Some(1.0), ..Bounds::default() };
        let night = Self { judge: Judge::new(bounds), found: Vec::new() };
        night.does(1, "a", put(1, PutAs::Created))
    }

    fn lags(self) -> Self {
        self.servers(LAGS, ServersAre::Lagging)
    }

    fn splits(self) -> Self {
        self.servers(SPLIT, ServersAre::Split { since_ms: LAGS, apart: vec![Arc::from("b")] })
    }

    fn heals(self) -> Self {
        self.servers(HEALED, ServersAre::Healed)
    }

    /// `b` is apart already.
    fn split() -> Self {
        Self::begin().lags().splits()
    }

    fn servers(self, at_ms: u64, are: ServersAre) -> Self {
        self.does(at_ms, "servers", What::Servers(are))
    }

    fn does(mut self, at_ms: u64, by: &str, what: What) -> Self {
        let of_deployment = matches!(
            what,
            What::Servers(_)
                | What::KeysRead { .. }
                | What::KeysChanged { .. }
                | What::Sent(Call::ChangeKeys { .. })
        );
        let room = (!of_deployment).then(|| "sale".parse().unwrap());
        let event = Event { at_ms, began_ms: at_ms, by: by.into(), room, what };
        let found = self.judge.observe(&event);
        self.found.extend(found.into_iter().map(|violation| violation.invariant));
        self
    }

    /// What is found when the history ends here.
    fn ends(self) -> Vec<Invariant> {
        let found = self.judge.finish().violations;
        found.into_iter().map(|violation| violation.invariant).collect()
    }

    #[track_caller]
    fn holds(self) -> Self {
        assert_eq!(self.found, []);
        self
    }

    #[track_caller]
    fn breaks(self, invariant: Invariant) {
        assert_eq!(self.found, [invariant]);
    }
}

fn programme() -> Programme {
    Programme::always(Rules {
        ceiling: Some(1),
        per_minute: Some(2),
        session_seconds: 300,
        token_seconds: 300,
        ..Rules::default()
    })
}

fn put(version: u64, outcome: PutAs) -> What {
    What::Put(Put { version: Some(version), programme: programme(), outcome })
}

fn read(version: u64) -> What {
    What::ConfigRead(ConfigRead { version, programme: programme() })
}

fn served(reset_epoch: u64, serving_counter: i64) -> What {
    What::Served { reset_epoch, serving_counter }
}

fn joined(first: u64) -> What {
    What::Joined(Joined {
        reset_epoch: EPOCH,
        generation: 1,
        first,
        count: 1,
        entered: 0,
        token: None,
        suspended: false,
        again: false,
        api: SessionApi::Visitor,
        region: "local".to_owned(),
        serving_counter: 0,
        networks: None,
    })
}

/// Somebody of a network joins that may have one newcomer a minute, and one place.
fn comes(number: u64, became: JoinedAs) -> What {
    let What::Joined(joined) = joined(number) else { unreachable!() };
    let limits =
        NetworkLimitsSeen { joins: Some(1), places: Some(1), ..NetworkLimitsSeen::default() };
    let networks = NetworksJoined { limits, newcomers: vec![(7, became)] };
    let count = u64::from(became == JoinedAs::Placed(number));
    What::Joined(Joined { count, networks: Some(networks), ..joined })
}

/// Somebody claims of a network that may have one seat; the room has many.
fn of_network(claim: What) -> What {
    let What::Claimed(claimed) = claim else { unreachable!() };
    let network = NetworkClaimed { network: 7, seats: Some(1), only_logs: false, kept_out: false };
    What::Claimed(Claimed { network: Some(network), ..claimed })
}

fn claimed(number: u64, outcome: ClaimedAs) -> What {
    What::Claimed(Claimed {
        reset_epoch: EPOCH,
        id_epoch: EPOCH,
        generation: 1,
        number,
        position: Some(number),
        entered_at: 0,
        api: SessionApi::Visitor,
        hold: false,
        outcome,
        network: None,
    })
}

fn token(issued_at: u64) -> Token {
    Token { issued_at, expires_at: issued_at + 300, kid: String::new() }
}

fn seated(number: u64, issued_at: u64) -> What {
    claimed(number, ClaimedAs::Seated(token(issued_at)))
}

fn found_inside(number: u64, issued_at: u64) -> What {
    claimed(number, ClaimedAs::Repeated(token(issued_at)))
}

fn ended(number: u64) -> What {
    let sessions = vec![EndedSession { number, ended: true }];
    What::Ended(Ended { reset_epoch: EPOCH, sessions })
}

fn ring(kids: &[&str]) -> Vec<Key> {
    kids.iter()
        .map(|kid| Key { kid: (*kid).to_owned(), retires_at: None, signs_from: None })
        .collect()
}

#[test]
fn each_side_has_its_own_serving_counter() {
    let night =
        Night::split().does(600, "b", served(EPOCH, 9)).does(700, "a", served(EPOCH, 5)).holds();
    night
        .heals()
        .does(9_000, "b", served(EPOCH, 6))
        .holds()
        .does(9_100, "a", served(EPOCH, 5))
        .breaks(Invariant::ServingCounter);
    let night = Night::split().does(600, "a", served(EPOCH, 9)).does(650, "b", served(EPOCH, 3));
    night.does(700, "a", served(EPOCH, 5)).breaks(Invariant::ServingCounter);
    let night = Night::split().does(600, "b", served(EPOCH, 9));
    night.does(700, "b", served(EPOCH, 5)).breaks(Invariant::ServingCounter);
}

#[test]
fn what_only_those_apart_learnt_since_the_replica_lagged_is_lost() {
    let lagged = || Night::begin().does(300, "b", served(EPOCH, 4)).lags();
    let night = lagged().does(450, "b", served(EPOCH, 9)).splits();
    night
        .does(700, "a", served(EPOCH, 5))
        .holds()
        .does(800, "a", served(EPOCH, 3))
        .breaks(Invariant::ServingCounter);
    let night = lagged().does(450, "b", served(EPOCH, 9)).does(460, "a", served(EPOCH, 9)).splits();
    night.does(700, "a", served(EPOCH, 5)).breaks(Invariant::ServingCounter);
    let night = lagged().does(450, "a", served(EPOCH, 9)).splits();
    night.does(700, "b", served(EPOCH, 5)).breaks(Invariant::ServingCounter);
}

#[test]
fn without_a_split_nothing_is_excused() {
    let night = Night::begin().lags().does(450, "b", served(EPOCH, 9));
    night.does(700, "a", served(EPOCH, 5)).breaks(Invariant::ServingCounter);
}

#[test]
fn numbers_are_unique_on_both_sides_together() {
    let night = Night::split().does(600, "b", joined(5)).does(700, "a", joined(100_005)).holds();
    night.does(800, "a", joined(5)).breaks(Invariant::UniqueNumbers);
}

#[test]
fn each_side_hands_out_its_numbers_without_a_gap() {
    let night = || Night::split().does(600, "b", joined(200_005)).does(610, "a", joined(100_005));
    let on = |night: Night| night.does(650, "b", joined(200_006)).does(660, "a", joined(100_006));
    let gapless = |found: Vec<Invariant>| !found.contains(&Invariant::Gapless);
    assert!(gapless(on(night()).heals().does(9_000, "a", joined(200_007)).ends()));
    assert!(!gapless(on(night()).does(670, "a", joined(100_009)).ends()));
    assert!(!gapless(on(night()).does(670, "b", joined(200_009)).ends()));
}

#[test]
fn settings_of_those_apart_bind_nobody_else() {
    let night = Night::split().does(600, "b", put(2, PutAs::Changed));
    night.does(700, "a", read(1)).heals().does(9_000, "b", read(1)).holds();
    let night =
        Night::split().does(600, "a", put(2, PutAs::Changed)).does(650, "b", read(1)).holds();
    night.heals().does(9_000, "b", read(1)).breaks(Invariant::SettingsSurvive);
    let night = Night::split().does(600, "b", put(2, PutAs::Changed));
    night.does(700, "b", read(1)).breaks(Invariant::SettingsSurvive);
}

#[test]
fn settings_that_only_those_apart_knew_may_be_in_force_afterwards() {
    let roomy = || Rules { ceiling: Some(2), ..Rules::default() };
    let put_apart = || {
        What::Put(Put {
            version: Some(2),
            programme: Programme::always(roomy()),
            outcome: PutAs::Changed,
        })
    };
    let sent = || What::Sent(Call::Put { version: Some(1), programme: Programme::always(roomy()) });
    let entering =
        |night: Night| night.heals().does(9_000, "a", seated(1, 9)).does(9_100, "a", seated(2, 9));
    entering(Night::split().does(600, "b", sent()).does(610, "b", put_apart())).holds();
    let before = Night::begin().lags().does(450, "b", sent()).does(460, "b", put_apart()).splits();
    entering(before).holds();
    entering(Night::split()).breaks(Invariant::Ceiling);
}

#[test]
fn the_settings_may_be_those_of_a_room_that_was_reset_apart() {
    let night = Night::split().does(600, "a", put(2, PutAs::Changed));
    night.does(700, "b", What::Sent(Call::Reset)).heals().does(9_000, "a", read(1)).holds();
}

#[test]
fn a_deletion_before_the_split_may_be_finished_on_the_other_side() {
    let deleted = |night: Night, at_ms: u64| {
        let night = night.does(at_ms, "b", What::Sent(Call::Delete));
        night.does(at_ms + 10, "b", What::Deleted { existed: true })
    };
    let lagged = || Night::begin().does(100, "a", put(2, PutAs::Changed)).lags();
    deleted(lagged(), 450).splits().does(700, "a", read(1)).holds();
    let anew = deleted(lagged(), 450).does(470, "a", put(1, PutAs::Created));
    let anew = anew.does(480, "a", put(2, PutAs::Changed)).splits();
    anew.does(700, "a", read(1)).breaks(Invariant::SettingsSurvive);
    let split = deleted(lagged().splits(), 600);
    split.does(700, "a", read(1)).breaks(Invariant::SettingsSurvive);
}

#[test]
fn a_reset_binds_its_side() {
    let reset = || What::Reset { reset_epoch: 2_000 };
    Night::split().does(600, "b", reset()).does(700, "a", served(EPOCH, 1)).holds();
    let night = Night::split().does(600, "a", reset());
    night.does(700, "a", served(EPOCH, 1)).breaks(Invariant::ResetsSurvive);
}

#[test]
fn an_end_binds_its_side() {
    let night = Night::begin().does(100, "a", seated(1, 0)).lags().splits();
    night.does(600, "b", ended(1)).does(700, "a", found_inside(1, 0)).holds();
    let night = Night::begin().does(100, "a", seated(1, 0)).lags().splits();
    night
        .does(600, "a", ended(1))
        .does(700, "a", found_inside(1, 0))
        .breaks(Invariant::EndedStaysEnded);
}

#[test]
fn each_side_has_the_ceiling_and_whoever_is_found_inside_afterwards_counts() {
    let both = || Night::split().does(600, "b", seated(1, 0)).does(700, "a", seated(2, 0)).holds();
    both().does(800, "a", seated(3, 0)).breaks(Invariant::Ceiling);
    both().does(800, "b", seated(3, 0)).breaks(Invariant::Ceiling);
    let night =
        both().heals().does(9_000, "a", ended(2)).does(9_100, "a", found_inside(1, 0)).holds();
    night.does(9_200, "a", seated(3, 9)).breaks(Invariant::Ceiling);
    let night =
        Night::begin().does(100, "a", seated(1, 0)).lags().splits().does(600, "b", ended(1));
    night.does(700, "a", found_inside(1, 0)).heals().does(9_000, "a", seated(2, 9)).holds();
}

#[test]
fn a_number_may_enter_on_both_sides_and_not_again_afterwards() {
    let both = || Night::split().does(600, "b", seated(1, 0)).does(1_700, "a", seated(1, 1));
    both().heals().does(9_000, "a", found_inside(1, 0)).holds();
    both().does(2_800, "a", seated(1, 2)).breaks(Invariant::OneSession);
    let apart = Night::split().does(600, "b", seated(1, 0)).heals();
    apart.does(HEALED + 10_001, "a", seated(1, 18)).breaks(Invariant::OneSession);
}

#[test]
fn a_hold_binds_its_side() {
    let hold = || claimed(1, ClaimedAs::Held { until_ms: 30_000 });
    let no_seat = || claimed(1, ClaimedAs::NoSeat);
    Night::split().does(600, "b", hold()).does(700, "a", no_seat()).holds();
    Night::split().does(600, "a", hold()).does(700, "a", no_seat()).breaks(Invariant::HoldsKept);
}

#[test]
fn a_session_that_was_apart_may_be_over_here() {
    let over = || claimed(1, ClaimedAs::SessionEnded);
    Night::split().does(600, "b", seated(1, 0)).does(700, "a", over()).holds();
    Night::split().does(700, "a", over()).breaks(Invariant::NumbersKeepMeaning);
}

#[test]
fn a_place_may_be_void_by_a_reset_on_either_side() {
    let arrived = || Night::split().does(600, "a", served(2_000, 1));
    let foreign = || {
        let What::Claimed(claim) = claimed(1, ClaimedAs::Foreign) else { unreachable!() };
        What::Claimed(Claimed { id_epoch: 2_000, reset_epoch: 3_000, ..claim })
    };
    let night = arrived().does(550, "b", What::Sent(Call::Reset)).heals();
    night.does(9_000, "a", foreign()).holds();
    arrived().heals().does(9_000, "a", foreign()).breaks(Invariant::NumbersKeepMeaning);
}

/// Three servers: that of `b`, that of `c`, and the one that is left in the end.
#[test]
fn a_second_split_before_the_first_is_over_has_sides_of_its_own() {
    let apart = |by: &str| vec![Arc::from(by)];
    let second = |night: Night| {
        let split = ServersAre::Split { since_ms: 700, apart: apart("c") };
        night.servers(1_000_000, split).servers(1_000_001, ServersAre::Healed)
    };
    let first = || Night::split().servers(700, ServersAre::Lagging);
    let foreign = || {
        let What::Claimed(claim) = claimed(1, ClaimedAs::Foreign) else { unreachable!() };
        What::Claimed(Claimed { id_epoch: 2_000, reset_epoch: 3_000, ..claim })
    };
    // The state that was reset long ago on one server goes on at another one.
    let goes_on = |night: Night| second(night.does(900_000, "a", served(2_000, 1)));
    let night = goes_on(first().does(750, "b", What::Sent(Call::Reset)));
    night.does(1_000_009, "a", foreign()).holds();
    goes_on(first()).does(1_000_009, "a", foreign()).breaks(Invariant::NumbersKeepMeaning);

    let gapless = |night: Night| !second(night).ends().contains(&Invariant::Gapless);
    let each = |number| {
        let b = first().does(750, "b", joined(200_005));
        b.does(760, "c", joined(100_005)).does(770, "b", joined(number))
    };
    assert!(gapless(each(200_006)));
    assert!(!gapless(each(200_009)));
}

#[test]
fn a_deletion_binds_its_side() {
    let deleted = || What::Deleted { existed: true };
    let night = Night::split().does(600, "b", What::Sent(Call::Delete)).does(600, "b", deleted());
    night.does(700, "a", served(EPOCH, 1)).heals().does(9_000, "b", served(EPOCH, 1)).holds();
    let night = Night::split().does(600, "a", What::Sent(Call::Delete)).does(600, "a", deleted());
    let night = night.does(700, "b", served(EPOCH, 1)).holds();
    night.heals().does(9_000, "a", served(EPOCH, 1)).breaks(Invariant::RoomsSurvive);
    let night = Night::split().does(600, "a", deleted()).does(700, "b", What::Sent(Call::Reset));
    night.heals().does(9_000, "a", served(2_000, 1)).holds();
}

#[test]
fn keys_of_those_apart_are_not_missed_and_their_tokens_are_known() {
    let known = || What::KeysRead { keys: Some(ring(&["k1"])) };
    let begin = || Night::begin().does(2, "a", known()).lags().splits();
    let keys = || ring(&["k1", "k2"]);
    let night = begin().does(600, "b", What::Sent(Call::ChangeKeys { keys: keys() }));
    let night = night.does(600, "b", What::KeysChanged { keys: keys(), changed: true }).heals();
    let of_k2 = ClaimedAs::Repeated(Token { kid: "k2".to_owned(), ..token(0) });
    let night = night.does(9_000, "a", known()).does(20_000, "a", known());
    night.does(20_001, "a", claimed(1, of_k2)).holds();
    let none = || What::KeysRead { keys: Some(Vec::new()) };
    let night = begin().does(600, "a", none()).does(650, "b", known());
    night.does(7_000, "a", none()).breaks(Invariant::KeysSurvive);
}

#[test]
fn a_key_that_only_those_apart_knew_is_missed_once_they_are_back() {
    let read = |kids: &[&str]| What::KeysRead { keys: Some(ring(kids)) };
    let changed = What::KeysChanged { keys: ring(&["k1", "k2"]), changed: true };
    let knows = || Night::begin().does(2, "a", read(&["k1"])).does(3, "b", changed.clone());
    let healed = |night: Night| night.lags().splits().does(600, "a", read(&["k1"])).heals();
    let night = healed(knows()).does(HEALED + 10, "b", read(&["k1"])).holds();
    let night = night.does(HEALED + 5_010, "b", read(&["k1"])).holds();
    night.does(HEALED + 5_011, "b", read(&["k1"])).breaks(Invariant::KeysSurvive);
    let both = healed(knows().does(4, "a", read(&["k1", "k2"])));
    both.does(HEALED + 10, "a", read(&["k1"])).breaks(Invariant::KeysSurvive);
}

#[test]
fn each_side_has_the_rate() {
    let roomy = || {
        let rules = Rules { per_minute: Some(1), ..Rules::default() };
        let settings =
            Put { version: Some(2), programme: Programme::always(rules), outcome: PutAs::Changed };
        Night::begin().does(200, "a", What::Put(settings)).lags().splits()
    };
    let night = roomy().does(600, "b", seated(1, 0)).does(61_000, "a", seated(2, 60)).holds();
    night.does(61_100, "a", seated(3, 61)).breaks(Invariant::Rate);
    roomy()
        .does(61_000, "b", seated(1, 60))
        .does(61_100, "b", seated(2, 60))
        .breaks(Invariant::Rate);
}

#[test]
fn a_room_that_was_deleted_apart_and_made_again_has_a_rate_of_its_own() {
    let rules = Rules { per_minute: Some(2), ..Rules::default() };
    let put = |outcome| {
        What::Put(Put { version: Some(1), programme: Programme::always(rules.clone()), outcome })
    };
    let seated_in = |epoch: u64, number: u64| {
        let What::Claimed(claimed) = seated(number, 9) else { unreachable!() };
        What::Claimed(Claimed { reset_epoch: epoch, id_epoch: epoch, ..claimed })
    };
    let begun = || {
        let night = Night::begin().does(100, "a", put(PutAs::Created));
        let night = night.does(300, "a", seated(1, 0)).does(310, "a", seated(2, 0)).lags().splits();
        night.does(700, "b", What::Sent(Call::Delete))
    };
    let anew = begun().does(710, "b", What::Deleted { existed: true });
    let anew =
        anew.does(720, "b", put(PutAs::Created)).heals().does(9_000, "a", seated_in(2_000, 1));
    anew.does(9_050, "a", seated_in(2_000, 2))
        .holds()
        .does(9_100, "a", seated_in(2_000, 3))
        .breaks(Invariant::Rate);
    begun().heals().does(9_000, "a", seated(3, 9)).breaks(Invariant::Rate);
}

#[test]
fn each_side_has_the_limits_of_a_network() {
    let placed = |number| comes(number, JoinedAs::Placed(number));
    let both = || Night::split().does(600, "b", placed(200_005)).does(700, "a", placed(100_005));
    let found = |night: Night| [night.found.clone(), night.ends()].concat();
    assert!(!found(both().holds()).contains(&Invariant::NetworkPlaces));
    let again = both().does(800, "a", placed(100_006));
    assert_eq!(again.found, [Invariant::NetworkJoins]);
    assert!(again.ends().contains(&Invariant::NetworkPlaces));
    both().does(800, "b", placed(200_006)).breaks(Invariant::NetworkJoins);
    let early = || Night::begin().lags().does(450, "b", placed(5)).splits();
    early().does(700, "a", placed(100_005)).holds();
    early().does(700, "b", placed(6)).breaks(Invariant::NetworkJoins);
}

#[test]
fn each_side_has_the_seats_of_a_network() {
    let roomy = || {
        let rules = Rules { ceiling: Some(9), ..Rules::default() };
        let settings =
            Put { version: Some(2), programme: Programme::always(rules), outcome: PutAs::Changed };
        Night::begin().does(200, "a", What::Put(settings)).lags().splits()
    };
    let seated = |number| of_network(seated(number, 0));
    let both = || roomy().does(600, "b", seated(1)).does(700, "a", seated(2)).holds();
    both().does(800, "a", seated(3)).breaks(Invariant::NetworkSeats);
    both().does(800, "b", seated(3)).breaks(Invariant::NetworkSeats);
    both().heals().does(9_000, "a", ended(2)).does(9_100, "a", seated(3)).holds();
}

#[test]
fn whoever_is_turned_away_may_be_so_for_newcomers_of_the_other_side() {
    let away = || comes(100_006, JoinedAs::TooManyJoins);
    let alone = Night::split().does(700, "a", away());
    assert!(alone.ends().contains(&Invariant::NetworkRefusals));
    let night = Night::split().does(600, "b", comes(5, JoinedAs::Placed(5)));
    let night = night.heals().does(9_000, "a", away());
    assert!(!night.ends().contains(&Invariant::NetworkRefusals));
}

/// The room was made anew meanwhile: the first of its newcomers came to who is apart later.
#[test]
fn whoever_is_turned_away_may_be_so_for_newcomers_after_a_reset_that_the_other_side_told_of() {
    let anew = |number, became| {
        let What::Joined(joined) = comes(number, became) else { unreachable!() };
        What::Joined(Joined { reset_epoch: EPOCH + 1, ..joined })
    };
    let before = || {
        let night = Night::begin().does(100, "a", comes(1, JoinedAs::Placed(1))).lags();
        night.does(420, "a", put(1, PutAs::Created))
    };
    let away = |night: Night| night.does(450, "a", anew(2, JoinedAs::TooManyJoins)).splits();
    let first = before().does(440, "b", anew(1, JoinedAs::Placed(1)));
    assert!(!away(first).ends().contains(&Invariant::NetworkRefusals));
    let lost = What::Unknown(Call::Join { count: 1, networks: vec![7] });
    assert!(!away(before().does(440, "a", lost)).ends().contains(&Invariant::NetworkRefusals));
    assert!(away(before()).ends().contains(&Invariant::NetworkRefusals));
}

#[test]
fn either_side_may_bind_a_session_to_another() {
    let inside = |bound_to, client| {
        let (number, reset_epoch, generation) = (1, EPOCH, 1);
        What::Visitor(Act::Inside { number, reset_epoch, generation, bound_to, client })
    };
    let night = Night::split().does(600, "v", inside(77, 1)).does(700, "w", inside(78, 2)).holds();
    night.heals().does(9_000, "w", inside(77, 2)).breaks(Invariant::BoundSessions);
    Night::begin()
        .does(20, "v", inside(77, 1))
        .does(30, "w", inside(78, 2))
        .breaks(Invariant::BoundSessions);
}

#[test]
fn waits_that_are_told_during_a_split_are_not_compared() {
    let told = || {
        let (position, ahead) = (Some(9), Some(9_000));
        let (status, wait_seconds) = (ToldStatus::Waiting, Some(9_000));
        let asked = Asked { claimed: false, status, position, ahead, wait_seconds, next_ms: 1_000 };
        What::Visitor(Act::Asked(asked))
    };
    let entered = || What::Visitor(Act::Entered { number: 9, reset_epoch: EPOCH, token: token(9) });
    let split = Night::split().does(600, "v", told()).heals().does(9_000, "v", entered());
    assert_eq!(split.ends(), []);
    let healed = Night::split().heals().does(9_000, "v", told()).does(9_500, "v", entered());
    assert_eq!(healed.ends(), [Invariant::Waits]);
}
