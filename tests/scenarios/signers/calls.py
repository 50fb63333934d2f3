"""Signs one request as a customer of AWS does, and prints how it was answered.

Arguments: the library, the address, a key id, a secret, a session token or "", and a JSON body or "".
"""
import json
import sys

import requests

library, url, key, secret, token, body = sys.argv[1:]
method = "POST" if body else "GET"

if library == "botocore":
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    signed = AWSRequest(method=method, url=url, data=body, headers={"Content-Type": "application/json"})
    SigV4Auth(Credentials(key, secret, token or None), "execute-api", "us-east-1").add_auth(signed)
    answer = requests.request(method, url, data=body, headers=dict(signed.headers))
else:
    from urllib.parse import urlparse

    from aws_requests_auth.aws_auth import AWSRequestsAuth

    auth = AWSRequestsAuth(
        aws_access_key=key,
        aws_secret_access_key=secret,
        aws_host=urlparse(url).netloc,
        aws_region="us-east-1",
        aws_service="execute-api",
        aws_token=token or None,
    )
    # As the original's own inlets do.
    sent = {"json": json.loads(body)} if body else {}
    answer = requests.request(method, url, auth=auth, **sent)

print(json.dumps({"status": answer.status_code, "body": answer.json()}))
