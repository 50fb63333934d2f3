//! Reads an address, piece by piece.

use percent_encoding::percent_decode_str;

use super::{Credentials, Host, ServerAddress, Servers};

const FORMS: &str = "the forms are redis://[user:password@]host:port[/database] for one server, \
                     redis://…host:port,host:port,… for a Cluster, \
                     redis+sentinel://…host:port,…/name-of-the-master for Sentinels, and the same with \
                     rediss for TLS";
const ENCODE: &str = "in a user name and a password, write @ as %40, / as %2F, ? as %3F, # as %23, % as \
                      %25";
const SERVER_PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26_379;

/// The pieces of an address, as they stand there.
struct Pieces<'a> {
    tls: bool,
    sentinel: bool,
    credentials: Option<&'a str>,
    hosts: &'a str,
    path: &'a str,
    query: &'a str,
}

/// What a query may say.
#[derive(Default)]
struct Query {
    database: Option<i64>,
    sentinel: Credentials,
}

pub(super) fn address(text: &str) -> Result<ServerAddress, String> {
    let pieces = Pieces::of(text)?;
    let credentials = credentials(pieces.credentials)?;
    let port = if pieces.sentinel { SENTINEL_PORT } else { SERVER_PORT };
    let hosts = hosts(pieces.hosts, port)?;
    let query = query(pieces.query)?;
    let has_sentinel_part = query.sentinel != Credentials::default();
    let (servers, database) = if pieces.sentinel {
        let master = decoded(pieces.path)?;
        if master.is_empty() || master.contains('/') {
            return Err(
                "after the Sentinels comes /name-of-the-master, as in their `sentinel monitor`: \
                        redis+sentinel://host:port,host:port/mymaster"
                    .to_owned(),
            );
        }
        let credentials = has_sentinel_part.then_some(query.sentinel);
        let servers = Servers::Sentinels { sentinels: hosts, master, credentials };
        (servers, query.database.unwrap_or(0))
    } else {
        if has_sentinel_part || query.database.is_some() {
            return Err(
                "`db`, `sentinel_user` and `sentinel_password` belong to redis+sentinel://; the \
                        database of one server is its path: redis://host:port/2"
                    .to_owned(),
            );
        }
        let database = database(pieces.path)?;
        (one_or_cluster(hosts, database)?, database)
    };
    Ok(ServerAddress { servers, tls: pieces.tls, credentials, database })
}

impl<'a> Pieces<'a> {
    fn of(text: &'a str) -> Result<Self, String> {
        let unknown = || format!("it does not begin with a known scheme; {FORMS}");
        let (scheme, rest) = text.trim().split_once("://").ok_or_else(unknown)?;
        let (tls, sentinel) = match scheme.to_ascii_lowercase().as_str() {
            "redis" | "valkey" => (false, false),
            "rediss" | "valkeys" => (true, false),
            "redis+sentinel" | "valkey+sentinel" => (false, true),
            "rediss+sentinel" | "valkeys+sentinel" => (true, true),
            _ => return Err(unknown()),
        };
        if rest.contains('#') {
            return Err(format!("there is a # in it; {ENCODE}"));
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if path.contains('@') || query.contains('@') {
            return Err(format!("an @ stands behind a / or a ?; {ENCODE}"));
        }
        let (credentials, hosts) = match authority.rsplit_once('@') {
            Some((credentials, hosts)) => (Some(credentials), hosts),
            None => (None, authority),
        };
        Ok(Self { tls, sentinel, credentials, hosts, path, query })
    }
}

fn credentials(text: Option<&str>) -> Result<Credentials, String> {
    let Some(text) = text else { return Ok(Credentials::default()) };
    // An @ in a password is plain enough, but with a comma it may be the second of several hosts.
    if text.contains('@') && text.contains(',') {
        return Err(format!(
            "there is more than one @; user and password stand once, before the first host, and hold for \
             all; {ENCODE}"
        ));
    }
    let Some((user, password)) = text.split_once(':') else {
        return Err("before the @ is no colon: it is user:password@, or :password@ without a user"
            .to_owned());
    };
    let given = |text: &str| decoded(text).map(|text| Some(text).filter(|text| !text.is_empty()));
    let found = Credentials { user: given(user)?, password: given(password)? };
    if found.user.is_some() && found.password.is_none() {
        return Err("there is a user and no password: it is user:password@".to_owned());
    }
    Ok(found)
}

fn hosts(text: &str, default_port: u16) -> Result<Vec<Host>, String> {
    let all: Vec<_> = text.split(',').collect();
    let count = all.len();
    let mut hosts = Vec::with_capacity(count);
    for (place, text) in (1..).zip(all) {
        let found = host(text.trim(), default_port);
        let found = found.map_err(|why| format!("host {place} of {count}: {why}"))?;
        if hosts.contains(&found) {
            return Err(format!("host {place} of {count} was named before"));
        }
        hosts.push(found);
    }
    Ok(hosts)
}

fn host(text: &str, default_port: u16) -> Result<Host, String> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (name, port) =
                rest.split_once(']').ok_or("a `[` is never closed: [address]:port")?;
            (name, port.strip_prefix(':').or(port.is_empty().then_some("")))
        }
        None => match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, Some("")),
        },
    };
    let unfit = "after its name comes : and a port from 1 to 65535; an IPv6 address stands in [ ]";
    let port = match port.ok_or(unfit)? {
        "" => default_port,
        port => port.parse().ok().filter(|port| *port > 0).ok_or(unfit)?,
    };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:%".contains(&byte);
    if name.is_empty() {
        return Err("it has no name".to_owned());
    }
    if !name.bytes().all(fits) {
        return Err("its name is no host name and no IP address".to_owned());
    }
    Ok(Host { name: name.to_owned(), port })
}

fn one_or_cluster(hosts: Vec<Host>, database: i64) -> Result<Servers, String> {
    match <[Host; 1]>::try_from(hosts) {
        Ok([host]) => Ok(Servers::One(host)),
        Err(_) if database != 0 => {
            Err("several hosts are a Cluster, and a Cluster has only the database \
                                        0: leave the path out"
                .to_owned())
        }
        Err(hosts) => Ok(Servers::Cluster(hosts)),
    }
}

fn database(text: &str) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let number: Option<u16> = text.parse().ok();
    number.map(i64::from).ok_or_else(|| {
        "the path is no number: it is the database, as in redis://host:port/2; the name of a master \
         belongs to redis+sentinel://"
            .to_owned()
    })
}

fn query(text: &str) -> Result<Query, String> {
    let mut query = Query::default();
    for (place, part) in (1..).zip(text.split('&').filter(|part| !part.is_empty())) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        match name {
            "db" => query.database = Some(database(value)?),
            "sentinel_user" => query.sentinel.user = Some(decoded(value)?),
            "sentinel_password" => query.sentinel.password = Some(decoded(value)?),
            _ => {
                return Err(format!(
                    "part {place} of the query, after the ?, is unknown; there are db, sentinel_user and \
                     sentinel_password, for redis+sentinel:// only; {ENCODE}, & as %26"
                ));
            }
        }
    }
    if query.sentinel.user.is_some() && query.sentinel.password.is_none() {
        return Err("there is a sentinel_user and no sentinel_password".to_owned());
    }
    Ok(query)
}

fn decoded(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded
        .map(String::from)
        .map_err(|_| "user, password or name is not UTF-8 once its %… are decoded".to_owned())
}
