//! A plain connection to a real server: whole programs are sent at once, and answers are read as
//! they are, errors with every word.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use vestibule_redis_model::Reply;

/// A command: its name and arguments.
pub(crate) type Command = Vec<Vec<u8>>;

/// A connection.
pub(crate) struct Link {
    stream: TcpStream,
    answers: BufReader<TcpStream>,
}

// === impl Link ===

impl Link {
    pub(crate) fn to(url: &str) -> Self {
        let stream = TcpStream::connect(url.strip_prefix("redis://").unwrap()).unwrap();
        let answers = BufReader::new(stream.try_clone().unwrap());
        Self { stream, answers }
    }

    /// The answers to these commands.
    pub(crate) fn call_all(&mut self, commands: &[Command]) -> Vec<Reply> {
        let mut answers = vec![];
        // Not so many at once that both sides wait for each other to read.
        for some in commands.chunks(100) {
            self.stream.write_all(&written(some)).unwrap();
            answers.extend(some.iter().map(|_| self.read()));
        }
        answers
    }

    pub(crate) fn call(&mut self, command: &[&str]) -> Reply {
        let command = command.iter().map(|word| word.as_bytes().to_vec()).collect();
        self.call_all(&[command]).remove(0)
    }

    fn read(&mut self) -> Reply {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let (kind, rest) = line.trim_end_matches("\r\n").split_at(1);
        match kind {
            "+" if rest == "OK" => Reply::Ok,
            "+" => Reply::Status(rest.to_owned()),
            "-" => Reply::Error(rest.to_owned()),
            ":" => Reply::Int(rest.parse().unwrap()),
            "$" | "*" if rest == "-1" => Reply::Nil,
            "$" => {
                let mut text = vec![0; rest.parse::<usize>().unwrap() + 2];
                self.answers.read_exact(&mut text).unwrap();
                text.truncate(text.len() - 2);
                Reply::Bulk(text.into())
            }
            "*" => Reply::Array((0..rest.parse().unwrap()).map(|_| self.read()).collect()),
            other => panic!("an answer that begins with {other:?}"),
        }
    }
}

fn written(commands: &[Command]) -> Vec<u8> {
    let mut text = vec![];
    for command in commands {
        text.extend(format!("*{}\r\n", command.len()).into_bytes());
        for word in command {
            text.extend(format!("${}\r\n", word.len()).into_bytes());
            text.extend_from_slice(word);
            text.extend(b"\r\n");
        }
    }
    text
}
