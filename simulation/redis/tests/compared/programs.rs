//! Random programs of commands, one family at a time and all together.

use crate::{against_both_servers, comparison::Comparison, link::Command, templates::Words};

const PROGRAMS: u64 = 40;
const STEPS: usize = 300;

pub(crate) const STRINGS: &str = "
SET %s %v
SET %s %v (NX|XX|GET|KEEPTTL|EX|nx) (GET|XX|)
SET %s %v (EX|ex) %e (NX|XX|GET|)
SET %s %v PX %p (KEEPTTL|)
SET %s %v EXAT %E
SET %s %v PXAT %P
SETNX %s %v
SETEX %s %e %v
PSETEX %s %p %v
GET %s
GETSET %s %v
GETDEL %s
APPEND %s %v
STRLEN %s
GETRANGE %s %i %i
SETRANGE %s %o %v
MGET %s %s %k
MSET %s %v %k %v
MSET %s %v %s
INCR %s
DECR %s
INCRBY %s %i
DECRBY %s %i
INCRBYFLOAT %s %d
SET %s %i
";

pub(crate) const BITS: &str = "
SETBIT %b %o (0|1|1|1|2|x)
SETBIT %b %o 1
GETBIT %b %o
BITCOUNT %b
BITCOUNT %b %i %i
BITCOUNT %b %o %o (BIT|BYTE|bit|x)
BITCOUNT %b %r
BITPOS %b (0|1|1|2|x)
BITPOS %b (0|1) %r
BITPOS %b (0|1) %i %i
BITPOS %b (0|1) %o %o (BIT|BYTE|x)
BITPOS %b (0|1) %r %r BIT
BITOP (AND|OR|XOR|NOT|and|x) %b %b %b
BITOP NOT %b %b
SETRANGE %b %o ÿÿ
STRLEN %b
";

pub(crate) const HASHES: &str = "
HSET %h %f %v
HSET %h %f %v %f %v ……
HMSET %h %f %v
HSET %h %f %i
HSETNX %h %f %v
HGET %h %f
HMGET %h %f …
HDEL %h %f …
HEXISTS %h %f
HLEN %h
HSTRLEN %h %f
HINCRBY %h %f %i
HINCRBYFLOAT %h %f %d
";

const HASH_LISTS: &str = "
HGETALL %h
HKEYS %h
HVALS %h
";

pub(crate) const SETS: &str = "
SADD %t %m …
SREM %t %m …
SISMEMBER %t %m
SMISMEMBER %t %m …
SCARD %t
";

pub(crate) const SORTED_SETS: &str = "
ZADD %z %n %m
ZADD %z %n %m %n %m ……
ZADD %z (NX|XX|GT|LT|CH|INCR|nx) (GT|LT|CH|INCR|XX|) %n %m
ZADD %z (XX|NX|GT|LT) CH %n %m %n %m
ZINCRBY %z %n %m
ZREM %z %m …
ZSCORE %z %m
ZMSCORE %z %m …
ZCARD %z
ZCOUNT %z %l %l
ZRANK %z %m
ZREVRANK %z %m
ZRANK %z %m WITHSCORE
";

pub(crate) const SORTED_RANGES: &str = "
ZADD %z %r %m %r %m %r %m
ZADD %z %n %m
ZRANGE %z %r %r (WITHSCORES|REV|) (REV|WITHSCORES|)
ZRANGE %z %i %i
ZRANGE %z %l %l BYSCORE (REV|) (WITHSCORES|)
ZRANGE %z %r %r BYSCORE LIMIT %r %r (WITHSCORES|)
ZRANGE %z %r %r REV BYSCORE LIMIT %r %r
ZRANGE %z %r %r LIMIT %r %r
ZREVRANGE %z %r %r (WITHSCORES|)
ZRANGEBYSCORE %z %l %l (WITHSCORES|)
ZRANGEBYSCORE %z %r %r LIMIT %i %i (WITHSCORES|)
ZREVRANGEBYSCORE %z %l %l (WITHSCORES|)
ZREVRANGEBYSCORE %z %r %r LIMIT %r %r
ZREMRANGEBYRANK %z %r %r
ZREMRANGEBYSCORE %z %l %l
ZPOPMIN %z (2|-1|x|0|)
ZPOPMAX %z
ZPOPMAX %z %i
ZCOUNT %z %l %l
";

pub(crate) const KEYS: &str = "
DEL %k …
UNLINK %k
EXISTS %k …
TYPE %k
EXPIRE %k %e (NX|XX|GT|LT|gt|x|) (XX|LT|NX|)
PEXPIRE %k %p (NX|XX|GT|LT|)
EXPIREAT %k %E (NX|XX|GT|LT|)
PEXPIREAT %k %P
EXPIREAT %k (1|1000000000)
PEXPIREAT %k 1
PERSIST %k
RENAME %k %k
RENAMENX %k %k
";

const KEY_LISTS: &str = "
TTL %k
PTTL %k
EXPIRETIME %k
PEXPIRETIME %k
KEYS (*|s*|?1|[bh]1|[^z]*|x|h[1-3]|\\h1)
SCAN 0 COUNT 1000 (MATCH|) (s*|)
SCAN 0 COUNT 1000 TYPE (hash|zset|x)
SCAN (x|0) COUNT (0|1000|x)
SMEMBERS %t
DBSIZE
FLUSHALL (SYNC|x|ASYNC|)
";

const SERVER: &str = "
PING
PING %v
ECHO %v
PUBLISH %m %v
SPUBLISH %m %v
NOSUCH %v %v
WAIT 0 (0|x|-1)
CONFIG (GET|x) maxmemory-policy
SCRIPT (EXISTS|x|LOAD) x
EVAL x (0|x|-1|3)
EVALSHA %m 0
TIME x x
SELECT (0|x|99)
";

fn compare(mut with: Comparison, name: &str, families: &[&str]) {
    let now = with.now_seconds();
    for seed in 0..PROGRAMS {
        let mut words = Words::new(seed, now);
        let step = |_| {
            let family = words.chance.one(families);
            words.command(family)
        };
        let program: Vec<Command> = (0..STEPS).map(step).collect();
        with.run(&format!("{name}, seed {seed}"), &program);
    }
}

against_both_servers!(strings, bits, hashes, sets, sorted_sets, sorted_ranges, keys, all);

fn strings(with: Comparison) {
    compare(with, "strings", &[STRINGS]);
}

fn bits(with: Comparison) {
    compare(with, "bits", &[BITS]);
}

fn hashes(with: Comparison) {
    compare(with, "hashes", &[HASHES, HASHES, HASH_LISTS]);
}

fn sets(with: Comparison) {
    compare(with, "sets", &[SETS]);
}

fn sorted_sets(with: Comparison) {
    compare(with, "sorted sets", &[SORTED_SETS]);
}

fn sorted_ranges(with: Comparison) {
    compare(with, "sorted ranges", &[SORTED_RANGES, SORTED_SETS]);
}

fn keys(with: Comparison) {
    compare(with, "keys", &[KEYS, KEYS, KEY_LISTS, STRINGS, HASHES, SETS]);
}

fn all(with: Comparison) {
    let all =
        [STRINGS, BITS, HASHES, HASH_LISTS, SETS, SORTED_SETS, SORTED_RANGES, KEYS, KEY_LISTS];
    compare(with, "all", &[&all[..], &[SERVER]].concat());
}
