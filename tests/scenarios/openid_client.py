"""Logs in by a library that others have written: python3 openid_client.py ISSUER CLIENT SECRET REDIRECT_URI METHOD.

METHOD is how the client proves who it is: client_secret_basic, client_secret_post or none. The library's own checks are
what is tested: discovery, PKCE, the state, the id token's signature, issuer, audience, nonce and hash, and the user info.
"""

import json
import sys

import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwk, jwt


def main(issuer, client_id, secret, redirect_uri, method):
    about = requests.get(issuer + "/.well-known/openid-configuration", timeout=10).json()
    assert about["issuer"] == issuer, about
    assert method in about["token_endpoint_auth_methods_supported"], about
    nonce, verifier = generate_token(20), generate_token(48)
    site = OAuth2Session(
        client_id, secret or None, scope="openid", redirect_uri=redirect_uri,
        token_endpoint_auth_method=method, code_challenge_method="S256",
    )
    url, state = site.create_authorization_url(
        about["authorization_endpoint"], nonce=nonce, code_verifier=verifier)
    answer = requests.get(url, allow_redirects=False, timeout=10)
    back = answer.headers["Location"]
    assert answer.status_code == 302 and back.startswith(redirect_uri), (answer.status_code, back)
    token = site.fetch_token(
        about["token_endpoint"], authorization_response=back, state=state, code_verifier=verifier)
    keys = jwk.KeySet.import_key_set(requests.get(about["jwks_uri"], timeout=10).json())
    decoded = jwt.decode(token["id_token"], keys, algorithms=about["id_token_signing_alg_values_supported"])
    claims = CodeIDToken(
        decoded.claims, decoded.header,
        options={"iss": {"essential": True, "value": issuer}, "aud": {"essential": True, "value": client_id}},
        params={"nonce": nonce, "client_id": client_id, "access_token": token["access_token"]},
    )
    claims.validate(leeway=5)
    about_user = site.get(about["userinfo_endpoint"]).json()
    assert about_user["sub"] == claims["sub"], about_user
    print(json.dumps(dict(claims)))


main(*sys.argv[1:])
