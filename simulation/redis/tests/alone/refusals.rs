//! Servers that refuse: what each error stops, outside of scripts and inside.

use vestibule_redis_model::{Reply, Server};

use crate::{call, error, eval, server};

const READS: [&str; 3] = ["GET a", "TIME", "EXISTS a"];
const WRITES: [&str; 4] = ["SET a 2", "DEL a", "HSET h f 1", "EXPIRE a 5"];

fn refusing(text: &str) -> Server {
    let mut server = server();
    call(&mut server, "SET a 1");
    server.refuse(Some(text));
    server
}

#[test]
fn a_replica_answers_reads_and_refuses_writes() {
    for text in ["READONLY You can't write against a read only replica.", "NOREPLICAS Not enough"] {
        let mut server = refusing(text);
        for read in READS {
            assert!(!matches!(call(&mut server, read), Reply::Error(_)), "{read}");
        }
        for write in WRITES {
            assert_eq!(error(&call(&mut server, write)), text, "{write}");
        }
        assert_eq!(call(&mut server, "PING"), Reply::Status("PONG".to_owned()));
        let read = eval(&mut server, "return redis.call('GET', KEYS[1])", &["a"]);
        assert_eq!(read, Reply::bulk("1"));
        let write = eval(&mut server, "return redis.call('SET', KEYS[1], 2)", &["a"]);
        assert!(error(&write).starts_with(text), "{write:?}");
        let caught = eval(&mut server, "return redis.pcall('SET', KEYS[1], 2).err", &["a"]);
        assert_eq!(caught, Reply::bulk(text));
    }
}

#[test]
fn without_memory_only_what_needs_more_is_refused() {
    let text = "OOM command not allowed when used memory > 'maxmemory'.";
    let mut server = refusing(text);
    assert_eq!(error(&call(&mut server, "SET a 2")), text);
    assert_eq!(error(&call(&mut server, "HINCRBY h f 1")), text);
    assert_eq!(call(&mut server, "DEL a"), Reply::Int(1));
    let write = eval(&mut server, "return redis.call('ZADD', KEYS[1], 1, 'm')", &["z"]);
    assert!(error(&write).starts_with("OOM "), "{write:?}");
}

#[test]
fn a_server_that_cannot_save_refuses_pings_too() {
    let mut server = refusing("MISCONF Errors writing to disk");
    assert!(error(&call(&mut server, "PING")).starts_with("MISCONF"));
    assert!(error(&call(&mut server, "DEL a")).starts_with("MISCONF"));
    assert_eq!(call(&mut server, "GET a"), Reply::bulk("1"));
}

#[test]
fn a_server_that_loads_answers_nearly_nothing() {
    for text in ["LOADING Redis is loading the dataset in memory", "BUSY Redis is busy"] {
        let mut server = refusing(text);
        for command in ["GET a", "SET a 1", "PING", "SCRIPT FLUSH"] {
            assert_eq!(error(&call(&mut server, command)), text, "{command}");
        }
        assert_eq!(error(&eval(&mut server, "return 1", &[])), text);
        assert!(matches!(call(&mut server, "INFO"), Reply::Bulk(_)));
        server.refuse(None);
        assert_eq!(call(&mut server, "GET a"), Reply::bulk("1"));
    }
}

#[test]
fn a_script_stops_where_it_is_refused_and_keeps_what_it_did() {
    let mut server = refusing("OOM no");
    let script = "redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[1], 1) return 1";
    assert!(error(&eval(&mut server, script, &["a"])).starts_with("OOM no"));
    assert!(server.keyspace().is_empty());
}

#[test]
fn wait_answers_what_the_server_was_told() {
    let mut server = server();
    assert_eq!(call(&mut server, "WAIT 1 100"), Reply::Int(0));
    server.options_mut().replicas = 2;
    assert_eq!(call(&mut server, "WAIT 1 100"), Reply::Int(2));
}
