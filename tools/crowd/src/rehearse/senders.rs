//! Says in a request from where it comes: the address in `X-Forwarded-For`, which counts where admission trusts this
//! machine, and a `User-Agent`.

use reqwest::{
    RequestBuilder,
    header::{HeaderName, USER_AGENT},
};

use crate::crowd::Senders;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Says in a request of the one of this number from where it comes.
pub(super) fn sign(senders: &Senders, nth: usize, request: RequestBuilder) -> RequestBuilder {
    let Some((address, kind)) = senders.sender(nth) else { return request };
    let agent = format!("vestibule-crowd {kind}/{nth}");
    request.header(FORWARDED_FOR, address.to_string()).header(USER_AGENT, agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_and_the_agent_are_told_where_somebody_says_them() {
        let sent = |senders| {
            let request = sign(&senders, 0, reqwest::Client::new().get("http://h/"));
            request.build().unwrap().headers().clone()
        };
        assert!(sent(Senders::Untold).is_empty());
        let headers = sent(Senders::Company(vec![true]));
        assert_eq!(headers[FORWARDED_FOR], "198.18.7.1");
        assert_eq!(headers[USER_AGENT], "vestibule-crowd hoarder/0");
    }
}
