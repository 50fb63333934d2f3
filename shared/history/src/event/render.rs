//! Events as one readable line, for people who look at a violation.

use std::fmt;

use super::{Event, What};

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.at_ms)?;
        if self.began_ms != self.at_ms {
            write!(f, " (began {})", self.began_ms)?;
        }
        write!(f, " {}", self.by)?;
        if let Some(room) = &self.room {
            write!(f, " {}", room.as_str())?;
        }
        write!(f, ": {}", self.what)
    }
}

/// As in the file: names are those of the format, so a line can be searched for.
impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}
