//! Fields that the domain refuses, as a problem document.

use vestibule_domain::FieldError;
use vestibule_runtime::Problem;

/// Passes when there are no errors.
///
/// # Errors
/// `problem` with each field and its reason.
pub(crate) fn refuse(problem: Problem, errors: Vec<FieldError>) -> Result<(), Problem> {
    if errors.is_empty() {
        return Ok(());
    }
    let name_one = |problem: Problem, error: FieldError| problem.field(error.field, error.reason);
    Err(errors.into_iter().fold(problem, name_one))
}
