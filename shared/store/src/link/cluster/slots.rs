//! Which node owns which slot, as one node told it. Only primaries: replicas are never asked.

use std::collections::BTreeMap;

use redis::{RedisError, Value, cluster_routing::Slot};
use rustc_hash::FxHashMap;

use crate::link::address::Host;

/// The owners of all slots.
#[derive(Debug, Default)]
pub(super) struct SlotMap {
    primaries: Vec<Host>,
    /// Slot → its owner among the primaries.
    owners: FxHashMap<Slot, usize>,
}

// === impl SlotMap ===

impl SlotMap {
    /// Reads the answer to `CLUSTER SLOTS` of the node at `told_by`.
    pub(super) fn read(answer: Value, told_by: &Host) -> Result<Self, RedisError> {
        let mut map = Self::default();
        for range in redis::from_redis_value::<Vec<Vec<Value>>>(answer)? {
            let mut range = range.into_iter();
            let (Some(Value::Int(first)), Some(Value::Int(last)), Some(primary)) =
                (range.next(), range.next(), range.next())
            else {
                return Err(unreadable());
            };
            let owner = map.index_of(host(primary, told_by)?);
            for slot in first..=last {
                let slot = u16::try_from(slot).ok().and_then(Slot::new).ok_or_else(unreadable)?;
                map.owners.insert(slot, owner);
            }
        }
        Ok(map)
    }

    /// Who owns `slot`, if anybody does.
    pub(super) fn owner(&self, slot: Slot) -> Option<&Host> {
        self.owners.get(&slot).map(|owner| &self.primaries[*owner])
    }

    /// The owners of sharded channels, each with its own; `None`: one of them has none.
    pub(super) fn owners_of<'a>(
        &self,
        channels: &[&'a str],
    ) -> Option<BTreeMap<&Host, Vec<&'a str>>> {
        let mut owners = BTreeMap::<_, Vec<_>>::new();
        for &channel in channels {
            owners.entry(self.owner(Slot::for_key(channel))?).or_default().push(channel);
        }
        Some(owners)
    }

    pub(super) fn primaries(&self) -> &[Host] {
        &self.primaries
    }

    fn index_of(&mut self, host: Host) -> usize {
        let found = self.primaries.iter().position(|primary| *primary == host);
        found.unwrap_or_else(|| {
            self.primaries.push(host);
            self.primaries.len() - 1
        })
    }
}

/// A node that does not know its own name is where it was asked.
fn host(node: Value, told_by: &Host) -> Result<Host, RedisError> {
    let mut node = redis::from_redis_value::<Vec<Value>>(node)?.into_iter();
    let (Some(name), Some(Value::Int(port))) = (node.next(), node.next()) else {
        return Err(unreadable());
    };
    let name: Option<String> = redis::from_redis_value(name)?;
    let name = name.filter(|name| !name.is_empty() && name != "?");
    let port = u16::try_from(port).map_err(|_| unreadable())?;
    Ok(Host { name: name.unwrap_or_else(|| told_by.name.clone()), port })
}

fn unreadable() -> RedisError {
    std::io::Error::other("the answer to CLUSTER SLOTS cannot be read").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str, port: u16) -> Host {
        Host { name: name.to_owned(), port }
    }

    fn node(name: Value, port: i64) -> Value {
        Value::Array(vec![name, Value::Int(port), text("id"), Value::Array(Vec::new())])
    }

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn each_slot_has_the_first_node_named() {
        let range = |first, last, nodes: Vec<Value>| {
            Value::Array([vec![Value::Int(first), Value::Int(last)], nodes].concat())
        };
        let answer = Value::Array(vec![
            range(0, 5, vec![node(text("a"), 1), node(text("replica"), 2)]),
            range(6, 9, vec![node(Value::Nil, 3)]),
            range(10, 16_383, vec![node(text("a"), 1)]),
        ]);
        let map = SlotMap::read(answer, &at("asked", 9)).unwrap();
        let owner = |slot| map.owner(Slot::new(slot).unwrap());
        assert_eq!((owner(5), owner(16_383)), (Some(&at("a", 1)), Some(&at("a", 1))));
        assert_eq!(owner(6), Some(&at("asked", 3)));
        assert_eq!(map.primaries(), [at("a", 1), at("asked", 3)]);
        assert!(SlotMap::read(Value::Array(vec![Value::Int(1)]), &at("x", 1)).is_err());
    }

    #[test]
    fn channels_are_put_together_by_their_owners() {
        let half = |first: i64, last: i64, name: &str| {
            Value::Array(vec![Value::Int(first), Value::Int(last), node(text(name), 1)])
        };
        // The slots of `a` and `b` are 15495 and 3300.
        let answer = |last| Value::Array(vec![half(0, 8_000, "low"), half(8_001, last, "high")]);
        let map = SlotMap::read(answer(16_383), &at("asked", 9)).unwrap();
        let channels = ["{a}:1", "{b}:1", "{a}:2"];
        let (low, high) = (at("low", 1), at("high", 1));
        let owners = [(&high, vec!["{a}:1", "{a}:2"]), (&low, vec!["{b}:1"])].into_iter().collect();
        assert_eq!(map.owners_of(&channels), Some(owners));
        let without_an_owner = SlotMap::read(answer(15_494), &at("asked", 9)).unwrap();
        assert_eq!(without_an_owner.owners_of(&channels), None);
    }
}
