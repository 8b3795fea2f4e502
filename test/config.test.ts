import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig, withPorts } from '../src/platform/config/index.ts'
import { mountsOf } from '../src/platform/config/mounts.ts'

const PRODUCTION = { NODE_ENV: 'production', SECRET_KEY: 'x'.repeat(32) }

const demoPartnerAt = (port: number) => ({ network: { address: '127.0.0.1', bits: 32, family: 'ipv4' }, port })

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
  it('has defaults for all variables and is frozen', () => {
    const config = readConfig({})
    expect(config).toMatchObject({ PORT: 3000, PUBLIC_URL: 'http://localhost:3000', DEMO: true, DEMO_PORT: 3001 })
    expect(Object.isFrozen(config)).toBe(true)
  })

  it('names each bad variable and how to fix it, all at once', () => {
    const problems = problemsOf({ PORT: 'eighty', LOG_LEVEL: 'loud', SECRET_KEY: 'short', DATABASE_URL: 'mysql://x' })
    expect(problems.split('\n')).toEqual([
      'PORT must be a whole number',
      'DATABASE_URL must be a postgres:// address',
      expect.stringMatching(/^SECRET_KEY must have at least 32 characters; generate one with: openssl/),
      'LOG_LEVEL must be trace, debug, info, warn, error, fatal or silent',
    ])
  })

  it.each([
    [{ NODE_ENV: 'production' }, /^SECRET_KEY is required in production: set it/],
    [PRODUCTION, /^PUBLIC_URL is required in production: set it to the https:/],
    [
      { ...PRODUCTION, PUBLIC_URL: 'http://gate.example' },
      /^PUBLIC_URL must be an https:.*in production; PUBLIC_URL_HTTP=on allows/,
    ],
    [{ ...PRODUCTION, PUBLIC_URL: 'HTTP://gate.example' }, /^PUBLIC_URL must be an https:/],
    [
      { ...PRODUCTION, PUBLIC_URL: 'https://gate.example', DEMO: 'on' },
      /^DEMO must not be on in production: its passwords are public/,
    ],
    [{ DATABASE_URL: 'postgres://db/gatehouse' }, /^SECRET_KEY is required with DATABASE_URL: set it/],
    [
      { ...PRODUCTION, PUBLIC_URL: 'https://gate.example', ADMIN_TOKEN: 'demo-admin-token-for-local-use-only' },
      /^ADMIN_TOKEN must not be the one of the demo in production: it is public; generate one with: openssl/,
    ],
    ...['a token with spaces between its words', 'ein-Schlüssel-mit-Umlauten-im-Namen'].map(
      (token): [Record<string, string>, RegExp] => [
        { ADMIN_TOKEN: token },
        /^ADMIN_TOKEN must be visible ASCII characters without spaces, .*; generate one with: openssl/,
      ],
    ),
    [{ DATABASE_PLANNING: 'generic' }, /^DATABASE_PLANNING must be forced or server$/],
    [{ SHARDS: '0' }, /^SHARDS must be at least 1$/],
    [{ SECRET_KEYS_OLD: 'short,shorter' }, /^SECRET_KEYS_OLD must be keys of at least 32 characters each$/],
    [{ UPSTREAM_SCOPE: ' ' }, /^UPSTREAM_SCOPE must be scopes, separated by spaces$/],
    [{ PUBLIC_URL: 'javascript:alert(1)' }, /^PUBLIC_URL must be an http/],
    [
      { ...PRODUCTION, PUBLIC_URL: 'https://gate.example', API_URL: 'http://api.gate.example' },
      /^API_URL must be an https:.*in production; PUBLIC_URL_HTTP=on allows/,
    ],
    [{ PARTNER_URL: 'partner.example' }, /^PARTNER_URL must be an http/],
    ...['PUBLIC_URL', 'API_URL', 'PARTNER_URL'].flatMap((name): [Record<string, string>, RegExp][] => [
      [
        { [name]: 'https://gate.example/gate' },
        new RegExp(`^${name} must be scheme, host and port alone.* it has a path$`),
      ],
      [{ [name]: 'https://gate.example//' }, /it has a path$/],
      [{ [name]: 'https://gate.example?a=b' }, /it has a query$/],
      [{ [name]: 'https://gate.example/?' }, /it has a query$/],
      [{ [name]: 'https://gate.example/#top' }, /it has a fragment$/],
      [{ [name]: 'https://planted:planted@gate.example' }, /it has a user name or password$/],
      [
        { [name]: 'https://me@gate.example/gate?a#b' },
        /it has a user name or password and a path and a query and a fragment$/,
      ],
    ]),
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example/otlp?a=b' },
      /^OTEL_EXPORTER_OTLP_ENDPOINT must not have a query$/,
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example/#a' },
      /^OTEL_EXPORTER_OTLP_ENDPOINT must not have a fragment$/,
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:planted@collector.example' }, /must not have a user name or password$/],
    ...['planted/word', '12/34', '/'].map((word): [Record<string, string>, RegExp] => [
      { DATABASE_URL: `postgres://me:${word}@db.example/gatehouse` },
      /^DATABASE_URL has a \/ where none may be: in a user name or password write %2F$/,
    ]),
    ...['planted#word', '12#34', '#'].map((word): [Record<string, string>, RegExp] => [
      { DATABASE_URL: `postgres://me:${word}@db.example/gatehouse` },
      /^DATABASE_URL has a # where none may be: in a user name or password write %23$/,
    ]),
    [
      { DATABASE_URL: 'postgres://me:12?34@db.example/gatehouse' },
      /^DATABASE_URL has a \? where none may be: .* write %3F$/,
    ],
    [{ DATABASE_URL: 'postgres://me:w@rd/x@db.example/gatehouse' }, /^DATABASE_URL has a \/ where/],
    [{ DATABASE_URL: 'postgres://me:word@db.example:port/gatehouse' }, /^DATABASE_URL must be .* percent-encoded$/],
    ...['pa/ss', 'pa#ss', '12/34', '12#34', '12?34'].map((word): [Record<string, string>, RegExp] => [
      { SMTP_URL: `smtp://me:${word}@mail.example` },
      /^SMTP_URL must be .*percent-encoded$/,
    ]),
    [{ PORT: '65536' }, /^PORT must be at most 65535/],
    [
      { HTTP_PROCESSES: '20', DATABASE_POOL_SIZE: '10' },
      /^HTTP_PROCESSES times DATABASE_POOL_SIZE is 200: the embedded PostgreSQL takes 180; lower one of them$/,
    ],
    [{ HTTP_PROCESSES: 'all' }, /^HTTP_PROCESSES must be a whole number, or auto$/],
    [{ HTTP_PROCESSES: '65' }, /^HTTP_PROCESSES must be at most 64$/],
    [{ ADMIN_TOKEN: 'tiny' }, /^ADMIN_TOKEN must have at least 24 characters/],
    [{ MIGRATE: 'maybe' }, /^MIGRATE must be on or off/],
    [{ AUDIT_DAYS: ' ' }, /^AUDIT_DAYS must be a whole number$/], // not 0, which would keep it forever
    [{ HTTP_PROCESSES: ' ' }, /^HTTP_PROCESSES must be a whole number, or auto$/],
    [{ OTEL_TRACES_SAMPLER_ARG: '\t' }, /^OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1$/],
    [{ TRUST_PROXY: '10.0.0.0/8,proxy.local' }, /^TRUST_PROXY must be IP addresses or networks/],
    [{ TRUST_PROXY: '10.0.0.0/33' }, /^TRUST_PROXY must be IP addresses or networks/],
    [{ TRUST_PROXY: '::1/0' }, /^TRUST_PROXY must be IP addresses or networks/],
    [{ TRUST_PROXY: '::ffff:10.0.0.0/96' }, /^TRUST_PROXY must be IP addresses or networks/],
    [{ TRUST_PROXY: '0:0:0:0:0:ffff:10.0.0.0/96' }, /^TRUST_PROXY must be IP addresses or networks/],
    [{ TRUST_PROXY: '10.0.0.0/8/16' }, /^TRUST_PROXY must be IP addresses or networks/],
    [{ TRUST_PROXY: 'fe80::1%eth0' }, /^TRUST_PROXY must be IP addresses or networks/],
  ])('rejects %o', (environment, problem) => {
    expect(problemsOf(environment)).toMatch(problem)
  })

  it.each([
    ['HTTPS://Gate.Example:443/', 'https://gate.example'],
    ['http://gate.example:80', 'http://gate.example'],
    ['https://gate.example:8443/', 'https://gate.example:8443'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('normalises the address %s as browsers do', (given, written) => {
    expect(readConfig({ PUBLIC_URL: given, API_URL: given, PARTNER_URL: given })).toMatchObject({
      PUBLIC_URL: written,
      API_URL: written,
      PARTNER_URL: written,
    })
  })

  it.each([
    'postgres://me:p%2Fa%23s%3F%40@db.example/gatehouse',
    'postgresql://me:50%off@db.example:5433/gatehouse?sslmode=require&options=-c%20lock_timeout%3D2s',
    'postgres://db.example/gatehouse?user=me@server&password=a/b',
    'postgres:///gatehouse?host=/var/run/postgresql&user=me@here',
    'postgres://me:p@ss@db.example/gatehouse',
  ])('takes the DATABASE_URL %s unchanged', (DATABASE_URL) => {
    expect(readConfig({ ...PRODUCTION, PUBLIC_URL: 'https://gate.example', DATABASE_URL })).toMatchObject({
      DATABASE_URL,
    })
  })

  it('never shows the value of a bad variable: it may be a secret', () => {
    expect(problemsOf({ SECRET_KEY: 'planted', ADMIN_TOKEN: 'planted', DATABASE_URL: 'planted' })).not.toContain(
      'planted',
    )
  })

  it('accepts https in production, and http only with PUBLIC_URL_HTTP, and leaves out the demo', () => {
    expect(readConfig({ ...PRODUCTION, PUBLIC_URL: 'https://gate.example' })).toMatchObject({
      DEMO: false,
      demoLeftOut: undefined,
      PARTNER_ADDRESS_ALLOW: [],
    })
    const PUBLIC_URL = 'http://gate.internal'
    expect(readConfig({ ...PRODUCTION, PUBLIC_URL, PUBLIC_URL_HTTP: 'on' })).toMatchObject({ PUBLIC_URL, DEMO: false })
  })

  it.each([
    [{}, undefined],
    [{ HOST: 'localhost' }, undefined],
    [{ HOST: '127.0.0.2', PUBLIC_URL: 'http://127.0.0.1:3000' }, undefined],
    [{ HOST: '::1', PUBLIC_URL: 'http://[::1]:3000' }, undefined],
    [
      { HOST: '0.0.0.0' },
      /^HOST=0\.0\.0\.0 lets other machines connect, .* leave HOST at 127\.0\.0\.1, or set DEMO=on/,
    ],
    [{ HOST: '::' }, /^HOST=:: lets other machines connect/],
    [{ HOST: '127.0.0.1.example.com' }, /^HOST=127/],
    [
      { PUBLIC_URL: 'https://gate.example' },
      /^PUBLIC_URL is not an address of this machine, .* unset PUBLIC_URL, or set DEMO=on/,
    ],
    [
      { PARTNER_URL: 'https://partners.gate.example' },
      /^PARTNER_URL is not an address of this machine, .* unset PARTNER_URL, or set DEMO=on/,
    ],
    [
      { DATABASE_URL: 'postgres://db/gatehouse' },
      /^DATABASE_URL names your own database, .* unset DATABASE_URL, or set DEMO=on/,
    ],
  ])('with %o runs the demo only if other machines cannot reach it', (environment, why) => {
    const settings = { SECRET_KEY: 'x'.repeat(32), ...environment }
    const { DEMO, demoLeftOut = '', PARTNER_ADDRESS_ALLOW } = readConfig(settings)
    expect(DEMO).toBe(why === undefined)
    expect(demoLeftOut).toMatch(why ?? /^$/)
    expect(PARTNER_ADDRESS_ALLOW).toEqual(DEMO ? [demoPartnerAt(3002)] : [])
    expect(readConfig({ ...settings, DEMO: 'on' })).toMatchObject({ DEMO: true, demoLeftOut: undefined })
    expect(readConfig({ ...settings, DEMO: 'off' })).toMatchObject({ DEMO: false, demoLeftOut: undefined })
    const token = why === undefined ? 'demo-admin-token-for-local-use-only' : undefined
    expect(readConfig({ ...settings, DEMO: 'on' }).ADMIN_TOKEN).toBe(token)
    expect(readConfig({ ...settings, DEMO: 'off' }).ADMIN_TOKEN).toBeUndefined()
    expect(
      readConfig({ ...settings, DEMO: 'on', ADMIN_PORT: '4000', ADMIN_HOST: '0.0.0.0' }).ADMIN_TOKEN,
    ).toBeUndefined()
    expect(readConfig({ ...settings, ADMIN_TOKEN: 'x'.repeat(24) }).ADMIN_TOKEN).toBe('x'.repeat(24))
  })

  it('takes addresses and networks in TRUST_PROXY', () => {
    const TRUST_PROXY = '127.0.0.1, 10.0.0.0/8,::1,fd00::/8, loopback'
    expect(readConfig({ TRUST_PROXY }).TRUST_PROXY).toEqual(['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', 'loopback'])
  })

  it('derives its addresses from the port that was chosen for PORT=0', () => {
    const chosen = { port: 4711, demoPartnerPort: 4712 }
    expect(withPorts(readConfig({ PORT: '0' }), chosen)).toMatchObject({
      PORT: 4711,
      PUBLIC_URL: 'http://localhost:4711',
      DEMO_PARTNER_PORT: 4712,
      PARTNER_ADDRESS_ALLOW: [demoPartnerAt(4712)],
    })
    const PUBLIC_URL = 'https://gate.example.com'
    expect(withPorts(readConfig({ PORT: '0', PUBLIC_URL }), chosen)).toMatchObject({
      PORT: 4711,
      PUBLIC_URL,
      DEMO_PORT: 0,
    })
  })

  it('gives the demo any free port where the port after PORT is none', () => {
    expect(readConfig({ PORT: '65534' })).toMatchObject({ DEMO_PORT: 65_535, DEMO_PARTNER_PORT: 0 })
    expect(readConfig({ PORT: '65535' })).toMatchObject({ DEMO_PORT: 0, DEMO_PARTNER_PORT: 0 })
  })

  it('has one address for everybody, or one for each kind of caller', () => {
    const PUBLIC_URL = 'https://gate.example'
    expect(readConfig({ PUBLIC_URL })).toMatchObject({ PUBLIC_URL, API_URL: PUBLIC_URL, PARTNER_URL: PUBLIC_URL })
    const PARTNER_URL = 'https://partners.gate.example'
    expect(readConfig({ PUBLIC_URL, API_URL: 'https://api.gate.example/', PARTNER_URL })).toMatchObject({
      PUBLIC_URL,
      API_URL: 'https://api.gate.example',
      PARTNER_URL,
    })
    const own = withPorts(readConfig({ PORT: '0', PARTNER_URL }), { port: 4711, demoPartnerPort: 4712 })
    expect(own).toMatchObject({ API_URL: 'http://localhost:4711', PARTNER_URL })
  })

  it('treats an empty variable as unset', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' }).PORT).toBe(3000)
  })
})

describe('PASSWORD_RESET_HOOK', () => {
  const read = (PASSWORD_RESET_HOOK: string, more: Record<string, string> = {}) =>
    readConfig({ PASSWORD_RESET_HOOK, ...more })

  it('must be https by default, even for private addresses', () => {
    expect(read('https://messages.example/hook').PASSWORD_RESET_HOOK).toBe('https://messages.example/hook')
    for (const refused of ['http://messages.example/hook', 'http://10.1.2.3/', 'HTTP://localhost:4000/', 'ftp://x/'])
      expect(() => read(refused), refused).toThrow(/^PASSWORD_RESET_HOOK must be an https:\/\/ address/)
  })

  it('may be http only if PARTNER_ADDRESS_ALLOW lists its host or address with that port', () => {
    const fits: readonly (readonly [string, string])[] = [
      ['http://messages.internal/hook', 'messages.internal'],
      ['http://MESSAGES.internal.:4000/hook', 'messages.internal:4000'],
      ['http://10.1.2.3:4000/', '10.1.0.0/16:4000'],
      ['http://127.0.0.1:4000/', 'partner.example, 127.0.0.1:4000'],
      ['http://[fd00::7]:4000/', '[fd00::/8]:4000'],
    ]
    for (const [hook, PARTNER_ADDRESS_ALLOW] of fits) expect(() => read(hook, { PARTNER_ADDRESS_ALLOW })).not.toThrow()
    const others: readonly (readonly [string, string])[] = [
      ['http://messages.internal:4001/hook', 'messages.internal:4000'],
      ['http://messages.internal.example/hook', 'messages.internal'],
      ['http://10.2.2.3:4000/', '10.1.0.0/16:4000'],
      ['http://[fe80::7]:4000/', '[fd00::/8]:4000'],
    ]
    for (const [hook, PARTNER_ADDRESS_ALLOW] of others)
      expect(() => read(hook, { PARTNER_ADDRESS_ALLOW }), hook).toThrow(
        'PASSWORD_RESET_HOOK must be an https:// address',
      )
    const production = { PARTNER_ADDRESS_ALLOW: 'messages.internal', PARTNER_PORTS: '8443', NODE_ENV: 'development' }
    expect(() => read('http://messages.internal:4000/', production)).toThrow('PASSWORD_RESET_HOOK')
    expect(() => read('http://messages.internal:8443/', production)).not.toThrow()
  })
})

describe('MTP_PATH_PREFIXES', () => {
  it.each([
    ['rhone', 'has "rhone": write a prefix'],
    ['/rhone/', 'has "/rhone/": write a prefix'],
    ['/a=/b=/c', 'has "/a=/b=/c": write a prefix'],
    ['/a=/nowhere', 'has "/a=/nowhere", and /nowhere is neither /mtp/api nor a prefix'],
    ['=/mtp/api', 'has "=/mtp/api", which has no path before the ='],
    ['/x/:y=/mtp/api', 'has "/x/:y=/mtp/api": write a prefix'],
    ['/x/*', 'has "/x/*": write a prefix'],
    ['/rhone,/rhone=/mtp/api', 'has "/rhone=/mtp/api", and /rhone is also a prefix'],
    ['/rhone=/mtp/api,/rhone', 'has "/rhone=/mtp/api", and /rhone is also a prefix'],
    ['/a,/a-doc=/a,/a-doc=/mtp/api', 'has "/a-doc=/mtp/api", and /a-doc is also a prefix'],
  ])('rejects %s and names the bad part', (MTP_PATH_PREFIXES, problem) => {
    expect(() => readConfig({ MTP_PATH_PREFIXES })).toThrow(problem)
  })

  it('maps prefixes to /mtp/api or to one another', () => {
    const { MTP_PATH_PREFIXES } = readConfig({ MTP_PATH_PREFIXES: '/rhone, /dispatch=/mtp/api, /doc=/rhone' })
    expect(mountsOf(MTP_PATH_PREFIXES)).toEqual(['/mtp/api', '/rhone/mtp/api', '/dispatch', '/doc/mtp/api'])
  })

  it('takes a process for each core where HTTP_PROCESSES is auto', () => {
    expect(readConfig({ HTTP_PROCESSES: 'auto', DATABASE_POOL_SIZE: '2' }).HTTP_PROCESSES).toBe(
      Math.min(availableParallelism(), 64),
    )
  })
})
