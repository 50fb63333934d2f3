//! AWS's published test vectors, as far as they are about requests that a service can receive: those of its
//! `aws-sig-v4-test-suite`. Left out are values over several lines, paths with dots that an HTTP client resolves before
//! it sends them, and characters that no client sends unencoded.

use super::*;

#[test]
fn the_published_vectors_hold() {
    let unreserved = format!("/{UNRESERVED}");
    let unreserved_query = format!("/?{UNRESERVED}={UNRESERVED}");
    let vectors = [
        get("/", &[], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        get("", &[], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        get(
            "/?Param1=value1",
            &[],
            "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
        ),
        get(
            "/?Param2=value2&Param1=value1",
            &[],
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        get(
            "/?Param1=value2&Param1=value1",
            &[],
            "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694",
        ),
        get(
            "/?Param1=value2&Param1=Value1",
            &[],
            "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1",
        ),
        get(
            &unreserved_query,
            &[],
            "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
        ),
        get(
            "/?%E1%88%B4=bar",
            &[],
            "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04",
        ),
        get(&unreserved, &[], "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
        get(
            "/",
            &[("my-header1", " value1"), ("my-header2", " \"a   b   c\"")],
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
        ),
        get(
            "/",
            &[("my-header1", "value2"), ("my-header1", "value2"), ("my-header1", "value1")],
            "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
        ),
        get(
            "/",
            &[
                ("my-header1", "value4"),
                ("my-header1", "value1"),
                ("my-header1", "value3"),
                ("my-header1", "value2"),
            ],
            "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
        ),
        post("/", &[], "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        post(
            "/?Param1=value1",
            &[],
            "",
            "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
        ),
        post(
            "/",
            &[("my-header1", "value1")],
            "",
            "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
        ),
        post(
            "/",
            &[("my-header1", "VALUE1")],
            "",
            "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
        ),
        post(
            "/",
            &[("content-type", FORM)],
            "Param1=value1",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
        post(
            "/",
            &[("content-type", FORM_IN_UTF8)],
            "Param1=value1",
            "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe",
        ),
    ];
    for vector in &vectors {
        let authorization = authorization(vector, "service");
        let Vector { method, target, headers, .. } = vector;
        let checked = verify(vector, &authorization, &[HOST], &key());
        assert_eq!(checked, Ok(()), "{method} {target} {headers:?}");
        let wrong = SigV4Key::new("another secret".into(), None);
        let refused = verify(vector, &authorization, &[HOST], &wrong);
        assert_eq!(refused, Err(SigV4Error::Signature), "{method} {target}");
    }
}

/// Every step of the published example of `get-vanilla`.
#[test]
fn each_step_of_the_first_vector_is_as_published() {
    let vector = get("/", &[], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
    let text = authorization(&vector, "service");
    let authorization = Authorization::parse(&text).unwrap();
    let headers = [("x-amz-date", DATE)];
    let request =
        SignedRequest { method: "GET", path: "/", query: "", hosts: &[HOST], headers: &headers };
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let canonical = authorization.canonical(&request, "", HOST, empty);
    assert_eq!(
        canonical,
        format!("GET\n/\n\nhost:{HOST}\nx-amz-date:{DATE}\n\nhost;x-amz-date\n{empty}")
    );
    let hash = "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63";
    assert_eq!(
        authorization.string_to_sign(&request, &canonical),
        format!("AWS4-HMAC-SHA256\n{DATE}\n20150830/us-east-1/service/aws4_request\n{hash}")
    );
    assert_eq!(authorization.key_id(), "AKIDEXAMPLE");
}
