//! The deployment's secret, as the options of a service give it.

use secrecy::{ExposeSecret, SecretString};
use vestibule_runtime::{
    options::CommonOptions,
    secret::{SecretError, SecretSource},
};
use vestibule_token::{DeploymentSecret, SecretTooShort};

/// The secret that the options give, and the others that are known while it is replaced.
///
/// # Errors
/// [`SecretError`] names the option that cannot be used, never a secret.
pub fn read_secret(options: &CommonOptions) -> Result<DeploymentSecret, SecretError> {
    let (current, others) = (options.secret_source(), options.secret_previous_source());
    let read_others = others.read_lines()?;
    let others = read_others.iter().map(|text| secret(text, &others));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    Ok(secret(&current.read()?, &current)?.with_others(others))
}

fn secret(text: &SecretString, source: &SecretSource) -> Result<DeploymentSecret, SecretError> {
    let too_short = |SecretTooShort(bytes)| SecretError::TooShort {
        variable: source.variable,
        bytes,
        min_bytes: DeploymentSecret::MIN_BYTES,
    };
    DeploymentSecret::new(text.expose_secret().as_bytes()).map_err(too_short)
}
