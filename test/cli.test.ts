import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findMicroAppForAuthentication } from '../src/authorization/registry/secret.ts'
import { createOperator } from '../src/operations/operators/index.ts'
import { hashSecret } from '../src/platform/lib/crypto/keys.ts'
import { altered } from './altered.ts'
import { gatehouse } from './cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from './harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const run = (...args: string[]) => gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, ...args)
const runJson = async (...args: string[]) => {
  const { code, stdout, stderr } = await run(...args, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}
const create = (...args: string[]) =>
  runJson('app', 'create', '--name', 'X', '--host', 'example.com', '--scope', 'USER_INFO', ...args)

describe('gatehouse app create', () => {
  it('registers an approved app whose secret the service accepts', async () => {
    const { app_key, app_secret, ...rest } = await create()
    expect(rest).toMatchObject({ name: 'X', status: 'approved', hosts: ['example.com'], scopes: ['USER_INFO'] })
    const found = await findMicroAppForAuthentication(world.deps, app_key)
    expect(found?.secrets[0]?.secret_hash).toEqual(hashSecret(world.deps.keys, app_secret))
  })

  it('takes every field; options for lists may be repeated', async () => {
    const lists = ['--host', '*.Example.com', '--scope', 'PHONE_NUMBER', '--redirect-uri', 'https://example.com/cb']
    const others = ['--logo-url', 'https://example.com/l.png', '--refresh-days', '90', '--refresh-policy', 'rotating']
    const app = await create(...lists, ...others, '--no-http', '--app-key', 'all-fields', '--status', 'pending')
    expect(app).toMatchObject({
      app_key: 'all-fields',
      status: 'pending',
      hosts: ['example.com', '*.example.com'],
      scopes: ['USER_INFO', 'PHONE_NUMBER'],
      redirect_uris: ['https://example.com/cb'],
      logo_url: 'https://example.com/l.png',
      refresh_days: 90,
      refresh_policy: 'rotating',
      http_allowed: false,
    })
  })

  it('keeps a name that looks like a moment, which no command fails on', async () => {
    for (const name of ['2024-13-01T00:00:00.000Z', '2024-02-30T00:00:00.000Z']) {
      const app = ['--name', name, '--host', 'example.com', '--scope', 'USER_INFO']
      expect(await runJson('app', 'create', ...app)).toMatchObject({ name })
      expect(await run('app', 'list')).toMatchObject({ code: 0, stdout: expect.stringContaining(name) })
    }
  })

  it('requires a host or a redirect URI', async () => {
    const app = ['app', 'create', '--name', 'X', '--scope', 'USER_INFO']
    expect(await run(...app)).toMatchObject({
      code: 2,
      stderr: '--host  is required where there are no redirect URIs\n',
    })
    const { app_key, hosts } = await runJson(...app, '--redirect-uri', 'https://example.com/cb')
    expect(hosts).toEqual([])
    const neither = ['--no-redirect-uri', '--no-host']
    expect(await run('app', 'update', app_key, ...neither)).toMatchObject({
      code: 2,
      stderr: '--host  is required where there are no redirect URIs\n',
    })
    expect(await runJson('app', 'update', app_key, '--host', 'a.com', '--no-redirect-uri')).toMatchObject({
      hosts: ['a.com'],
      redirect_uris: [],
    })
    expect(await runJson('app', 'update', app_key, '--redirect-uri', 'https://a.com/', '--no-host')).toMatchObject({
      hosts: [],
    })
  })

  it('prints no secret of an app that has none', async () => {
    const fields = ['--name', 'Key', '--redirect-uri', 'https://a.com/cb', '--scope', 'USER_INFO']
    const { code, stdout } = await run('app', 'create', ...fields, '--token-auth', 'private_key_jwt')
    expect([code, stdout.includes('secret ')]).toEqual([0, false])
    expect(stdout).toMatch(/^token_auth_methods {2}private_key_jwt$/m)
  })

  it('prints aligned text with the secret at the end', async () => {
    const { code, stdout } = await run('app', 'create', '--name', '票', '--host', 'a.com', '--scope', 'USER_INFO')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^name {16}票$/m)
    expect(stdout).toMatch(/^http_allowed {8}yes$/m)
    expect(stdout).toMatch(/^app_secret {2}ghas_\w{49}$/m)
  })

  it('reports all problems at once by the names of the options, with exit code 2', async () => {
    const bad = ['--host', 'ok.com', '--host', 'https://x', '--scope', 'ALL', '--refresh-days', 'x', '--colour', 'red']
    const { code, stdout, stderr } = await run('app', 'create', ...bad)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.split('\n')).toEqual([
      '--colour        is not an option',
      '--name          is required',
      '--host          "https://x" must be the host alone, without a scheme: example.com',
      '--scope         "ALL" must be USER_INFO or PHONE_NUMBER',
      '--refresh-days  must be 7 or 30 or 60 or 90',
      '',
    ])
  })

  it('reports problems as JSON with --json', async () => {
    const { code, stdout, stderr } = await run('app', 'create', '--name', 'X', '--host', 'a.com', '--json', 'extra')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(JSON.parse(stderr).error.problems).toEqual([
      { field: 'extra', problem: 'is not expected; to give an option several values, repeat it' },
      { field: '--scope', problem: 'is required' },
    ])
  })

  it('reports an app_key that is already taken', async () => {
    await create('--app-key', 'taken')
    const again = ['--name', 'Y', '--host', 'a.com', '--scope', 'USER_INFO', '--app-key', 'taken']
    expect(await run('app', 'create', ...again)).toMatchObject({ code: 2, stderr: '--app-key  is already taken\n' })
  })
})

describe('gatehouse app', () => {
  it('lists, shows, updates, suspends and approves apps, and rotates their secrets', async () => {
    const { app_key, app_secret } = await create('--redirect-uri', 'https://example.com/cb')
    const { apps } = await runJson('app', 'list')
    expect(apps.map((app: { app_key: string }) => app.app_key)).toContain(app_key)
    expect((await run('app', 'list')).stdout).toMatch(/^APP_KEY +STATUS +STAGE +SCOPES +HOSTS +NAME\n/)
    expect(await runJson('app', 'show', app_key)).toMatchObject({ app_key, secrets: [{ ends_at: null }] })
    const changed = await runJson('app', 'update', app_key, '--name', 'Y', '--no-redirect-uri', '--no-http')
    expect(changed).toMatchObject({ name: 'Y', redirect_uris: [], http_allowed: false, hosts: ['example.com'] })
    expect(await runJson('app', 'suspend', app_key)).toMatchObject({ status: 'suspended' })
    expect(await runJson('app', 'approve', app_key)).toMatchObject({ status: 'approved' })
    const rotated = await runJson('app', 'rotate-secret', app_key, '--overlap', '60')
    expect(rotated.app_secret).not.toBe(app_secret)
    expect(rotated.secrets).toMatchObject([{ ends_at: null }, { ends_at: expect.any(String) }])
    const { stdout } = await run('app', 'show', app_key)
    expect(stdout).not.toContain(rotated.app_secret)
    expect(stdout).toMatch(/^secrets\nCREATED_AT +ENDS_AT +LAST_USED_AT\n\S+ +- +-\n\S+ +\d\S+ +-\n/m)
  })

  it.each([
    [['app', 'show', 'unknown'], 1, 'no such micro-app'],
    [['app', 'approve'], 2, 'app_key  is required'],
    [['app', 'rotate-secret', 'x', '--overlap', '-5'], 2, '--overlap  must be at least 0'],
    [['app', 'update', 'x', '--name'], 2, "option '--name <name>' argument missing"],
    [['app', 'update', 'x', '-q'], 2, '-q  is not an option'],
    [['app', 'remove', 'x'], 2, "unknown command 'remove'"],
  ])('ends %j with exit code %i', async (args, code, message) => {
    expect(await run(...args)).toEqual({ code, stdout: '', stderr: `${message}\n` })
    const asJson = await run(...args.filter((arg) => arg !== '--name'), '--json')
    if (!args.includes('--name')) expect(JSON.parse(asJson.stderr).error.message).toBe(message.replace('  ', ' '))
  })

  it('takes an argument that begins with a hyphen after --', async () => {
    expect(await run('app', 'show', '--', '-q')).toMatchObject({ code: 1, stderr: 'no such micro-app\n' })
    expect(await run('app', 'show', '-q', '--', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('-q'),
    })
  })

  it('shows its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('shows its help, with exit code 0 for --help and 2 if the command is missing', async () => {
    expect(await run('app', 'create', '--help')).toMatchObject({ code: 0, stderr: '' })
    expect(await run('app')).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('rotate-secret') })
  })
})

describe('the command line', () => {
  it('ends with 1 and the reason when a setting is unusable', async () => {
    const { code, stderr } = await gatehouse({ DATABASE_URL: world.databaseUrl }, 'app', 'list')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('SECRET_KEY is required') })
  })

  it('ends with 1 and says what to do when no service answers', async () => {
    const settings = { DATABASE_URL: 'postgres://nobody:hunter2@127.0.0.1:1/none', SECRET_KEY, PORT: '1' }
    const { code, stderr } = await gatehouse(settings, 'app', 'list')
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^nothing answers at http:\/\/127\.0\.0\.1:1: start the service first .*GATEHOUSE_URL/),
    ])
    expect(stderr).not.toContain('hunter2')
  })

  it('ends with 1 and the reason when the service has another SECRET_KEY', async () => {
    const settings = { DATABASE_URL: world.databaseUrl, SECRET_KEY: 'another key of thirty-two characters and more' }
    const { code, stderr } = await gatehouse(settings, 'app', 'list')
    expect([code, stderr]).toEqual([1, expect.stringMatching(/has another SECRET_KEY than this command/)])
  })

  it('uses the operator token in GATEHOUSE_TOKEN if set, and the service at --url', async () => {
    const { token } = await createOperator(world.deps, { name: 'reader', role: 'viewer', days: 1 })
    const here = { DATABASE_URL: world.databaseUrl, SECRET_KEY, GATEHOUSE_TOKEN: token }
    expect((await gatehouse(here, 'operator', 'list')).stderr).toContain('this operator is viewer')
    const address = world.app.server.address() as AddressInfo
    const there = await gatehouse(
      { GATEHOUSE_TOKEN: token },
      'app',
      'list',
      '--url',
      `http://127.0.0.1:${address.port}`,
    )
    expect(there).toMatchObject({ code: 0, stderr: '' })
    const refused = await gatehouse({ ...here, GATEHOUSE_TOKEN: altered(token) }, 'operator', 'list')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^GATEHOUSE_TOKEN is not accepted: /) })
    const without = await gatehouse({}, 'app', 'list', '--url', 'http://127.0.0.1:1')
    expect(without.stderr).toContain('--url also needs an operator’s token in GATEHOUSE_TOKEN')
  })

  it('ends with 1 and the reason when the database is unavailable', async () => {
    const settings = { DATABASE_URL: 'postgres://nobody:hunter2@127.0.0.1:1/none', SECRET_KEY }
    const { code, stderr } = await gatehouse(settings, 'demo', 'remove', '--json')
    expect({ code, stderr: JSON.parse(stderr) }).toEqual({
      code: 1,
      stderr: { error: { message: 'the database is not available' } },
    })
  })
})
