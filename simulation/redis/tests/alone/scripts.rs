//! Scripts are held to their keys and to the sandbox, and one engine serves many servers.

use vestibule_redis_model::{Engine, Options, Reply, Server};

use crate::{NOW, call, error, eval, server};

#[test]
fn a_script_may_touch_only_its_keys() {
    let mut server = server();
    for command in [
        "'GET', 'b'",
        "'SET', 'b', 1",
        "'MGET', KEYS[1], 'b'",
        "'MSET', KEYS[1], 1, 'b', 2",
        "'DEL', KEYS[1], 'b'",
        "'RENAME', KEYS[1], 'b'",
        "'BITOP', 'NOT', KEYS[1], 'b'",
        "'ZADD', 'b', 1, 'm'",
    ] {
        call(&mut server, "SET a 1");
        let script = format!("return redis.call({command})");
        let wrong = eval(&mut server, &script, &["a"]);
        assert!(error(&wrong).contains("not in its KEYS: b"), "{command}: {wrong:?}");
        let right = eval(&mut server, &script, &["a", "b"]);
        assert!(!matches!(right, Reply::Error(_)), "{command}: {right:?}");
        call(&mut server, "DEL a b");
    }
    server.options_mut().strict_keys = false;
    assert_eq!(eval(&mut server, "return redis.call('SET', 'b', 1)", &[]), Reply::Ok);
}

#[test]
fn scripts_leave_nothing_behind_for_others() {
    let mut server = server();
    for script in ["leak = 1", "string.rep = nil", "_G.leak = 1", "getmetatable('').x = 1 leak = 2"]
    {
        assert!(error(&eval(&mut server, script, &[])).contains("readonly"), "{script}");
    }
    assert!(error(&eval(&mut server, "return leak", &[])).contains("nonexistent global variable"));
    let caught = eval(&mut server, "return { pcall(function() return os.time() end) }", &[]);
    assert!(format!("{caught:?}").contains("Nil"), "{caught:?}");
}

#[test]
fn many_scripts_and_many_arguments_fit_into_one_engine() {
    let mut server = server();
    for i in 0..9000 {
        assert_eq!(eval(&mut server, &format!("return {i}"), &[]), Reply::Int(i));
    }
    let script = "local all = {}
        for i = 1, 5000 do all[i] = i end
        redis.call('SADD', KEYS[1], unpack(all))
        return redis.call('SREM', KEYS[1], unpack(all))";
    assert_eq!(eval(&mut server, script, &["t"]), Reply::Int(5000));
}

#[test]
fn servers_of_one_engine_know_nothing_of_each_other() {
    let engine = Engine::new();
    let mut both = [(); 2].map(|()| Server::new(engine.clone(), Options::default()));
    let Reply::Bulk(sha) = both[0].call(NOW, &[b"SCRIPT", b"LOAD", b"return 1"]) else {
        panic!("no SHA")
    };
    assert_eq!(both[0].call(NOW, &[b"EVALSHA", &sha, b"0"]), Reply::Int(1));
    assert!(error(&both[1].call(NOW, &[b"EVALSHA", &sha, b"0"])).starts_with("NOSCRIPT"));
    eval(&mut both[0], "return redis.call('SET', KEYS[1], 1)", &["a"]);
    assert!(both[1].keyspace().is_empty());
}

#[test]
fn the_servers_of_two_threads_share_an_engine() {
    let engine = Engine::new();
    let count = |engine: Engine| {
        let mut server = Server::new(engine, Options::default());
        for _ in 0..300 {
            let script = "redis.call('INCR', KEYS[1]) return redis.call('INCR', KEYS[1])";
            eval(&mut server, script, &["n"]);
        }
        server.keyspace().text("n").map(<[u8]>::to_vec)
    };
    let other = engine.clone();
    let thread = std::thread::spawn(move || count(other));
    assert_eq!(count(engine), Some(b"600".to_vec()));
    assert_eq!(thread.join().unwrap(), Some(b"600".to_vec()));
}

#[test]
fn errors_name_the_script_and_its_line() {
    let mut server = server();
    let reply = eval(&mut server, "local a = 1\nredis.call('GET')\nreturn a", &[]);
    let text = error(&reply);
    assert!(text.starts_with("ERR Wrong number of args"), "{text}");
    assert!(text.contains(" script: ") && text.ends_with(", on @user_script:2."), "{text}");
    let reply = eval(&mut server, "local a = 1\n\nreturn cjson.decode('{')", &[]);
    assert!(error(&reply).starts_with("ERR user_script:3: Expected object key"), "{reply:?}");
}
