import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.oauth2.sdk.*;
import com.nimbusds.oauth2.sdk.auth.*;
import com.nimbusds.oauth2.sdk.http.HTTPResponse;
import com.nimbusds.oauth2.sdk.id.*;
import com.nimbusds.oauth2.sdk.pkce.*;
import com.nimbusds.oauth2.sdk.token.*;
import com.nimbusds.openid.connect.sdk.*;
import com.nimbusds.openid.connect.sdk.claims.UserInfo;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.validators.*;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.util.List;

/** Nimbus' OAuth 2.0 SDK with OpenID Connect. ../README.md describes the protocol with the parent process. */
public class Nimbus {
  static final BufferedReader INPUT = new BufferedReader(new InputStreamReader(System.in));
  static final ClientID CLIENT_ID = new ClientID(System.getenv("CLIENT_ID"));
  static final Secret SECRET = new Secret(System.getenv("CLIENT_SECRET"));
  static final URI REDIRECT_URI = URI.create(System.getenv("REDIRECT_URI"));
  static final Scope SCOPE = new Scope("openid", "profile", "phone", "offline_access");
  static OIDCProviderMetadata server;

  static void step(String name) {
    System.out.println("step " + name);
    System.out.flush();
  }

  static void expect(boolean holds, String what) {
    if (!holds) throw new AssertionError("not so: " + what);
  }

  /** Lets Alice open the address, sign in and consent; returns the address that her browser is redirected to. */
  static URI visit(URI address) throws Exception {
    System.out.println("visit " + address);
    System.out.flush();
    return URI.create(INPUT.readLine());
  }

  record Begun(AuthorizationCode code, CodeVerifier verifier, Nonce nonce) {}

  static Begun signIn(ClientAuthentication pushedWith) throws Exception {
    State state = new State();
    Nonce nonce = new Nonce();
    CodeVerifier verifier = new CodeVerifier();
    AuthenticationRequest request =
        new AuthenticationRequest.Builder(ResponseType.CODE, SCOPE, CLIENT_ID, REDIRECT_URI)
            .endpointURI(server.getAuthorizationEndpointURI())
            .state(state)
            .nonce(nonce)
            .codeChallenge(verifier, CodeChallengeMethod.S256)
            .build();
    URI address = request.toURI();
    if (pushedWith != null) {
      URI endpoint = server.getPushedAuthorizationRequestEndpointURI();
      var pushed =
          PushedAuthorizationResponse.parse(
              new PushedAuthorizationRequest(endpoint, pushedWith, request).toHTTPRequest().send());
      URI requestUri = pushed.toSuccessResponse().getRequestURI();
      address =
          new AuthorizationRequest.Builder(requestUri, CLIENT_ID)
              .endpointURI(server.getAuthorizationEndpointURI())
              .build()
              .toURI();
    }
    AuthenticationResponse answer = AuthenticationResponseParser.parse(visit(address));
    expect(answer.indicatesSuccess(), "the browser came back with a code");
    expect(answer.getState().equals(state), "the state came back");
    expect(answer.getIssuer().equals(server.getIssuer()), "the answer names its issuer");
    return new Begun(answer.toSuccessResponse().getAuthorizationCode(), verifier, nonce);
  }

  static TokenResponse token(ClientAuthentication client, AuthorizationGrant grant) throws Exception {
    TokenRequest request = new TokenRequest.Builder(server.getTokenEndpointURI(), client, grant).build();
    return OIDCTokenResponseParser.parse(request.toHTTPRequest().send());
  }

  static TokenResponse exchange(ClientAuthentication client, Begun begun) throws Exception {
    return token(client, new AuthorizationCodeGrant(begun.code(), REDIRECT_URI, begun.verifier()));
  }

  static UserInfoResponse userInfo(AccessToken token) throws Exception {
    return UserInfoResponse.parse(new UserInfoRequest(server.getUserInfoEndpointURI(), token).toHTTPRequest().send());
  }

  static void walk(ClientAuthentication client, boolean pushes) throws Exception {
    Begun begun = signIn(pushes ? client : null);
    TokenResponse answer = exchange(client, begun);
    expect(answer.indicatesSuccess(), "tokens for a code: " + answer.toHTTPResponse().getBody());
    var tokens = ((OIDCTokenResponse) answer.toSuccessResponse()).getOIDCTokens();
    var validator =
        new IDTokenValidator(server.getIssuer(), CLIENT_ID, JWSAlgorithm.RS256, server.getJWKSetURI().toURL());
    var claims = validator.validate(tokens.getIDToken(), begun.nonce());
    expect(claims.getSubject().getValue().equals("1-10001"), "the id_token is Alice's");
    AccessTokenValidator.validate(tokens.getAccessToken(), JWSAlgorithm.RS256, claims.getAccessTokenHash());
    step((pushes ? "pushed request, " : "") + "sign-in with PKCE and nonce, id_token verified");

    UserInfo user = userInfo(tokens.getAccessToken()).toSuccessResponse().getUserInfo();
    expect(user.getPhoneNumber().equals("+8613800000001"), "userinfo has the phone number");
    step("userinfo");

    var refreshed = token(client, new RefreshTokenGrant(tokens.getRefreshToken())).toSuccessResponse().getTokens();
    expect(!refreshed.getAccessToken().equals(tokens.getAccessToken()), "refreshing gives a new access token");
    step("refresh");

    refused(exchange(client, begun), OAuth2Error.INVALID_GRANT);
    step("replayed code");

    expect(introspect(client, refreshed.getAccessToken()), "the token is active");
    URI endpoint = server.getRevocationEndpointURI();
    var revoked = new TokenRevocationRequest(endpoint, client, refreshed.getRefreshToken()).toHTTPRequest().send();
    expect(revoked.getStatusCode() == HTTPResponse.SC_OK, "revocation is answered by 200");
    expect(!introspect(client, refreshed.getAccessToken()), "the revoked token is not active");
    ErrorObject error = userInfo(refreshed.getAccessToken()).toErrorResponse().getErrorObject();
    expect(error.getCode().equals(BearerTokenError.INVALID_TOKEN.getCode()), "the revoked token is invalid");
    refused(token(client, new RefreshTokenGrant(refreshed.getRefreshToken())), OAuth2Error.INVALID_GRANT);
    step("introspection, revocation, revoked token");
  }

  static boolean introspect(ClientAuthentication client, Token token) throws Exception {
    var request = new TokenIntrospectionRequest(server.getIntrospectionEndpointURI(), client, token);
    var answer = TokenIntrospectionResponse.parse(request.toHTTPRequest().send());
    return answer.toSuccessResponse().isActive();
  }

  static void refused(TokenResponse answer, ErrorObject with) {
    expect(!answer.indicatesSuccess(), "the request is refused");
    ErrorObject error = answer.toErrorResponse().getErrorObject();
    expect(with.getCode().equals(error.getCode()), error.getCode() + " is " + with.getCode());
  }

  public static void main(String[] arguments) throws Exception {
    server = OIDCProviderMetadata.resolve(new Issuer(System.getenv("ISSUER")));
    step("discovery");
    for (ClientAuthentication client :
        List.of(new ClientSecretBasic(CLIENT_ID, SECRET), new ClientSecretPost(CLIENT_ID, SECRET))) {
      step("client authentication: " + client.getMethod());
      walk(client, false);
      walk(client, true);
    }
    refused(
        exchange(new ClientSecretBasic(CLIENT_ID, new Secret("wrong")), signIn(null)), OAuth2Error.INVALID_CLIENT);
    step("wrong secret");
  }
}
