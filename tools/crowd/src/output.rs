//! Standard output: what a program has to say, once it knows it.

use std::io::{self, ErrorKind, Write};

/// Prints a text. Whoever reads it may stop when it has enough, as `head` does.
///
/// # Errors
/// If it cannot be written for another reason.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_to(io::stdout().lock(), text)
}

fn print_to(mut out: impl Write, text: &str) -> io::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(print_to(Pipe(ErrorKind::BrokenPipe), "report").is_ok());
        assert!(print_to(Pipe(ErrorKind::StorageFull), "report").is_err());
    }
}
