import * as oauth from 'oauth4webapi'
import { beforeAll, expect, it } from 'vitest'
import { ALICE, Client } from '../acceptance/client.ts'
import { httpWire } from '../acceptance/http.ts'
import { sharedSystem } from '../acceptance/system.ts'
import { DEMO_OIDC, EVERYTHING, DEMO_OIDC_CALLBACK as REDIRECT_URI } from './app.ts'
import { visit } from './person.ts'

/** oauth4webapi from npm, which checks every response strictly, against a running service. */

const CLIENT: oauth.Client = { client_id: DEMO_OIDC.id }
const HTTP = { [oauth.allowInsecureRequests]: true }

let server: oauth.AuthorizationServer
let client: Client
let issuer: URL
beforeAll(async () => {
  const { origin } = await sharedSystem()
  issuer = new URL(origin)
  client = new Client(httpWire(origin), origin)
})

it.each(['oidc', 'oauth2'] as const)('oauth4webapi accepts the discovery document (%s)', async (algorithm) => {
  const answer = await oauth.discoveryRequest(issuer, { algorithm, ...HTTP })
  server = await oauth.processDiscoveryResponse(issuer, answer)
  expect(server.issuer).toBe(issuer.origin)
})

it.each([
  ['client_secret_basic', oauth.ClientSecretBasic(DEMO_OIDC.secret)],
  ['client_secret_post', oauth.ClientSecretPost(DEMO_OIDC.secret)],
])('oauth4webapi works from a pushed request to revocation: %s', async (_name, authentication) => {
  const verifier = oauth.generateRandomCodeVerifier()
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
  const parameters = {
    client_id: CLIENT.client_id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: EVERYTHING,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    max_age: '3600',
  }
  const pushed = await oauth.processPushedAuthorizationResponse(
    server,
    CLIENT,
    await oauth.pushedAuthorizationRequest(server, CLIENT, authentication, parameters, HTTP),
  )
  const url = new URL(server.authorization_endpoint ?? '')
  url.search = new URLSearchParams({ client_id: CLIENT.client_id, request_uri: pushed.request_uri }).toString()
  const { location } = await visit(client.newBrowser(), url, { user: ALICE })
  const answer = oauth.validateAuthResponse(server, CLIENT, location, state)
  expect(() =>
    oauth.validateAuthResponse({ ...server, issuer: 'https://other.example' }, CLIENT, location, state),
  ).toThrow()

  const exchanged = await oauth.authorizationCodeGrantRequest(
    server,
    CLIENT,
    authentication,
    answer,
    REDIRECT_URI,
    verifier,
    HTTP,
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server, CLIENT, exchanged, {
    expectedNonce: nonce,
    maxAge: 3_600,
    requireIdToken: true,
  })
  await oauth.validateApplicationLevelSignature(server, exchanged, HTTP)
  const { sub = '' } = oauth.getValidatedIdTokenClaims(tokens) ?? {}
  const info = await oauth.userInfoRequest(server, CLIENT, tokens.access_token, HTTP)
  expect((await oauth.processUserInfoResponse(server, CLIENT, sub, info)).phone_number).toBe('+8613800000001')

  const refreshed = await oauth.processRefreshTokenResponse(
    server,
    CLIENT,
    await oauth.refreshTokenGrantRequest(server, CLIENT, authentication, tokens.refresh_token ?? '', HTTP),
  )
  const introspect = async () =>
    oauth.processIntrospectionResponse(
      server,
      CLIENT,
      await oauth.introspectionRequest(server, CLIENT, authentication, refreshed.access_token, HTTP),
    )
  expect((await introspect()).active).toBe(true)
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(server, CLIENT, authentication, refreshed.refresh_token ?? '', HTTP),
  )
  expect(await introspect()).toEqual({ active: false })

  const again = await oauth.authorizationCodeGrantRequest(
    server,
    CLIENT,
    authentication,
    answer,
    REDIRECT_URI,
    verifier,
    HTTP,
  )
  await expect(oauth.processAuthorizationCodeResponse(server, CLIENT, again)).rejects.toMatchObject({
    error: 'invalid_grant',
  })
})
