"""requests-oauthlib with oauthlib, which refuses answers whose scope differs from the requested one."""

import os

import requests
from oauthlib.oauth2 import WebApplicationClient
from oauthlib.oauth2.rfc6749.errors import InvalidClientError, InvalidGrantError
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

from conversation import CLIENT_ID, CLIENT_SECRET, ISSUER, REDIRECT_URI, SCOPE, SUB, expect, step, visit

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # http, on this machine

found = requests.get(f"{ISSUER}/.well-known/oauth-authorization-server", timeout=30).json()
step("discovery")


def signed_in() -> tuple[OAuth2Session, str]:
    session = OAuth2Session(CLIENT_ID, redirect_uri=REDIRECT_URI, scope=SCOPE.split(" "), pkce="S256")
    url, _ = session.authorization_url(found["authorization_endpoint"])
    return session, visit(url)


for name, credentials in {
    "client_secret_basic": {"auth": HTTPBasicAuth(CLIENT_ID, CLIENT_SECRET)},
    "client_secret_post": {"client_secret": CLIENT_SECRET, "include_client_id": True},
}.items():
    session, came_back = signed_in()
    token = session.fetch_token(found["token_endpoint"], authorization_response=came_back, **credentials)
    expect(session.get(found["userinfo_endpoint"]).json()["sub"], SUB)
    step(f"sign-in with PKCE and userinfo, {name}")

    if name == "client_secret_basic":
        new = session.refresh_token(found["token_endpoint"], **credentials)
    else:
        both = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
        new = session.refresh_token(found["token_endpoint"], **both)
    expect(new["refresh_token"] != token["refresh_token"], True)
    expect(session.get(found["userinfo_endpoint"]).status_code, 200)
    step("refresh")

    try:
        session.fetch_token(found["token_endpoint"], authorization_response=came_back, **credentials)
        raise AssertionError("a code worked twice")
    except InvalidGrantError:
        step("replayed code")

    url, headers, body = WebApplicationClient(CLIENT_ID).prepare_token_revocation_request(
        found["revocation_endpoint"], new["refresh_token"], "refresh_token"
    )
    revoked = requests.post(url, data=body, headers=headers, auth=HTTPBasicAuth(CLIENT_ID, CLIENT_SECRET), timeout=30)
    expect(revoked.status_code, 200)
    session.token = new
    expect(session.get(found["userinfo_endpoint"]).status_code, 401)
    step("revocation, revoked token")

session, came_back = signed_in()
try:
    session.fetch_token(found["token_endpoint"], authorization_response=came_back, client_secret="wrong")
    raise AssertionError("a wrong secret worked")
except InvalidClientError:
    step("wrong secret")
