import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig, withPort } from '../src/config.ts'

const problemsOf = (environment: Record<string, string>): string => {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

describe('the configuration', () => {
  it('is complete without any variable, and frozen', () => {
    const config = readConfig({})
    expect(config).toMatchObject({ PORT: 3000, PUBLIC_URL: 'http://localhost:3000', DEMO: true, DEMO_PORT: 3001 })
    expect(Object.isFrozen(config)).toBe(true)
  })

  it('names each bad variable and its mend, all at once', () => {
    const problems = problemsOf({ PORT: 'eighty', LOG_LEVEL: 'loud', SECRET_KEY: 'short', DATABASE_URL: 'mysql://x' })
    expect(problems.split('\n')).toEqual([
      'PORT must be a whole number',
      'DATABASE_URL must be a postgres:// address',
      expect.stringMatching(/^SECRET_KEY must have at least 32 characters; make one with: openssl/),
      'LOG_LEVEL must be a pino level',
    ])
  })

  it.each([
    [{ NODE_ENV: 'production' }, /^SECRET_KEY is required in production: set it/],
    [{ DATABASE_URL: 'postgres://db/gatehouse' }, /^SECRET_KEY is required with DATABASE_URL: set it/],
    [{ PUBLIC_URL: 'javascript:alert(1)' }, /^PUBLIC_URL must be an http/],
    [{ PORT: '65536' }, /^PORT must be at most 65535/],
    [{ ADMIN_TOKEN: 'tiny' }, /^ADMIN_TOKEN must have at least 24 characters/],
    [{ MIGRATE: 'maybe' }, /^MIGRATE must be on or off/],
    [{ TRUST_PROXY: '10.0.0.0/8,proxy.local' }, /^TRUST_PROXY must be IP addresses or networks/],
    [{ TRUST_PROXY: '10.0.0.0/33' }, /^TRUST_PROXY must be IP addresses or networks/],
    [{ TRUST_PROXY: '::1/0' }, /^TRUST_PROXY must be IP addresses or networks/],
  ])('refuses %o', (environment, problem) => {
    expect(problemsOf(environment)).toMatch(problem)
  })

  it('never repeats a value: it may be a secret', () => {
    expect(problemsOf({ SECRET_KEY: 'planted', ADMIN_TOKEN: 'planted', DATABASE_URL: 'planted' })).not.toContain(
      'planted',
    )
  })

  it('runs no demo in production, whatever is set', () => {
    const SECRET_KEY = 'x'.repeat(32)
    expect(readConfig({ NODE_ENV: 'production', SECRET_KEY, DEMO: 'on' }).DEMO).toBe(false)
  })

  it('takes addresses and networks of proxies', () => {
    const TRUST_PROXY = '127.0.0.1, 10.0.0.0/8,::1,fd00::/8, loopback'
    expect(readConfig({ TRUST_PROXY }).TRUST_PROXY).toEqual(['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', 'loopback'])
  })

  it('knows its own address once a free port was taken', () => {
    expect(withPort(readConfig({ PORT: '0' }), 4711)).toMatchObject({ PORT: 4711, PUBLIC_URL: 'http://localhost:4711' })
    const PUBLIC_URL = 'https://gate.example.com'
    expect(withPort(readConfig({ PORT: '0', PUBLIC_URL }), 4711)).toMatchObject({
      PORT: 4711,
      PUBLIC_URL,
      DEMO_PORT: 0,
    })
  })

  it('takes an empty variable for one that is not set', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' }).PORT).toBe(3000)
  })
})
