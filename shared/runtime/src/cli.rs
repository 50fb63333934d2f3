//! From the command line to options, or to an exit code.
//!
//! Whatever is wrong with the configuration ends the process with [`EX_USAGE`], before it binds
//! or connects. The options themselves are in [`crate::options`] and in each service's `cli.rs`.

use std::{
    error::Error,
    ffi::OsString,
    io::{self, ErrorKind, Write},
    process::ExitCode,
};

use clap::Parser;

use crate::error_chain::ErrorChain;

/// Exit code for wrong configuration, as `sysexits.h` has it.
pub const EX_USAGE: u8 = 64;

/// Parses the arguments and the environment of the process.
///
/// # Errors
/// The exit code to end with: 0 after `--help` and `--version`, [`EX_USAGE`] after an explanation
/// on standard error.
pub fn parse<C: Parser>() -> Result<C, ExitCode> {
    parse_from(std::env::args_os()).map_err(ExitCode::from)
}

/// Explains an error of the configuration on standard error, for values that clap cannot check.
#[must_use]
pub fn usage_error(error: &dyn Error) -> ExitCode {
    eprintln!("error: {}", ErrorChain(error));
    ExitCode::from(EX_USAGE)
}

/// Writes a document to standard output. Whoever reads it may stop when it has enough, as `head` does.
#[must_use]
pub fn print_document(text: &str) -> ExitCode {
    match write_while_read(io::stdout().lock(), text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot write: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_while_read(mut out: impl Write, text: &str) -> io::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn parse_from<C: Parser>(arguments: impl IntoIterator<Item = OsString>) -> Result<C, u8> {
    C::try_parse_from(arguments).map_err(|error| {
        // Printing fails only if the terminal is gone.
        let _ = error.print();
        if error.use_stderr() { EX_USAGE } else { 0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[arg(long)]
        count: u32,
    }

    fn parse(arguments: &[&str]) -> Result<u32, u8> {
        let arguments = ["test"].iter().chain(arguments).map(OsString::from);
        parse_from::<Cli>(arguments).map(|cli| cli.count)
    }

    #[test]
    fn wrong_options_are_a_usage_error_and_help_is_not() {
        assert_eq!(parse(&["--count", "3"]), Ok(3));
        assert_eq!(parse(&["--count", "x"]), Err(64));
        assert_eq!(parse(&[]), Err(64));
        assert_eq!(parse(&["--nonsense"]), Err(64));
        assert_eq!(parse(&["--help"]), Err(0));
    }

    struct Pipe(ErrorKind);

    impl Write for Pipe {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_has_read_enough_is_no_error() {
        assert!(write_while_read(Pipe(ErrorKind::BrokenPipe), "text").is_ok());
        assert!(write_while_read(Pipe(ErrorKind::StorageFull), "text").is_err());
        let mut written = Vec::new();
        write_while_read(&mut written, "text").unwrap();
        assert_eq!(written, b"text");
    }
}
