//! An operator's own page: a Mustache template with the variables of Cloudflare's waiting rooms, so
//! that pages made for those work unchanged. It is checked when it is stored, and again when it is
//! rendered, because a broken page must not prevent anyone from waiting.

use serde_json::{Map, Value};

use crate::{
    PageState, PageText, PageView, PreviewSample, RenderedPage,
    cloudflare::CfWaitingRoom,
    html::reload_seconds,
    language::Language,
    logo::LogoSource,
    mustache::{Template, TemplateProblem},
    policy,
};

/// The longest template, in bytes.
pub const MAX_TEMPLATE: usize = 1_048_576;

/// Variables that Cloudflare's pages do not have: what the operator has set for the room, as text alone.
const OWN: [&str; 5] = ["title", "message", "logo", "logoAlt", "accentColour"];
/// The largest number of problems reported at once.
const MAX_PROBLEMS: usize = 20;

/// A custom page that passed the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomPage {
    template: Template,
}

// === impl CustomPage ===

impl CustomPage {
    /// Parses `html`, and renders it in every state.
    ///
    /// # Errors
    /// All problems, with their lines: the size, the tags, unknown variables.
    pub fn check(html: &str) -> Result<Self, Vec<TemplateProblem>> {
        if html.len() > MAX_TEMPLATE {
            let reason = format!("it must not be longer than {MAX_TEMPLATE} bytes");
            return Err(vec![TemplateProblem::new(1, format!("{reason}, and has {}", html.len()))]);
        }
        if html.trim().is_empty() {
            return Err(vec![TemplateProblem::new(1, "it is empty")]);
        }
        let template = Template::parse(html).map_err(|problem| vec![problem])?;
        let page = Self { template };
        let unknown = page.unknown_variables();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        for sample in PreviewSample::ALL {
            page.render(&sample.view("room", Language::En)).map_err(|problem| vec![problem])?;
        }
        Ok(page)
    }

    /// Whether the custom page is shown for `view`: it is for visitors who wait or are turned away.
    /// Such pages have no texts for entering with a button or for a lost place; there the default
    /// page is shown.
    #[must_use]
    pub fn is_for(view: &PageView) -> bool {
        match view.state {
            PageState::Waiting
            | PageState::Early
            | PageState::Paused
            | PageState::TurnedAway { .. } => true,
            PageState::YourTurn => view.frame.is_in_place,
            PageState::Challenge
            | PageState::Inside
            | PageState::SessionOver
            | PageState::Missed
            | PageState::Busy
            | PageState::NoRoom => false,
        }
    }

    /// The page for `view`.
    ///
    /// # Errors
    /// When the rendered page is too long.
    pub fn render(&self, view: &PageView) -> Result<RenderedPage, TemplateProblem> {
        Ok(RenderedPage {
            html: self.template.render(&values(view), &OWN)?,
            policy: policy::for_custom_page(view),
            refresh_seconds: Some(reload_seconds(view)).filter(|seconds| *seconds > 0),
        })
    }

    fn unknown_variables(&self) -> Vec<TemplateProblem> {
        let known = values(&PreviewSample::Waiting.view("room", Language::En));
        let is_unknown = |name: &str| name != "." && !known.contains_key(name);
        let unknown = self.template.names.iter().filter(|(name, _)| is_unknown(name));
        let problems = unknown.map(|(name, line)| {
            let names = known.keys().map(String::as_str);
            TemplateProblem::new(
                *line,
                format!("there is no variable `{name}`{}", hint(name, names)),
            )
        });
        problems.take(MAX_PROBLEMS).collect()
    }
}

/// The variables of a page: Cloudflare's, and those of templates only.
fn values(view: &PageView) -> Map<String, Value> {
    let form = CfWaitingRoom::from_view(view);
    let wait = [form.wait_time / 60, form.wait_time % 60];
    let mut values = match serde_json::to_value(form) {
        Ok(Value::Object(values)) => values,
        _ => Map::new(),
    };
    let sold_out = matches!(view.state, PageState::TurnedAway { sold_out: true, .. });
    let own = OWN.into_iter().zip(own_values(view).map(Value::from));
    let wait = ["waitTimeHours", "waitTimeHourMinutes"].into_iter().zip(wait.map(Value::from));
    let all = wait.chain(own).chain([("soldOut", sold_out.into())]);
    values.extend(all.map(|(name, value)| (name.to_owned(), value)));
    values
}

/// The values of [`OWN`]; empty where nothing is set.
fn own_values(view: &PageView) -> [String; 5] {
    let frame = &view.frame;
    let said =
        |text: &Option<PageText>| text.as_ref().map_or(String::new(), |text| text.text.clone());
    let colour = frame.accent.map_or(String::new(), |accent| accent.colour().to_string());
    let logo = frame.logo.as_ref().map_or("", LogoSource::as_str).to_owned();
    [said(&frame.title), said(&view.message), logo, said(&frame.logo_alt), colour]
}

/// A hint at the variable that was probably meant.
fn hint<'a>(wrong: &str, mut known: impl Iterator<Item = &'a str>) -> String {
    let meant = known.find(|name| name.eq_ignore_ascii_case(wrong));
    meant.map_or(String::new(), |name| format!("; `{name}` was probably meant"))
}

#[cfg(test)]
mod tests;
