//! Bitmaps: counting and finding bits.

use std::ops::Range;

use super::{Args, Command, Keys::First, MANY, READ, command};
use crate::{
    arguments::{forward_part, integer, part, word},
    core::Core,
    failure::{Failure, Outcome, SYNTAX},
    keyspace::Text,
    options::Dialect,
    reply::Reply,
};

pub(super) const COMMANDS: &[Command] = &[
    command("bitcount", (1, MANY), READ, First, bitcount),
    command("bitpos", (2, MANY), READ, First, bitpos),
];

/// A range that was asked for: its ends, and whether they are bits.
struct Asked {
    first: i64,
    last: Option<i64>,
    in_bits: bool,
}

// === impl Asked ===

impl Asked {
    /// BITPOS looks at the unit before the end; of BITCOUNT it depends.
    fn read(args: Args, unit_first: bool) -> Result<Self, Failure> {
        if args.len() > 3 {
            return Err(SYNTAX);
        }
        let first = args.first().map_or(Ok(0), |first| integer(first))?;
        let last = || args.get(1).map(|last| integer(last)).transpose();
        let unit = || match args.get(2).map(|unit| word(unit)).as_deref() {
            Some("BIT") => Ok(true),
            None | Some("BYTE") => Ok(false),
            Some(_) => Err(SYNTAX),
        };
        if unit_first {
            let in_bits = unit()?;
            return Ok(Self { first, last: last()?, in_bits });
        }
        let last = last()?;
        let is_backwards = last.is_some_and(|last| first < 0 && last < first);
        let in_bits = if is_backwards { false } else { unit()? };
        Ok(Self { first, last, in_bits })
    }

    /// The bits of a text of `length` bytes that it means.
    fn bits(&self, length: usize, part: fn(i64, i64, usize) -> Range<usize>) -> Range<usize> {
        let last = self.last.unwrap_or(-1);
        if self.in_bits {
            return part(self.first, last, 8 * length);
        }
        let bytes = part(self.first, last, length);
        8 * bytes.start..8 * bytes.end
    }
}

/// What was asked for, and the text. Redis looks at the key first: where there is none, it does not
/// even read what was asked for.
fn look<'a>(
    core: &'a Core,
    args: Args,
    range: Args,
    unit_first: bool,
) -> Result<Option<(Asked, &'a [u8])>, Failure> {
    if core.options.dialect == Dialect::Redis7 && core.read::<Text>(args[0])?.is_none() {
        return Ok(None);
    }
    let asked = Asked::read(range, unit_first)?;
    Ok(core.read::<Text>(args[0])?.map(|text| (asked, text.as_slice())))
}

fn bitcount(core: &mut Core, args: Args) -> Outcome {
    let is_redis = core.options.dialect == Dialect::Redis7;
    if is_redis && args.len() == 2 && core.read::<Text>(args[0])?.is_some() {
        return Err(SYNTAX);
    }
    let Some((asked, text)) = look(core, args, &args[1..], !is_redis)? else {
        return Ok(Reply::Int(0));
    };
    Ok(Reply::count(count(text, asked.bits(text.len(), forward_part))))
}

/// How many bits of this range are set.
fn count(text: &[u8], bits: Range<usize>) -> usize {
    if bits.is_empty() {
        return 0;
    }
    let (first, last) = (bits.start / 8, (bits.end - 1) / 8);
    let ones = |byte: u8| byte.count_ones() as usize;
    let (chunks, rest) = text[first..=last].as_chunks::<8>();
    let whole: usize =
        chunks.iter().map(|chunk| u64::from_ne_bytes(*chunk).count_ones() as usize).sum();
    let all = whole + rest.iter().copied().map(ones).sum::<usize>();
    // The bits of the first and the last byte that are not in the range.
    let before = ones(text[first] & !(0xff >> (bits.start % 8)));
    let after = ones(text[last] & !(0xff_u8 << (7 - (bits.end - 1) % 8)));
    all - before - after
}

fn bitpos(core: &mut Core, args: Args) -> Outcome {
    let wanted = match integer(args[1])? {
        0 => false,
        1 => true,
        _ => return Err(Failure::new("ERR The bit argument must be 1 or 0.")),
    };
    let Some((asked, text)) = look(core, args, &args[2..], true)? else {
        return Ok(Reply::Int(if wanted { -1 } else { 0 }));
    };
    let bits = asked.bits(text.len(), part);
    let is_set = |bit: usize| text[bit / 8] >> (7 - bit % 8) & 1 == 1;
    let found = bits.clone().find(|bit| is_set(*bit) == wanted);
    // A text goes on with zeros, unless the caller says where it ends.
    let beyond = !wanted && asked.last.is_none() && !bits.is_empty();
    Ok(found.or(beyond.then_some(bits.end)).map_or(Reply::Int(-1), Reply::count))
}
