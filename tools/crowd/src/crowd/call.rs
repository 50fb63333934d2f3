//! The calls of a visit, by which everything is counted.

/// A call that a visitor makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Takes a place in the line.
    Join,
    /// Checks in.
    Status,
    /// Takes the seat.
    Claim,
    /// Gives the seat back.
    Leave,
}

// === impl Call ===

impl Call {
    /// Every call, in the order of a visit.
    pub(crate) const ALL: [Self; 4] = [Self::Join, Self::Status, Self::Claim, Self::Leave];

    /// Its name, which is the last segment of its path.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::Status => "status",
            Self::Claim => "claim",
            Self::Leave => "leave",
        }
    }
}
