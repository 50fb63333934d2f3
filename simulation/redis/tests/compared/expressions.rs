//! Random expressions of Lua, as scripts use them.

use crate::{
    link::Command,
    programs::{BITS, HASHES, KEYS, SETS, SORTED_RANGES, SORTED_SETS, STRINGS},
    templates::Words,
};

/// Makes expressions.
pub(crate) struct Expressions(Words);

const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "-1",
    "3.7",
    "-3.7",
    "0.1",
    "2^31",
    "2^53",
    "-2^53",
    "2^53 + 1",
    "2^62",
    "2^63",
    "-2^63",
    "1e15",
    "123456789012345678",
    "1e17",
    "1e100",
    "1/0",
    "-1/0",
    "-0",
    "1e-7",
    "100 / 3",
    "7 % 3",
    "1e-300",
];
const TEXTS: [&str; 12] = [
    "''",
    "'a'",
    "'hello world'",
    "'\\0x\\255'",
    "'line\\nline'",
    "'12'",
    "'0x10'",
    "' 7 '",
    "'1e3'",
    "'\"quoted\\\\ / '",
    "'\\127\\1\\27'",
    "'\\195\\188'",
];
const REPLIES: [&str; 11] = [
    "{ ok = 'FINE' }",
    "{ ok = 'OK' }",
    "{ err = 'BAD thing' }",
    "{ err = 'bad' }",
    "{ double = 1.5 }",
    "redis.status_reply('fine')",
    "redis.error_reply('CODE what')",
    "redis.error_reply('what')",
    "redis.error_reply('-CODE what')",
    "redis.error_reply(1)",
    "redis.status_reply()",
];
const DOCUMENTS: [&str; 40] = [
    "{}",
    "[]",
    "null",
    "true",
    "1",
    "-1.5e3",
    "\"text\"",
    "[1,2,3]",
    "[1,null,3]",
    "[[],{}]",
    "{\"a\":1,\"b\":[true,false,null],\"c\":{\"d\":\"e\"}}",
    "[1e15,12345678901234567,0.1,1e300]",
    " [ 1 , 2 ] ",
    "\"\\u00fc\\ud83d\\ude00\\n\\/\"",
    "{\"a\":{}}",
    "[0.1,100000000000000,1e14]",
    "{\"1\":\"a\",\"2\":\"b\"}",
    "9007199254740993",
    "[3.0,-0,-0.0]",
    "\"\\u0000\"",
    "",
    "{",
    "[1,2",
    "[1,]",
    "{\"a\"}",
    "{\"a\":}",
    "{a:1}",
    "nul",
    "tru",
    "-",
    "01",
    "1 2",
    "\"abc",
    "\"\\x\"",
    "\"\\ud800\"",
    "\"\\u12\"",
    "[1 2]",
    "{\"a\":1 \"b\"}",
    "Infinity",
    "nan",
];
const FORMATS: [&str; 10] =
    ["%d", "%5.2f", "%g", "%s", "%x", "%.14g", "%-6d|", "%05d", "%c", "%.3f"];

// === impl Expressions ===

impl Expressions {
    pub(crate) fn new(words: Words) -> Self {
        Self(words)
    }

    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.0.chance.once_in(n)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0.chance.below(n)
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        self.0.chance.one(of)
    }

    /// A value of any kind.
    pub(crate) fn value(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 9 } else { 13 }) {
            0 | 1 => self.one(&NUMBERS).to_owned(),
            2 => self.one(&TEXTS).to_owned(),
            3 => {
                self.one(&["true", "false", "nil", "cjson.null", "try", "KEYS", "ARGV"]).to_owned()
            }
            4 => self.one(&REPLIES).to_owned(),
            5 | 6 => self.library_call(),
            7 => self.command(),
            8 => self.one(&["KEYS[1]", "ARGV[2]", "ARGV[5]", "#ARGV", "ARGV[2] + 1"]).to_owned(),
            _ => {
                let items: Vec<_> = (0..self.below(5)).map(|_| self.value(depth - 1)).collect();
                format!("{{ {} }}", items.join(", "))
            }
        }
    }

    fn library_call(&mut self) -> String {
        let (number, text) = (self.one(&NUMBERS), self.one(&TEXTS));
        match self.below(16) {
            0 => format!("tostring({number})"),
            1 => format!("tonumber({text})"),
            2 => format!("try(string.format, '{}', {number})", self.one(&FORMATS)),
            3 => format!("string.format('%q %s', {text}, {text})"),
            4 => format!("({text}):rep(2) .. #{text}"),
            5 => format!("table.concat({{ {number}, {text}, 3 }}, '-')"),
            6 => format!("select('#', unpack({{ {number}, nil, {text} }}))"),
            7 => format!("math.floor({number}) .. ' ' .. math.max({number}, 2)"),
            8 => {
                format!("bit.{}({number}, 5)", self.one(&["band", "bor", "bxor", "lshift", "ror"]))
            }
            9 => format!("redis.sha1hex({text})"),
            10 => format!("try(tostring, {text} + 1 == nil)"),
            11 => format!("({text}):gsub('%a', '<%0>')"),
            12 => format!("math.random() .. ' ' .. math.random({})", self.one(&["9", "2, 3"])),
            13 => format!("bit.tohex({number}) .. bit.arshift({number}, 3) .. bit.bswap({number})"),
            14 => format!("({text}):match('^(%a*)') .. ({text}):upper() .. ({text}):byte(1, -1)"),
            _ => format!("try(loadstring('return {} + 1'))", self.one(&["1", "x", "KEYS"])),
        }
        .replace("try(tostring, ", "try(function(x) return x end, ")
    }

    /// JSON made, read, or both.
    pub(crate) fn json(&mut self) -> String {
        let document = quoted(self.one(&DOCUMENTS).as_bytes());
        match self.below(6) {
            0 => format!("try(cjson.decode, {document})"),
            1 => format!("try(function() return cjson.encode(cjson.decode({document})) end)"),
            2 => format!("cjson.decode({document})"),
            3 => format!("try(cjson.encode, {})", self.table(2)),
            _ => format!("cjson.encode({})", self.table(3)),
        }
    }

    /// A value that is mostly fit for JSON.
    fn table(&mut self, depth: usize) -> String {
        let fields: &[&str] = &["a", "bb", "c1", "[1]", "[2]", "[20]", "[2.5]", "['x/y']", "[-1]"];
        match self.below(if depth == 0 { 4 } else { 8 }) {
            0 | 1 => self.one(&NUMBERS).to_owned(),
            2 => self.one(&TEXTS).to_owned(),
            3 => self.one(&["true", "false", "cjson.null", "{}", "nil", "try"]).to_owned(),
            4 | 5 => {
                let items: Vec<_> = (0..self.below(4)).map(|_| self.table(depth - 1)).collect();
                format!("{{ {} }}", items.join(", "))
            }
            _ => {
                let field = |_| format!("{} = {}", self.one(fields), self.table(depth - 1));
                let items: Vec<_> = (0..3).map(field).collect();
                format!("{{ {} }}", items[..].join(", "))
            }
        }
    }

    /// A command, whose error is caught or is a value.
    pub(crate) fn command(&mut self) -> String {
        let families = [STRINGS, BITS, HASHES, SETS, SORTED_SETS, SORTED_RANGES, KEYS];
        let family = self.one(&families);
        let arguments = self.arguments(family);
        match self.below(3) {
            0 => format!("try(redis.call, {arguments})"),
            1 => format!("try(function() return redis.call({arguments}) end)"),
            _ => format!("redis.pcall({arguments})"),
        }
    }

    fn arguments(&mut self, family: &str) -> String {
        let command: Command = self.0.command(family);
        let argument = |word: &Vec<u8>| {
            let text = String::from_utf8_lossy(word);
            let is_number = text.parse::<i32>().is_ok_and(|number| number.to_string() == text);
            if is_number && self.once_in(2) {
                return text.into_owned();
            }
            match self.below(90) {
                0 => self.one(&["3.7", "0.1", "2^53", "1/0", "100 / 3", "-0", "2^62"]).to_owned(),
                1 => self.one(&["nil", "true", "{}"]).to_owned(),
                _ => quoted(word),
            }
        };
        command.iter().map(argument).collect::<Vec<_>>().join(", ")
    }

    /// A statement that mostly raises an error.
    pub(crate) fn error(&mut self) -> String {
        let calls = [
            "error('what')",
            "error('what', 0)",
            "error({ err = 'CODE what' })",
            "error(12)",
            "error(redis.error_reply('CODE what'))",
            "local x = nil + 1",
            "local x = {} .. 'a'",
            "local x = unknown",
            "unknown = 1",
            "redis.call = nil",
            "string.x = 1",
            "local x = ('a').b.c",
            "redis.call()",
            "redis.call({})",
            "redis.call('nosuch')",
            "redis.call('get')",
            "redis.call('hget', 's1', 'f')",
            "redis.call('incr', 'h1')",
            "assert(false)",
            "assert(nil, 'told so')",
            "assert(1)",
            "redis.log('x', 'y')",
            "redis.log(redis.LOG_WARNING, 'y')",
            "redis.sha1hex()",
            "cjson.decode('{')",
            "cjson.encode(try)",
            "cjson.encode({ [1] = 1, [99] = 2 })",
            "cjson.encode(1/0)",
            "cjson.decode()",
            "tostring()",
            "ipairs()",
            "('x'):rep()",
            "unpack({}, 1, 1e7)",
            "do return redis.call('get', 'h1') end",
            "do return cjson.decode('[') end",
            "do return try(redis.call, 'get', 'h1') end",
            "do return pcall(error, { err = 'A b' }) end",
            "do return { xpcall(function() error('x') end, function(e) return e .. '!' end) } end",
            "do return { pcall(error) } end",
            "do return { pcall(error, { 1, 2 }) } end",
            "do local co = coroutine.wrap(function(a) return coroutine.yield(a) end) return co(7) end",
            "do return { coroutine.resume(coroutine.create(function() error('x') end)) } end",
            "local function f() return f() + 1 end f()",
            "local t = setmetatable({}, { __index = redis }) \
             return t.call('ping')",
        ];
        self.one(&calls).to_owned()
    }
}

/// As a literal of Lua.
fn quoted(text: &[u8]) -> String {
    let plain = |byte: &u8| match byte {
        b' '..=b'~' if !matches!(byte, b'\'' | b'\\') => char::from(*byte).to_string(),
        other => format!("\\{other:03}"),
    };
    format!("'{}'", text.iter().map(plain).collect::<String>())
}
