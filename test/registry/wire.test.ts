import { describe, expect, it } from 'vitest'
import { MICRO_APP_FIELDS } from '../../src/authorization/registry/micro-app-fields.ts'
import { microAppChanges, newMicroApp } from '../../src/authorization/registry/wire.ts'
import type { Fields } from '../../src/platform/db/record-fields.ts'
import { rotation } from '../../src/platform/lib/crypto/generated-secret.ts'
import { InvalidInput, parseInput } from '../../src/platform/lib/json/input.ts'
import { failureEnvelope } from '../../src/platform/lib/web/envelope.ts'
import { problemsOf } from './problems.ts'

const defaultsOf = (fields: Fields): object =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { created }]) => {
      const { data } = created?.safeParse(undefined) ?? {}
      return data === undefined ? [] : [[name, data]]
    }),
  )

const NO_TARGET = 'is required where there are no redirect URIs'
const NO_PUBLIC_TARGET = 'is required where token_auth_methods is none'
const least = { name: 'Tickets', hosts: ['example.com'], scopes: ['USER_INFO'] }

describe('a new micro-app', () => {
  it('requires a name, a host and a scope, and gets the documented defaults', () => {
    const created = parseInput(newMicroApp, least)
    expect(created).toMatchObject({
      ...least,
      status: 'approved',
      logo_url: null,
      redirect_uris: [],
      refresh_days: 30,
      refresh_policy: 'fixed',
      http_allowed: true,
      post_logout_uris: [],
      token_auth_methods: ['client_secret_basic', 'client_secret_post'],
      jwks: null,
      require_pkce: true,
      always_ask: false,
      cors_origins: [],
      id_token_alg: 'RS256',
    })
    // The same defaults as in the field descriptions.
    expect(created).toEqual({ ...defaultsOf(MICRO_APP_FIELDS), ...least })
  })

  it('normalizes hosts, removes duplicates, and keeps redirect URIs unchanged', () => {
    const input = {
      ...least,
      hosts: ['EXAMPLE.com', 'example.com.', '*.Example.com'],
      scopes: ['PHONE_NUMBER', 'USER_INFO', 'PHONE_NUMBER'],
      redirect_uris: ['HTTPS://Example.com/CB?a=%2F', 'HTTPS://Example.com/CB?a=%2F'],
    }
    expect(parseInput(newMicroApp, input)).toMatchObject({
      hosts: ['example.com', '*.example.com'],
      scopes: ['PHONE_NUMBER', 'USER_INFO'],
      redirect_uris: ['HTTPS://Example.com/CB?a=%2F'],
    })
  })

  it('reports every problem at once, each with its field', () => {
    const input = {
      app_key: 'a b',
      name: ' ',
      logo_url: 'ftp://example.com/logo.png',
      hosts: ['ok.com', 'https://bad.com', 7],
      redirect_uris: ['https://ok.com/cb#x', '/cb', 'https://u:p@ok.com/', 'https://ok.com\\cb'],
      scopes: ['USER_INFO', 'EVERYTHING'],
      refresh_days: 8,
      refresh_policy: 'never',
      http_allowed: 'yes',
      status: 'suspended',
      colour: 'red',
      app_secret: 'mine',
    }
    expect(problemsOf(newMicroApp, input)).toEqual({
      app_key: 'must have 3 to 64 characters of A-Z a-z 0-9 _ - and not begin with "-"',
      name: 'must have at least 1 character',
      logo_url: 'must be an absolute http:// or https:// URL',
      'hosts[1]': 'must be the host alone, without a scheme: example.com',
      'hosts[2]': 'must be a string',
      'redirect_uris[0]': 'must not have a fragment',
      'redirect_uris[1]': 'must be an absolute http:// or https:// URL',
      'redirect_uris[2]': 'must not contain a user name or password',
      'redirect_uris[3]': 'must not contain whitespace, backslashes or control characters',
      'scopes[1]': 'must be USER_INFO or PHONE_NUMBER',
      refresh_days: 'must be 7 or 30 or 60 or 90',
      refresh_policy: 'must be fixed or rotating',
      http_allowed: 'must be true or false',
      status: 'must be pending or approved',
      colour: 'is not a known field',
      app_secret: 'is not a known field',
    })
  })

  it.each([
    [{}, { name: 'is required', hosts: NO_TARGET, scopes: 'is required' }],
    [
      { ...least, hosts: [], scopes: [] },
      { hosts: NO_TARGET, scopes: 'must have at least one entry' },
    ],
    [{ ...least, hosts: undefined, redirect_uris: [] }, { hosts: NO_TARGET }],
    [
      { ...least, hosts: undefined, redirect_uris: ['ftp://x'] },
      { 'redirect_uris[0]': 'must be an absolute http:// or https:// URL' },
    ],
    [{ ...least, token_auth_methods: ['none'] }, { redirect_uris: NO_PUBLIC_TARGET }],
    [{ ...least, hosts: [], token_auth_methods: ['none'] }, { redirect_uris: NO_PUBLIC_TARGET }],
    [{ ...least, hosts: 'example.com' }, { hosts: 'must be a list' }],
    [{ ...least, token_auth_methods: [] }, { token_auth_methods: 'must have at least one entry' }],
    [
      { ...least, token_auth_methods: ['none', 'client_secret_post'] },
      { token_auth_methods: 'with none cannot have another entry' },
    ],
    [
      { ...least, token_auth_methods: ['client_secret_jwt'] },
      { 'token_auth_methods[0]': 'must be client_secret_basic or client_secret_post or private_key_jwt or none' },
    ],
    [
      { ...least, cors_origins: ['https://app.example.com/', 'https://APP.example.com', '*', 'null'] },
      {
        'cors_origins[0]': 'must be an origin such as https://app.example.com',
        'cors_origins[1]': 'must be an origin such as https://app.example.com',
        'cors_origins[2]': 'must be an origin such as https://app.example.com',
        'cors_origins[3]': 'must be an origin such as https://app.example.com',
      },
    ],
    [
      { ...least, post_logout_uris: ['https://a.example/#x', 'https://a.example/?a=b&state=c'] },
      {
        'post_logout_uris[0]': 'must not have a fragment',
        'post_logout_uris[1]': 'must not have state in its query',
      },
    ],
    [{ ...least, jwks: 'nonsense' }, { jwks: 'must be a JSON Web Key Set of public keys' }],
    [{ ...least, jwks: '{"keys":[{"kty":"EC","d":"x"}]}' }, { jwks: 'must be a JSON Web Key Set of public keys' }],
    [{ ...least, id_token_alg: 'none' }, { id_token_alg: 'must be RS256 or ES256' }],
    [{ ...least, hosts: Array(101).fill('a.com') }, { hosts: 'must have at most 100 entries' }],
    [{ ...least, name: 'x'.repeat(101) }, { name: 'must have at most 100 characters' }],
    [{ ...least, name: 'Tick\u200bets' }, { name: 'must not contain characters that nobody sees' }],
    [{ ...least, name: 'Tick\u202eets' }, { name: 'must not contain control characters or marks of text direction' }],
    [{ ...least, name: 'Tick\u0000ets' }, { name: 'must not contain U+0000' }],
    [undefined, { body: 'is required' }],
    [null, { body: 'must be a JSON object' }],
    [[], { body: 'must be a JSON object' }],
    ['text', { body: 'must be a JSON object' }],
  ])('%j is refused', (input, problems) => {
    expect(problemsOf(newMicroApp, input)).toEqual(problems)
  })

  it.each(['code', 'state', 'iss', 'error', 'error_description', '%69ss'])(
    'must not have a redirect URI with %s, which a response may add',
    (name) => {
      const redirect_uris = [`https://a.example/cb?a=b&${name}=c`, `https://a.example/cb?a=${name}&x${name}=c`]
      expect(problemsOf(newMicroApp, { ...least, redirect_uris })).toEqual({
        'redirect_uris[0]': 'must not have code, state, iss, error or error_description in its query',
      })
    },
  )

  it('needs no host if it has redirect URIs', () => {
    const { hosts: _, ...others } = least
    expect(parseInput(newMicroApp, { ...others, redirect_uris: ['https://a.example/cb'] }).hosts).toEqual([])
  })

  it('cannot be given an app_key that would read as an option', () => {
    expect(Object.keys(problemsOf(newMicroApp, { ...least, app_key: '-abc' }))).toEqual(['app_key'])
    expect(problemsOf(newMicroApp, { ...least, app_key: '_-a' })).toEqual({})
  })
})

describe('changes', () => {
  it('contain only the given fields, without defaults', () => {
    expect(parseInput(microAppChanges, { http_allowed: false })).toEqual({ http_allowed: false })
    expect(parseInput(microAppChanges, { logo_url: null, scopes: [] })).toEqual({ logo_url: null, scopes: [] })
  })

  it('must not contain key or status', () => {
    expect(problemsOf(microAppChanges, { app_key: 'x', status: 'approved' })).toEqual({
      app_key: 'is not a known field',
      status: 'is not a known field',
    })
  })
})

describe('a rotation', () => {
  it('has an overlap of a day by default', () => {
    expect(parseInput(rotation, {})).toEqual({ overlap_s: 86_400 })
  })

  it.each([-1, 0.5, 2_592_001, '60', null])('with an overlap of %j is refused', (overlap_s) => {
    expect(Object.keys(problemsOf(rotation, { overlap_s }))).toEqual(['overlap_s'])
  })
})

it('the envelope of 20007 lists the problems beside the message', () => {
  const error = new InvalidInput([
    { field: 'name', problem: 'is required' },
    { field: 'hosts[0]', problem: 'must not be empty' },
  ])
  expect(failureEnvelope(error)).toEqual({
    rescode: 20007,
    data: {
      message: 'Invalid request: name is required; hosts[0] must not be empty',
      problems: error.problems,
    },
  })
})
