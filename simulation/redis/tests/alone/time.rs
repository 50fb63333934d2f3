//! Keys expire by the time of the call, and nothing else goes by a clock.

use vestibule_redis_model::Reply;

use crate::{NOW, call, call_at, eval, server};

const SECOND: u64 = 1_000_000;

#[test]
fn a_key_lives_through_its_last_millisecond() {
    let mut server = server();
    call(&mut server, "SET a 1 PX 1000");
    call(&mut server, "HSET h f 1");
    call(&mut server, "EXPIRE h 2");
    assert_eq!(call_at(&mut server, NOW + SECOND, "GET a"), Reply::bulk("1"));
    assert_eq!(call_at(&mut server, NOW + SECOND, "PTTL a"), Reply::Int(0));
    assert_eq!(call_at(&mut server, NOW + SECOND + 1000, "GET a"), Reply::Nil);
    assert_eq!(call_at(&mut server, NOW + SECOND, "TTL h"), Reply::Int(1));
    assert_eq!(call_at(&mut server, NOW + 2 * SECOND + 1000, "DBSIZE"), Reply::Int(0));
}

#[test]
fn what_is_gone_does_not_come_back_with_the_clock() {
    let mut server = server();
    call(&mut server, "SET a 1 EX 10");
    server.expire(NOW + 11 * SECOND);
    assert!(server.keyspace().is_empty());
    assert_eq!(call(&mut server, "EXISTS a"), Reply::Int(0));
}

#[test]
fn a_clock_that_goes_back_prolongs_what_is_there() {
    let mut server = server();
    call(&mut server, "SET a 1 EX 10");
    assert_eq!(call_at(&mut server, NOW - 5 * SECOND, "TTL a"), Reply::Int(15));
}

#[test]
fn writes_keep_or_end_an_expiry_as_in_redis() {
    let mut server = server();
    for (command, seconds) in [
        ("INCR a", 100),
        ("APPEND a 1", 100),
        ("SET a 1 KEEPTTL", 100),
        ("RENAME a b", -2),
        ("RENAME b a", 100),
        ("SET a 1", -1),
    ] {
        if seconds == 100 && command == "INCR a" {
            call(&mut server, "SET a 1 EX 100");
        }
        call(&mut server, command);
        assert_eq!(call(&mut server, "TTL a"), Reply::Int(seconds), "{command}");
    }
}

#[test]
fn time_stands_still_in_a_script() {
    let mut server = server();
    let script = "local first = redis.call('TIME')
        for i = 1, 1000 do redis.call('PING') end
        local last = redis.call('TIME')
        return { first[1], first[2], tostring(first[2] == last[2]) }";
    let micros = NOW + 7;
    let reply = server.call(micros, &[b"EVAL", script.as_bytes(), b"0"]);
    let expected = ["1800000000", "7", "true"].map(Reply::bulk);
    assert_eq!(reply, Reply::Array(expected.to_vec()));
}

#[test]
fn a_key_set_in_a_script_expires_by_the_time_of_its_call() {
    let mut server = server();
    eval(&mut server, "return redis.call('SET', KEYS[1], 1, 'PX', 5)", &["a"]);
    assert_eq!(server.keyspace().expires_at("a"), Some(NOW / 1000 + 5));
}
