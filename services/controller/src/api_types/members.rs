//! Documents that consist of several types of the domain side by side: reading them part by part,
//! so that a wrong field is named, and their schema. `#[serde(flatten)]` reads such documents too,
//! but neither names a wrong field nor refuses an unknown one.

use std::{
    any::TypeId,
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use utoipa::{
    PartialSchema,
    openapi::{RefOr, Schema, schema::AdditionalProperties},
};
use vestibule_runtime::{Problem, ProblemType, extract::Json};

use super::Wrong;

/// The members of a document, of a room or of an event, as a client sent them, not looked at yet.
#[derive(Debug, Clone, Deserialize)]
pub struct Members(pub(super) Map<String, Value>);

// === impl Members ===

impl Members {
    /// These members over those of `current`, as a JSON merge patch (RFC 7396), but that null does
    /// not remove a member: it stands for itself where a member may be null.
    pub(super) fn over(self, current: &impl Serialize) -> Result<Self, Problem> {
        let Ok(Value::Object(mut merged)) = serde_json::to_value(current) else {
            return Err(Problem::new(ProblemType::Internal));
        };
        merge(&mut merged, self.0);
        Ok(Self(merged))
    }

    /// Takes out the members that `T` documents, and reads a `T` from them.
    ///
    /// # Errors
    /// A 400 that names the wrong field and the reason.
    pub(super) fn take<T: DeserializeOwned + PartialSchema + 'static>(
        &mut self,
    ) -> Result<T, Problem> {
        let Json(part) = Json::from_bytes(&written(&self.documented::<T>()))?;
        Ok(part)
    }

    /// The same, but everything that is wrong is noted: a field that cannot be read is left out, and the rest read again.
    /// `None`: without such a field there is nothing.
    pub(super) fn take_noting<T: DeserializeOwned + PartialSchema + 'static>(
        &mut self,
        wrong: &mut Wrong<'_>,
    ) -> Option<T> {
        let (mut part, mut noted) = (self.documented::<T>(), BTreeSet::new());
        loop {
            let problem = match Json::from_bytes(&written(&part)) {
                Ok(Json(read)) => return Some(read),
                Err(problem) => problem,
            };
            let Some(error) = problem.errors().first() else {
                return wrong.note("", "does not have the expected form");
            };
            let name = error.field.split(['.', '[']).next().unwrap_or_default().to_owned();
            // One that must be there, and was left out since.
            if noted.contains(&name) {
                return None;
            }
            wrong.note::<()>(&error.field, error.reason.clone());
            let was_there = part.remove(&name).is_some();
            noted.insert(name);
            if !was_there {
                return None;
            }
        }
    }

    /// Takes out the members that `T` documents.
    fn documented<T: PartialSchema + 'static>(&mut self) -> Map<String, Value> {
        names_of::<T>().iter().filter_map(|name| self.0.remove_entry(name)).collect()
    }

    /// Notes what no part has taken.
    pub(super) fn note_rest(self, wrong: &mut Wrong<'_>) {
        for name in self.0.keys() {
            wrong.note::<()>(name, format!("unknown field `{name}`"));
        }
    }

    /// Refuses what no part has taken.
    ///
    /// # Errors
    /// A 400 that names each unknown field.
    pub(super) fn refuse_rest(self) -> Result<(), Problem> {
        if self.0.is_empty() {
            return Ok(());
        }
        let problem = Problem::new(ProblemType::InvalidRequest)
            .detail("the body does not have the expected form");
        let name_one = |problem: Problem, name: String| {
            let reason = format!("unknown field `{name}`");
            problem.field(name, reason)
        };
        Err(self.0.into_iter().map(|(name, _)| name).fold(problem, name_one))
    }
}

/// The members that `T` documents, in the order of its fields. They are looked up once: making a schema takes longer than
/// reading an event, of which a document has a hundred thousand.
pub(super) fn names_of<T: PartialSchema + 'static>() -> &'static [String] {
    static KNOWN: Mutex<BTreeMap<TypeId, &'static [String]>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(TypeId::of::<T>()).or_insert_with(|| {
        let RefOr::T(Schema::Object(schema)) = T::schema() else { return &[] };
        schema.properties.into_keys().collect::<Vec<_>>().leak()
    })
}

fn written(part: &Map<String, Value>) -> Vec<u8> {
    // Maps of strings: writing them cannot fail.
    serde_json::to_vec(part).unwrap_or_default()
}

fn merge(target: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (name, value) in patch {
        match (target.get_mut(&name), value) {
            (Some(Value::Object(target)), Value::Object(patch)) => merge(target, patch),
            (_, value) => drop(target.insert(name, value)),
        }
    }
}

/// The schema of an object with the members of all `parts` and no other. (An `allOf` would not do:
/// each part would refuse the members of the others.)
pub(super) fn merged_schema<const N: usize>(
    description: &str,
    parts: [RefOr<Schema>; N],
) -> RefOr<Schema> {
    let mut merged = utoipa::openapi::Object::new();
    merged.description = Some(description.to_owned());
    merged.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
    for part in parts {
        if let RefOr::T(Schema::Object(part)) = part {
            merged.properties.extend(part.properties);
            merged.required.extend(part.required);
        }
    }
    merged.into()
}
