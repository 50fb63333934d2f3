//! Every form is read, and what is wrong is told without a piece of what stands there.

use super::*;

fn parse(text: &str) -> ServerAddress {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn host(name: &str, port: u16) -> Host {
    Host { name: name.to_owned(), port }
}

fn credentials(user: Option<&str>, password: &str) -> Credentials {
    Credentials { user: user.map(str::to_owned), password: Some(password.to_owned()) }
}

#[test]
fn one_server() {
    let plain = parse("redis://127.0.0.1");
    assert_eq!(plain.servers, Servers::One(host("127.0.0.1", 6379)));
    assert_eq!((plain.tls, plain.database, plain.credentials), (false, 0, Credentials::default()));
    let all = parse("rediss://me:p%40s%2Fs%3A%25@redis.example:6380/7");
    assert_eq!(all.servers, Servers::One(host("redis.example", 6380)));
    assert_eq!(all.credentials, credentials(Some("me"), "p@s/s:%"));
    assert!(all.is_encrypted() && all.database == 7);
    assert_eq!(parse("redis://:only@[::1]:7").credentials, credentials(None, "only"));
    assert_eq!(parse("redis://[::1]").servers, Servers::One(host("::1", 6379)));
    assert_eq!(parse("redis://h:1/").database, 0);
    let as_it_is = parse("redis://u:a@b:c+d@h").credentials;
    assert_eq!(as_it_is, credentials(Some("u"), "a@b:c+d"));
}

#[test]
fn several_servers_are_a_cluster() {
    let cluster = parse("rediss://u:p@a:1,b:2, c");
    let hosts = vec![host("a", 1), host("b", 2), host("c", 6379)];
    assert_eq!(cluster.servers, Servers::Cluster(hosts));
    assert_eq!(cluster.credentials, credentials(Some("u"), "p"));
}

#[test]
fn sentinels() {
    let same = parse("redis+sentinel://u:p@a:1,b/my%20master");
    let (sentinels, master) = (vec![host("a", 1), host("b", 26_379)], "my master".to_owned());
    assert_eq!(same.servers, Servers::Sentinels { sentinels, master, credentials: None });
    let own = parse("rediss+sentinel://u:p@a/m?sentinel_user=s&sentinel_password=x%26y+z&db=3");
    let Servers::Sentinels { credentials: found, .. } = own.servers else { panic!() };
    assert_eq!(found, Some(credentials(Some("s"), "x&y+z")));
    assert!(own.tls && own.database == 3);
}

/// A wrong address, and a word of what is said of it.
const WRONG: [(&str, &str); 22] = [
    ("hunter2", "known scheme"),
    ("http://u:hunter2@h", "known scheme"),
    ("redis://", "host 1 of 1: it has no name"),
    ("redis://u:hunter2@", "host 1 of 1"),
    ("redis://u:hunter2@a,:7", "host 2 of 2: it has no name"),
    ("redis://u:hunter2@a:0", "port from 1"),
    ("redis://u:hunter2@a:70000", "port from 1"),
    ("redis://u:hunter2@a:1,a:1", "named before"),
    ("redis://u:hunter2@a b", "no host name"),
    ("redis://u:hunter2@::1", "IPv6"),
    ("redis://u:hunter2@[::1", "never closed"),
    ("redis://u:hun/ter2@host", "%2F"),
    ("redis://u:hun?ter2@host", "%3F"),
    ("redis://u:hun#ter2@host", "%23"),
    ("redis://a:hunter2@h1,b:hunter2@h2", "more than one @"),
    ("redis://hunter2@host", "no colon"),
    ("redis://hunter2:@host", "no password"),
    ("redis://:hunter2@a,b/1", "only the database 0"),
    ("redis://:hunter2@a/master", "no number"),
    ("redis+sentinel://:hunter2@a", "name-of-the-master"),
    ("redis+sentinel://:x@a/m?sentinel_password=a&hunter2", "part 2 of the query"),
    ("redis://:x@a?sentinel_password=hunter2", "belong to redis+sentinel"),
];

#[test]
fn what_is_wrong_is_told_and_never_a_password() {
    for (text, told) in WRONG {
        let error = text.parse::<ServerAddress>().expect_err(text).to_string();
        assert!(error.contains(told), "{text}: {error}");
        for piece in ["hunter2", "ter2"] {
            assert!(!error.contains(piece), "{text}: {error}");
        }
    }
}

#[test]
fn what_is_logged_tells_no_password() {
    let address = parse("redis+sentinel://anna:hunter2@a:1/m?sentinel_password=hunter3");
    let told = format!("{address} {address:?} {:?}", address.servers);
    assert!(told.contains("redis+sentinel://a:1/m") && !told.contains("hunter"), "{told}");
    assert!(!told.contains("anna"), "{told}");
    assert_eq!(parse("redis://:x@[::1]:7/2").to_string(), "redis://[::1]:7/2");
}
