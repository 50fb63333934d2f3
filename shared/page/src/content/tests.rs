//! The content in each state.

use vestibule_domain::schedule::EventInForce;
use vestibule_site::ReturnAddress;

use super::*;
use crate::{Language, Notices, PageFrame, PreviewSample};

fn content(sample: PreviewSample) -> PageContent {
    PageContent::from_view(&sample.view("room", Language::En))
}

fn waiting(change: impl Fn(&mut PageView)) -> PageContent {
    let mut view = PreviewSample::Waiting.view("room", Language::En);
    change(&mut view);
    PageContent::from_view(&view)
}

#[test]
fn a_visitor_in_line_sees_position_people_wait_and_progress() {
    let content = content(PreviewSample::Waiting);
    assert_eq!(content.state, "waiting");
    assert_eq!(content.text("headline"), "You are in line");
    assert_eq!((content.text("position"), content.text("ahead")), ("1,235", "1,170"));
    assert_eq!(content.text("status-text"), "About 10 minutes");
    assert_eq!(content.text("title"), "About 10 minutes · You are in line");
    assert_eq!(content.progress, Some(0.4));
    assert_eq!(content.text("progress-text"), "About 40% of the wait is over");
    assert_eq!(
        (content.text("alert"), content.text("go"), content.wanted.as_deref()),
        ("", "", None)
    );
}

#[test]
fn an_unknown_wait_is_shown_as_unknown() {
    let content = content(PreviewSample::UnknownWait);
    assert_eq!(content.text("status-text"), "Not known yet");
    assert_eq!((content.progress, content.text("progress-text")), (None, ""));
    assert_eq!(content.text("title"), "You are in line");
}

#[test]
fn a_random_wait_is_a_range_without_a_position() {
    let content = content(PreviewSample::Random);
    assert_eq!(content.text("status-text"), "Between 5 and 15 minutes");
    assert_eq!((content.text("position"), content.text("ahead")), ("", ""));
    assert!(content.text("note").starts_with("Chance decides"));
}

#[test]
fn before_a_start_its_time_and_a_draw_are_shown() {
    let early = content(PreviewSample::Prequeue);
    assert_eq!(early.text("status-text"), "About 20 minutes");
    assert!(early.text("note").contains("by lot"));
    assert!(early.times.contains_key("starts") && early.times.contains_key("ends"));
    let mut view = PreviewSample::Prequeue.view("room", Language::En);
    view.event = view.event.map(|event| EventInForce { draw: false, ..event });
    assert!(PageContent::from_view(&view).text("note").contains("already have your place"));
}

#[test]
fn held_visitors_see_that_the_room_is_paused() {
    let content = content(PreviewSample::QueueAll);
    assert!(content.text("status-text").starts_with("Nobody is being let in"));
    assert_eq!(content.progress, None);
}

#[test]
fn at_the_turn_there_is_one_way_in_and_a_clock() {
    let mut view = PreviewSample::Turn.view("room", Language::En);
    view.frame.wanted = ReturnAddress::parse("https://shop.example/sale", |_| true);
    let by_link = PageContent::from_view(&view);
    assert_eq!(by_link.wanted.as_deref(), Some("https://shop.example/sale"));
    assert_eq!(
        (by_link.text("go"), by_link.text("enter"), by_link.enter),
        ("Enter now", "", false)
    );
    assert_eq!((by_link.text("hold"), by_link.hold_seconds), ("14:59", Some(899)));
    assert!(by_link.text("alert").starts_with("It’s your turn"));
    view.frame.enter = Some("/room/room/enter".into());
    let by_form = PageContent::from_view(&view);
    assert_eq!((by_form.text("go"), by_form.text("enter"), by_form.enter), ("", "Enter now", true));
    assert_eq!(by_form.wanted, None);
}

#[test]
fn a_visitor_who_found_no_seat_sees_that_the_turn_is_not_lost() {
    let mut view = PreviewSample::Turn.view("room", Language::En);
    view.notices.no_seat = true;
    assert!(PageContent::from_view(&view).text("notice").contains("not lost"));
    view.notices.is_late = true;
    let late = PageContent::from_view(&view);
    assert!(late.text("notice").contains("still get in"), "and said at once");
    assert_eq!(late.text("alert"), late.text("notice"));
    view.notices.stale = true;
    assert!(PageContent::from_view(&view).text("notice").starts_with("We cannot reach"));
}

#[test]
fn a_lost_place_is_shown_and_the_link_leads_back_into_the_line() {
    let over = content(PreviewSample::Over);
    assert_eq!(over.state, "missed");
    assert_eq!((over.text("alert"), over.text("go")), ("Your turn is over.", "Get back in line"));
    assert_eq!(over.wanted.as_deref(), Some(""));
    assert_eq!(over.hold_seconds, None);
}

#[test]
fn the_text_about_closing_the_page_is_true() {
    let closing =
        |grace| waiting(|view| view.grace_seconds = grace).text("closing-text").to_owned();
    assert!(closing(Some(300)).starts_with("Your place is kept for 5 minutes."));
    assert!(closing(Some(119)).starts_with("Your place is kept for 1 minute."), "rounded down");
    assert!(closing(Some(30)).starts_with("Your place is kept for 30 seconds."));
    assert!(closing(None).starts_with("Your place is kept. "));
    assert!(content(PreviewSample::Turn).text("closing-text").contains("only for a while"));
    assert!(content(PreviewSample::Over).text("closing-text").starts_with("Nothing"));
}

#[test]
fn a_new_place_is_explained() {
    let again = Notices { is_new_place: true, ..Notices::default() };
    let content = waiting(|view| view.notices = again);
    assert!(content.text("notice").contains("a new one"));
}

#[test]
fn the_live_region_changes_only_with_the_meaning() {
    let status = |seconds| {
        let content = waiting(|view| {
            view.wait_seconds = Some(seconds);
            view.people_ahead = Some(seconds * 2);
            view.updated_ms += seconds;
        });
        ["status-label", "status-text", "notice", "alert"].map(|id| content.text(id).to_owned())
    };
    assert_eq!(status(580), status(440));
    assert_ne!(status(580), status(100));
}

#[test]
fn every_state_has_the_same_elements() {
    let ids = |content: &PageContent| content.texts.keys().copied().collect::<Vec<_>>();
    let first = ids(&content(PreviewSample::Waiting));
    for sample in PreviewSample::ALL {
        assert_eq!(ids(&content(sample)), first, "{sample:?}");
        assert!(!content(sample).text("status-text").is_empty(), "{sample:?}");
    }
}

#[test]
fn updates_are_small_json() {
    let json = content(PreviewSample::Waiting).to_json();
    let read: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(read["texts"]["headline"], "You are in line");
    assert_eq!((&read["progress"], &read["hold_seconds"]), (&0.4.into(), &serde_json::Value::Null));
    assert!(json.len() < 1_500, "{}", json.len());
}

#[test]
fn a_missing_room_is_explained_in_words() {
    for language in Language::ALL {
        let frame = PageFrame::plain(language);
        let view = PageView::without_visitor(PageState::NoRoom, 0, frame);
        let content = PageContent::from_view(&view);
        assert_eq!((content.state, content.refresh_seconds), ("no_room", 0.0));
        assert!(!content.text("headline").is_empty() && !content.text("status-text").is_empty());
        for id in ["go", "enter", "position", "ahead", "auto", "closing-text", "unreachable"] {
            assert_eq!(content.text(id), "", "{language:?}: {id}");
        }
        assert!(content.times.is_empty(), "no room tells the time");
    }
}

#[test]
fn failing_updates_are_shown_and_only_a_place_is_called_safe() {
    let unreachable = |sample: PreviewSample, refresh_ms| {
        let view = PageView { refresh_ms, ..sample.view("room", Language::En) };
        PageContent::from_view(&view).text("unreachable").to_owned()
    };
    assert!(unreachable(PreviewSample::Waiting, 5_000).contains("Your place is safe"));
    assert!(unreachable(PreviewSample::Prequeue, 5_000).contains("Your place is safe"));
    for sample in [PreviewSample::Turn, PreviewSample::Reject] {
        let said = unreachable(sample, 5_000);
        assert!(said.starts_with("We cannot reach") && !said.contains("safe"), "{said}");
    }
    assert_eq!(unreachable(PreviewSample::Over, 0), "");
}

#[test]
fn inside_there_is_a_link_only_if_it_leads_elsewhere() {
    let mut view = PreviewSample::Inside.view("room", Language::En);
    view.frame.here = "room".into();
    let nowhere = PageContent::from_view(&view);
    assert_eq!((nowhere.text("go"), nowhere.wanted.as_deref()), ("", None));
    assert!(nowhere.text("status-text").contains("the page you came from"));
    view.frame.wanted = ReturnAddress::parse("https://shop.example/sale", |_| true);
    let somewhere = PageContent::from_view(&view);
    assert_eq!(somewhere.text("go"), "Continue");
    assert_eq!(somewhere.wanted.as_deref(), Some("https://shop.example/sale"));
}

#[test]
fn progress_is_shown_only_if_it_is_known() {
    let progress = |change: fn(&mut PageView)| {
        let content = waiting(change);
        (content.progress, content.text("progress-text").to_owned())
    };
    let none = (None, String::new());
    assert_eq!(progress(|view| view.quartiles = Some([300, 600, 900])), none, "beside a range");
    assert_eq!(progress(|view| view.wait_seconds = None), none, "while the wait is unknown");
    assert_eq!(progress(|view| view.waited_seconds = Some(5)), none, "0 %");
    assert_eq!(progress(|view| view.waited_seconds = Some(6)).0, Some(0.01));
    assert_eq!(
        progress(|view| (view.waited_seconds, view.wait_seconds) = (Some(0), Some(0))),
        none
    );
}

#[test]
fn before_a_start_the_script_has_a_time_to_count_down() {
    let start_seconds = |now_ms: u64| {
        let view = PreviewSample::Prequeue.view("room", Language::En);
        PageContent::from_view(&PageView { now_ms: view.now_ms + now_ms, ..view }).start_seconds
    };
    assert_eq!(start_seconds(0), Some(1_100.0));
    assert_eq!(start_seconds(500), Some(1_099.5));
    assert_eq!(start_seconds(1_100_001), None, "the draw may take a moment longer");
    let mut view = PreviewSample::Prequeue.view("room", Language::En);
    view.now_ms -= 24 * 3_600_000;
    assert_eq!(PageContent::from_view(&view).start_seconds, None, "told by its date");
    assert_eq!(content(PreviewSample::Waiting).start_seconds, None);
}

#[test]
fn passing_time_alone_needs_no_update() {
    let mut view = PreviewSample::Prequeue.view("room", Language::En);
    let first = PageContent::from_view(&view);
    view.now_ms += 1_000;
    view.updated_ms += 1_000;
    let second = PageContent::from_view(&view);
    assert_ne!(first, second);
    assert_eq!(first.without_clock(), second.without_clock());
    view.notices.stale = true;
    assert_ne!(first.without_clock(), PageContent::from_view(&view).without_clock());
}

#[test]
fn a_visitor_who_is_turned_away_asks_again_rarely_and_spread_out() {
    let pauses: Vec<_> =
        (0..1_000).map(|ms| PageView::reopen_check_ms(1_795_262_400_000 + ms)).collect();
    assert!(pauses.iter().all(|pause| (30_000..60_000).contains(pause)), "{pauses:?}");
    let early = pauses.iter().filter(|pause| **pause < 45_000).count();
    assert!((400..600).contains(&early), "{early} of 1000 in the first half");
}
