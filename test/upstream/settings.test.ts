import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../src/platform/config/index.ts'

/** The settings of an upstream provider: all of them or none, and nothing that contradicts them. */

const ALL = {
  UPSTREAM_ISSUER: 'https://login.example/realms/people',
  UPSTREAM_CLIENT_ID: 'gatehouse',
  UPSTREAM_CLIENT_SECRET: 'a-secret-of-the-provider',
  UPSTREAM_CID: '1',
}
const PRODUCTION = { NODE_ENV: 'production', SECRET_KEY: 'x'.repeat(32), PUBLIC_URL: 'https://gate.example' }

function problemsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
}

describe('an upstream provider', () => {
  it('turns off the features that it takes over', () => {
    const { UPSTREAM_ISSUER, UPSTREAM_USER_ID, SECOND_FACTOR, PASSKEYS, PASSWORD_RESET } = readConfig(ALL)
    expect({ UPSTREAM_ISSUER, UPSTREAM_USER_ID, SECOND_FACTOR, PASSKEYS, PASSWORD_RESET }).toEqual({
      UPSTREAM_ISSUER: 'https://login.example/realms/people',
      UPSTREAM_USER_ID: 'sub',
      SECOND_FACTOR: 'off',
      PASSKEYS: false,
      PASSWORD_RESET: 'off',
    })
    expect(problemsOf({ ...ALL, SECOND_FACTOR: 'off', PASSKEYS: 'off', PASSWORD_RESET: 'off' })).toEqual([])
  })

  it.each([
    ['SECOND_FACTOR', 'offered'],
    ['SECOND_FACTOR', 'required'],
    ['PASSKEYS', 'on'],
    ['PASSWORD_RESET', 'mail'],
  ])('cannot be combined with %s=%s', (name, value) => {
    expect(problemsOf({ ...ALL, [name]: value })).toEqual([
      `${name} must be off with UPSTREAM_ISSUER, where people prove who they are: unset it`,
    ])
  })

  it('owns the whole profile', () => {
    expect(readConfig(ALL).PROFILE_OWNED).toEqual(['name', 'avatar', 'gender', 'phone', 'mail'])
    expect(problemsOf({ ...ALL, PROFILE_OWNED: 'name,avatar,gender,phone,mail' })).toEqual([])
    expect(problemsOf({ ...ALL, PROFILE_OWNED: 'name' })).toEqual([
      'PROFILE_OWNED must name every field with UPSTREAM_ISSUER, which tells them: unset it',
    ])
  })

  it('requires its other settings, and they require it', () => {
    expect(problemsOf({ UPSTREAM_ISSUER: ALL.UPSTREAM_ISSUER })).toEqual(
      ['UPSTREAM_CLIENT_ID', 'UPSTREAM_CLIENT_SECRET', 'UPSTREAM_CID'].map(
        (name) => `UPSTREAM_ISSUER needs ${name}: set it, or unset UPSTREAM_ISSUER`,
      ),
    )
    expect(problemsOf({ UPSTREAM_CLIENT_SECRET: 'a-secret-of-the-provider', UPSTREAM_USER_ID: 'sub' })).toEqual([
      'UPSTREAM_CLIENT_SECRET needs UPSTREAM_ISSUER: set that too, or unset UPSTREAM_CLIENT_SECRET',
      'UPSTREAM_USER_ID needs UPSTREAM_ISSUER: set that too, or unset UPSTREAM_USER_ID',
    ])
  })

  it.each([
    ['UPSTREAM_ISSUER', 'login.example'],
    ['UPSTREAM_ISSUER', 'ftp://login.example'],
    ['UPSTREAM_ISSUER', 'https://login.example/?tenant=1'],
    ['UPSTREAM_ISSUER', 'https://user@login.example'],
    ['UPSTREAM_CLIENT_SECRET', 'short'],
    ['UPSTREAM_SCOPE', 'profile'],
    ['UPSTREAM_SCOPE', 'openid  profile'],
    ['UPSTREAM_CID', '01'],
    ['UPSTREAM_CID', '2147483648'],
    ['UPSTREAM_CID', 'the cid'],
    ['UPSTREAM_USER_ID', 'user id'],
  ])('refuses %s=%s, and names it', (name, value) => {
    const problems = problemsOf({ ...ALL, [name]: value })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(new RegExp(`^${name} must `))
    expect(problems[0]).not.toContain('short')
  })

  it('must use https, except on this machine or in development', () => {
    const plain = 'http://login.example'
    expect(problemsOf({ ...ALL, UPSTREAM_ISSUER: plain })).toEqual([])
    expect(problemsOf({ ...PRODUCTION, ...ALL, UPSTREAM_ISSUER: 'http://localhost:8080' })).toEqual([])
    expect(problemsOf({ ...PRODUCTION, ...ALL, UPSTREAM_ISSUER: plain })).toEqual([
      'UPSTREAM_ISSUER must be an https:// address in production, unless it is of this machine',
    ])
  })

  it('must not be this service itself', () => {
    for (const settings of [{ UPSTREAM_ISSUER: 'http://localhost:3000' }, { PUBLIC_URL: 'https://login.example' }]) {
      expect(problemsOf({ ...ALL, ...settings })).toEqual([
        'UPSTREAM_ISSUER is this service itself (PUBLIC_URL): people cannot sign in there',
      ])
    }
  })
})
