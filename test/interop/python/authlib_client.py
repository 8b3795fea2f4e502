"""Authlib: its Flask integration signs in by discovery; OAuth2Session does refresh, introspection and revocation."""

from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.flask_client import OAuth
from authlib.integrations.requests_client import OAuth2Session
from flask import Flask, jsonify

from conversation import CLIENT_ID, CLIENT_SECRET, ISSUER, REDIRECT_URI, SCOPE, SUB, expect, step, visit

SITE = REDIRECT_URI.removesuffix("/callback")


def site(secret: str) -> Flask:
    app = Flask(__name__)
    app.secret_key = "of the site's own session"
    oauth = OAuth(app)
    oauth.register(
        "gatehouse",
        client_id=CLIENT_ID,
        client_secret=secret,
        server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
        client_kwargs={"scope": SCOPE, "code_challenge_method": "S256"},
    )

    @app.get("/login")
    def login():
        return oauth.gatehouse.authorize_redirect(REDIRECT_URI)

    @app.get("/callback")
    def callback():
        try:
            token = oauth.gatehouse.authorize_access_token()
        except OAuthError as error:
            return jsonify(error=error.error)
        return jsonify(token=token, user=oauth.gatehouse.userinfo(token=token))

    return app


def sign_in(secret: str = CLIENT_SECRET) -> tuple[dict, str]:
    """Returns what the site got, and the address that the browser was redirected to."""
    browser = site(secret).test_client()
    came_back = visit(browser.get("/login", base_url=SITE).location)
    return browser.get(came_back.removeprefix(SITE), base_url=SITE).get_json(), came_back


signed_in, _ = sign_in()
expect(signed_in["token"]["userinfo"]["sub"], SUB)
step("sign-in by discovery, PKCE and nonce, id_token verified")
expect(signed_in["user"]["phone_number"], "+8613800000001")
step("userinfo")

for method in ("client_secret_basic", "client_secret_post"):
    session = OAuth2Session(
        CLIENT_ID,
        CLIENT_SECRET,
        scope=SCOPE,
        redirect_uri=REDIRECT_URI,
        code_challenge_method="S256",
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
    )
    verifier = "v" * 64
    url, state = session.create_authorization_url(f"{ISSUER}/oauth2/authorize", code_verifier=verifier)
    exchange = {"authorization_response": visit(url), "state": state, "code_verifier": verifier}
    token = session.fetch_token(f"{ISSUER}/oauth2/token", **exchange)
    expect(session.get(f"{ISSUER}/oauth2/userinfo").json()["sub"], SUB)
    new = session.refresh_token(f"{ISSUER}/oauth2/token", refresh_token=token["refresh_token"])
    expect(new["access_token"] != token["access_token"], True)
    expect(session.get(f"{ISSUER}/oauth2/userinfo").status_code, 200)
    step(f"refresh, {method}")

    try:
        session.fetch_token(f"{ISSUER}/oauth2/token", **exchange)
        raise AssertionError("a code worked twice")
    except OAuthError as error:
        expect(error.error, "invalid_grant")
    step("replayed code")

    session.token = new
    introspected = session.introspect_token(f"{ISSUER}/oauth2/introspect", token=new["access_token"])
    expect(introspected.json()["active"], True)
    expect(session.revoke_token(f"{ISSUER}/oauth2/revoke", token=new["refresh_token"]).status_code, 200)
    gone = session.introspect_token(f"{ISSUER}/oauth2/introspect", token=new["access_token"])
    expect(gone.json(), {"active": False})
    expect(session.get(f"{ISSUER}/oauth2/userinfo").status_code, 401)
    step("introspection, revocation, revoked token")

expect(sign_in("wrong")[0], {"error": "invalid_client"})
step("wrong secret")
