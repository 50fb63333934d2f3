//! The words of a JSON text.

/// One word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    ObjectBegin,
    ObjectEnd,
    ListBegin,
    ListEnd,
    Text(Vec<u8>),
    Number(f64),
    Flag(bool),
    Null,
    Colon,
    Comma,
    End,
    /// What is wrong.
    Error(&'static str),
}

/// Reads words one after the other.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

// === impl Token ===

impl Token {
    /// What messages call it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::ObjectBegin => "T_OBJ_BEGIN",
            Self::ObjectEnd => "T_OBJ_END",
            Self::ListBegin => "T_ARR_BEGIN",
            Self::ListEnd => "T_ARR_END",
            Self::Text(_) => "T_STRING",
            Self::Number(_) => "T_NUMBER",
            Self::Flag(_) => "T_BOOLEAN",
            Self::Null => "T_NULL",
            Self::Colon => "T_COLON",
            Self::Comma => "T_COMMA",
            Self::End => "T_END",
            Self::Error(what) => what,
        }
    }
}

// === impl Tokens ===

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// How far it has read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next word, and where it begins, or what is wrong and where.
    pub(super) fn next(&mut self) -> (Token, usize) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
        let begin = self.at;
        let token = self.read();
        let begin = if matches!(token, Token::Error(_)) { self.at } else { begin };
        (token, begin)
    }

    fn read(&mut self) -> Token {
        let rest = &self.text[self.at..];
        let (token, length) = match rest {
            [] | [0, ..] => return Token::End,
            [b'{', ..] => (Token::ObjectBegin, 1),
            [b'}', ..] => (Token::ObjectEnd, 1),
            [b'[', ..] => (Token::ListBegin, 1),
            [b']', ..] => (Token::ListEnd, 1),
            [b',', ..] => (Token::Comma, 1),
            [b':', ..] => (Token::Colon, 1),
            [b'"', ..] => return self.read_text(),
            [b't', b'r', b'u', b'e', ..] => (Token::Flag(true), 4),
            [b'f', b'a', b'l', b's', b'e', ..] => (Token::Flag(false), 5),
            [b'n', b'u', b'l', b'l', ..] => (Token::Null, 4),
            _ => match number(rest) {
                Some((number, length)) => (Token::Number(number), length),
                None if rest[0] == b'-' => return Token::Error("invalid number"),
                None => return Token::Error("invalid token"),
            },
        };
        self.at += length;
        token
    }

    fn read_text(&mut self) -> Token {
        let mut text = vec![];
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            match rest {
                [] | [0, ..] => return Token::Error("unexpected end of string"),
                [b'"', ..] => {
                    self.at += 1;
                    return Token::Text(text);
                }
                [b'\\', b'u', ..] => match unicode(rest) {
                    Some((char, length)) => {
                        text.extend(char.encode_utf8(&mut [0; 4]).as_bytes());
                        self.at += length;
                    }
                    None => return Token::Error("invalid unicode escape code"),
                },
                [b'\\', escaped, ..] => {
                    let Some(byte) = unescape(*escaped) else {
                        return Token::Error("invalid escape code");
                    };
                    text.push(byte);
                    self.at += 2;
                }
                [b'\\'] => return Token::Error("invalid escape code"),
                [byte, ..] => {
                    text.push(*byte);
                    self.at += 1;
                }
            }
        }
    }
}

fn unescape(byte: u8) -> Option<u8> {
    Some(match byte {
        b'"' | b'\\' | b'/' => byte,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

/// The character of `\uXXXX`, or of two of them, and how long that is.
fn unicode(text: &[u8]) -> Option<(char, usize)> {
    let unit = |text: &[u8]| -> Option<u32> {
        let digits = text.strip_prefix(b"\\u")?.get(..4)?;
        digits.iter().try_fold(0, |all, digit| Some(all * 16 + char::from(*digit).to_digit(16)?))
    };
    let first = unit(text)?;
    if !(0xd800..0xe000).contains(&first) {
        return Some((char::from_u32(first)?, 6));
    }
    let second = unit(text.get(6..)?)?;
    if first >= 0xdc00 || !(0xdc00..0xe000).contains(&second) {
        return None;
    }
    Some((char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))?, 12))
}

/// The number at the beginning, as C's `strtod` reads it, and how long it is.
fn number(text: &[u8]) -> Option<(f64, usize)> {
    let sign = usize::from(text.first() == Some(&b'-'));
    for name in ["infinity", "inf", "nan"] {
        let found = text.get(sign..sign + name.len());
        if found.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes())) {
            let value: f64 = name.parse().ok()?;
            return Some((if sign == 1 { -value } else { value }, sign + name.len()));
        }
    }
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(sign);
    let mut end = sign + whole;
    if whole > 0 && text.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if whole == 0 {
        return None;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits((end + 1 + sign).min(text.len()));
        end += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    Some((std::str::from_utf8(&text[..end]).ok()?.parse().ok()?, end))
}
