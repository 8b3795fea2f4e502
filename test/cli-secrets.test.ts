import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signIn } from '../src/authorization/account/sign-in.ts'
import { signInOperator } from '../src/operations/operators/index.ts'
import { generateSecret } from '../src/platform/lib/crypto/generated-secret.ts'
import { findPartner } from '../src/ticketing/partners/partner.ts'
import { gatehouse, gatehouseWith } from './cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from './harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world?.close())

describe('gatehouse user create', () => {
  const settings = () => ({ DATABASE_URL: world.databaseUrl, SECRET_KEY })
  const user = (passport: string) =>
    ['user', 'create', '--cid', '1', '--user-id', passport, '--passport', passport, '--name', 'X'].concat(
      '--big-avatar-url',
      'https://a.example/x.png',
    )
  const signedIn = (passport: string, password: string) =>
    signIn(world.deps, { passport, password, address: '127.0.0.1' })

  it('reads the password from standard input, removing only the final line break', async () => {
    const password = ' with spaces and "quotes" '
    const outcome = await gatehouseWith(`${password}\n`, settings(), ...user('piped'), '--password-stdin')
    expect(outcome).toMatchObject({ code: 0, stderr: '' })
    expect(outcome.stdout).not.toContain('quotes')
    expect(await signedIn('piped', password)).toMatch(/^ghbs_/)
  })

  it('requires --password-stdin where there is no terminal to prompt on', async () => {
    const { code, stderr } = await gatehouse(settings(), ...user('nobody'))
    expect({ code, stderr }).toEqual({ code: 2, stderr: '--password-stdin  is required\n' })
  })

  it('warns that --password is visible to others', async () => {
    const { code, stderr } = await gatehouse(settings(), ...user('typed'), '--password', 'seen-by-everybody')
    expect(code).toBe(0)
    expect(stderr).toMatch(/--password is visible to everybody.*--password-stdin/)
    expect(stderr).not.toContain('seen-by-everybody')
  })
})

describe('gatehouse operator set-password', () => {
  it('takes the password from standard input only, as others could see an option', async () => {
    const settings = { DATABASE_URL: world.databaseUrl, SECRET_KEY }
    await gatehouse(settings, 'operator', 'create', '--name', 'ada', '--role', 'viewer')
    const set = (...options: string[]) =>
      gatehouseWith('twelve and more\n', settings, 'operator', 'set-password', 'ada', ...options)
    expect(await set('--password', 'twelve and more')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--password +is not an option/),
    })
    const done = await set('--password-stdin')
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(done.stdout).not.toContain('twelve')
    const signIn = { name: 'ada', code: '', address: '127.0.0.1' }
    expect(await signInOperator(world.deps, { ...signIn, password: 'twelve and more' })).toMatchObject({
      pending: true,
    })
  })
})

describe('gatehouse partner set-aes-key', () => {
  const KEY = '0123 56789ab"def'
  const run = (...args: string[]) => gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, 'partner', ...args)
  const set = (input: string, ...args: string[]) =>
    gatehouseWith(input, { DATABASE_URL: world.databaseUrl, SECRET_KEY }, 'partner', 'set-aes-key', ...args)
  const keyNow = async () => (await findPartner(world.deps, 7001n))?.aes_key

  it('reads the key from standard input and never shows it; make-aes-key shows its key once', async () => {
    await run('create', '--name', 'X', '--partner-id', '7001')
    const done = await set(`${KEY}\n`, '7001', '--key-stdin')
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(await keyNow()).toBe(KEY)
    const encrypts = await run('update', '7001', '--encrypt-calls')
    expect(encrypts.stdout).toMatch(/encrypts_calls +yes/)
    const shown = [done, encrypts, await run('show', '7001'), await run('list', '--json')]
    expect(JSON.stringify(shown)).not.toContain('56789ab')

    const made = await run('make-aes-key', '7001')
    const [, key = ''] = /aes_key {2}(\w{16})\n/.exec(made.stdout) ?? []
    expect(await keyNow()).toBe(key)
    expect(made.stdout).toContain(Buffer.from(key).toString('hex'))
    expect((await run('remove-aes-key', '7001')).stdout).toMatch(/encrypts_calls +no/)
    expect(await keyNow()).toBeNull()
    expect(await run('update', '7001', '--encrypt-calls')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--encrypt-calls  needs an AES key'),
    })
  })

  it('takes no key as an argument, and rejects a malformed one without echoing it', async () => {
    expect(await run('set-aes-key', '7001', KEY)).toMatchObject({ code: 2 })
    const short = await set('too short a key', '7001', '--key-stdin')
    expect(short).toMatchObject({
      code: 2,
      stderr: '--key-stdin  must be 16 printable ASCII characters, or 32 hex digits\n',
    })
    expect(await run('set-aes-key', '7001')).toMatchObject({ code: 2, stderr: '--key-stdin  is required\n' })
    expect(await set(KEY, '7002', '--key-stdin')).toMatchObject({ stderr: expect.stringContaining('no such partner') })
    expect(await keyNow()).toBeNull()
  })
})

describe('gatehouse secret check', () => {
  const check = (text: string) => gatehouseWith(text, {}, 'secret', 'check')

  it('tells a mistyped secret from a correct one, without a database', async () => {
    const secret = generateSecret('ghas')
    expect(await check(`${secret}\n`)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('this app_secret has no typing mistakes'),
    })
    const wrong = await check(secret.slice(0, -1))
    expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining('mistyped') })
    expect(wrong.stdout).not.toContain(secret.slice(5, 20))
    expect(await check('demo-secret')).toMatchObject({ code: 0, stdout: expect.stringContaining('cannot be checked') })
  })
})
