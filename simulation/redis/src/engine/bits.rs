//! The library `bit`: operations on 32 bits.

use mlua::{Lua, Table, Variadic};

#[expect(clippy::cast_possible_truncation, reason = "as in LuaBitOp")]
fn bits(number: f64) -> u32 {
    // The magic number leaves the integer in the lowest bits.
    (number + 6_755_399_441_055_744.0).to_bits() as u32
}

#[expect(clippy::cast_possible_wrap, reason = "results are signed")]
fn signed(bits: u32) -> f64 {
    f64::from(bits as i32)
}

type Fold = fn(u32, u32) -> u32;
type Shift = fn(u32, u32) -> u32;

const FOLDS: [(&str, Fold); 3] =
    [("band", |a, b| a & b), ("bor", |a, b| a | b), ("bxor", |a, b| a ^ b)];

#[expect(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "the sign is shifted in")]
const SHIFTS: [(&str, Shift); 5] = [
    ("lshift", |a, n| a << n),
    ("rshift", |a, n| a >> n),
    ("arshift", |a, n| ((a as i32) >> n) as u32),
    ("rol", u32::rotate_left),
    ("ror", u32::rotate_right),
];

/// The library.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let bit = lua.create_table()?;
    for (name, fold) in FOLDS {
        let fold = move |_: &Lua, (first, rest): (f64, Variadic<f64>)| {
            Ok(signed(rest.iter().fold(bits(first), |all, next| fold(all, bits(*next)))))
        };
        bit.raw_set(name, lua.create_function(fold)?)?;
    }
    for (name, shift) in SHIFTS {
        let shift = move |_: &Lua, (a, n): (f64, f64)| Ok(signed(shift(bits(a), bits(n) & 31)));
        bit.raw_set(name, lua.create_function(shift)?)?;
    }
    bit.raw_set("tobit", lua.create_function(|_, a: f64| Ok(signed(bits(a))))?)?;
    bit.raw_set("bnot", lua.create_function(|_, a: f64| Ok(signed(!bits(a))))?)?;
    bit.raw_set("bswap", lua.create_function(|_, a: f64| Ok(signed(bits(a).swap_bytes())))?)?;
    bit.raw_set("tohex", lua.create_function(|_, (a, n): (f64, Option<f64>)| Ok(hex(a, n)))?)?;
    Ok(bit)
}

/// The last `digits` hex digits; in capitals, if it is negative.
fn hex(number: f64, digits: Option<f64>) -> String {
    #[expect(clippy::cast_possible_wrap, reason = "a negative number asks for capitals")]
    let digits = digits.map_or(8, |digits| bits(digits) as i32);
    let count = digits.unsigned_abs().min(8) as usize;
    let all = format!("{:08x}", bits(number));
    let last = &all[8 - count..];
    if digits < 0 { last.to_uppercase() } else { last.to_owned() }
}
