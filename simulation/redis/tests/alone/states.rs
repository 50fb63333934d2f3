//! Earlier states, replicas, losses and new processes.

use vestibule_redis_model::{Dumped, Engine, Options, Reply, Role, Server};

use crate::{call, error, eval, server};

fn filled() -> Server {
    let mut server = server();
    for command in ["SET s 1", "HSET h f 1 g 2", "SADD t a b", "ZADD z 2 b 1 a", "SETBIT bits 9 1"]
    {
        call(&mut server, command);
    }
    server
}

#[test]
fn a_server_goes_back_to_any_earlier_state() {
    let mut server = filled();
    let (before, dump) = (server.snapshot(), server.keyspace().dump());
    for command in
        ["INCR s", "HDEL h f g", "SREM t a", "ZADD z 9 a", "SETBIT bits 3 1", "SET new 1"]
    {
        call(&mut server, command);
    }
    let (after, changed) = (server.snapshot(), server.keyspace().dump());
    assert_ne!(changed, dump);
    server.restore(before.clone());
    assert_eq!(server.keyspace().dump(), dump);
    call(&mut server, "FLUSHALL");
    server.restore(after);
    assert_eq!(server.keyspace().dump(), changed);
    assert_eq!(before.keyspace().dump(), dump);
}

#[test]
fn what_is_held_can_be_looked_at() {
    let server = filled();
    let keys = server.keyspace();
    assert_eq!(&**keys.hash("h").unwrap().get(b"g".as_slice()).unwrap(), b"2");
    assert!(keys.set("t").unwrap().contains(b"a".as_slice()));
    assert_eq!(keys.sorted_set("z").unwrap().rank("b"), Some(1));
    assert_eq!(keys.text("bits"), Some(&[0, 0b0100_0000][..]));
    assert!(keys.hash("s").is_none() && keys.hash("nothing").is_none());
    let (value, expires_at) = &keys.dump()["z"];
    let members = vec![("a".to_owned(), 1.0), ("b".to_owned(), 2.0)];
    assert_eq!((value, expires_at), (&Dumped::SortedSet(members), &None));
}

#[test]
fn a_replica_goes_on_from_the_state_that_it_has() {
    let mut first = filled();
    let lagging = first.snapshot();
    call(&mut first, "SET s 2");
    let options = Options { run_id: "b".repeat(40), role: Role::Replica, ..Options::default() };
    let mut replica = Server::new(first.engine().clone(), options);
    replica.restore(lagging);
    assert_eq!(call(&mut replica, "GET s"), Reply::bulk("1"));
    let Reply::Bulk(info) = call(&mut replica, "INFO") else { panic!("no INFO") };
    let info = String::from_utf8_lossy(&info).into_owned();
    assert!(info.contains("role:slave\r\n"), "{info}");
    assert!(info.contains(&format!("run_id:{}\r\n", "b".repeat(40))), "{info}");
    replica.options_mut().role = Role::Master;
    call(&mut replica, "SET s 3");
    assert_eq!(call(&mut first, "GET s"), Reply::bulk("2"));
}

#[test]
fn one_key_or_all_keys_are_lost() {
    let mut server = filled();
    assert!(server.lose_key("h"));
    assert!(!server.lose_key("h"));
    assert_eq!(call(&mut server, "DBSIZE"), Reply::Int(4));
    server.wipe();
    assert!(server.keyspace().is_empty());
}

#[test]
fn a_new_process_has_the_data_and_none_of_the_scripts() {
    let mut server = filled();
    let Reply::Bulk(sha) = server.call(0, &[b"SCRIPT", b"LOAD", b"return 7"]) else {
        panic!("no SHA")
    };
    assert_eq!(server.call(0, &[b"EVALSHA", &sha, b"0"]), Reply::Int(7));
    call(&mut server, "PUBLISH channel text");
    server.restart("c");
    assert!(error(&server.call(0, &[b"EVALSHA", &sha, b"0"])).starts_with("NOSCRIPT"));
    assert_eq!(server.options().run_id, "c");
    assert!(server.take_messages().is_empty());
    assert_eq!(call(&mut server, "GET s"), Reply::bulk("1"));
    eval(&mut server, "return 7", &[]);
    assert_eq!(server.call(0, &[b"EVALSHA", &sha, b"0"]), Reply::Int(7));
}

#[test]
fn messages_wait_to_be_taken() {
    let mut server = server();
    server.set_subscribers("news", 2);
    assert_eq!(call(&mut server, "PUBLISH news 1"), Reply::Int(2));
    let script = "redis.call('PUBLISH', 'news', 'x') return redis.call('SPUBLISH', 'other', 'y')";
    assert_eq!(eval(&mut server, script, &[]), Reply::Int(0));
    let texts = |server: &mut Server| -> Vec<(String, bool)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let taken = server.take_messages().into_iter();
        taken.map(|it| (text(&it.channel) + "=" + &text(&it.payload), it.sharded)).collect()
    };
    let expected = [("news=1", false), ("news=x", false), ("other=y", true)];
    assert_eq!(texts(&mut server), expected.map(|(text, sharded)| (text.to_owned(), sharded)));
    assert!(texts(&mut server).is_empty());
}

#[test]
fn the_same_history_has_the_same_answers() {
    let run = |engine: Engine| {
        let mut server = Server::new(engine, Options::default());
        let mut answers = vec![];
        for i in 0..500 {
            call(&mut server, &format!("HSET h f{} {i}", i * 7 % 97));
            call(&mut server, &format!("SADD t m{}", i * 11 % 89));
            call(&mut server, &format!("HDEL h f{}", i * 3 % 97));
            answers.push(call(&mut server, "HGETALL h"));
            answers.push(call(&mut server, "SMEMBERS t"));
            answers.push(eval(&mut server, "return tostring(math.random())", &[]));
        }
        answers
    };
    let engine = Engine::new();
    let first = run(engine.clone());
    assert_eq!(first, run(engine));
    assert_eq!(first, run(Engine::new()));
}

#[test]
fn a_server_may_move_to_another_thread() {
    let mut server = filled();
    let answer = std::thread::spawn(move || call(&mut server, "GET s")).join().unwrap();
    assert_eq!(answer, Reply::bulk("1"));
}
