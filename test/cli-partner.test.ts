import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPartner, findPartnerByClientId } from '../src/ticketing/partners/partner.ts'
import { switchSigning } from '../src/ticketing/partners/secret.ts'
import { gatehouse } from './cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from './harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const run = (...args: string[]) => gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, 'partner', ...args)
const runJson = async (...args: string[]) => {
  const { code, stdout, stderr } = await run(...args, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}
const create = (...args: string[]) => runJson('create', '--name', 'X', ...args)

describe('gatehouse partner create', () => {
  it('registers a partner whose secret the service can read', async () => {
    const { partner_id, client_id, client_secret, ...rest } = await create()
    expect(rest).toMatchObject({ name: 'X', status: 'active', stage: 'sandbox', base_url: null, secrets: [{}] })
    const found = await findPartnerByClientId(world.deps, client_id)
    expect(found?.partner_id).toBe(BigInt(partner_id))
    expect(found?.secrets).toMatchObject([{ secret: client_secret, signs: true }])
  })

  it('takes every field; --interface-url may be repeated', async () => {
    const ids = ['--partner-id', '7001', '--client-id', 'all-fields', '--stage', 'live']
    const pay = ['--interface-url', 'order-pay=https://p.example/pay?a=b=c']
    const urls = ['--base-url', 'https://p.example/mtp', '--interface-url', 'poi=https://q.example', ...pay]
    expect(await create(...ids, ...urls)).toMatchObject({
      partner_id: 7001,
      client_id: 'all-fields',
      stage: 'live',
      base_url: 'https://p.example/mtp',
      interface_urls: { poi: 'https://q.example', 'order-pay': 'https://p.example/pay?a=b=c' },
    })
  })

  it('prints a PartnerId beyond 2^53 exactly, as a JSON number and as text', async () => {
    const { code, stdout } = await run('create', '--name', 'X', '--partner-id', '8985652356562370001', '--json')
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^ {2}"partner_id": 8985652356562370001,$/m),
    })
    expect((await run('show', '8985652356562370001', '--json')).stdout).toContain('"partner_id": 8985652356562370001,')
    expect((await run('show', '8985652356562370001')).stdout).toMatch(/^partner_id +8985652356562370001$/m)
    expect((await run('list', '--json')).stdout).toContain('"partner_id": 8985652356562370001,')
    expect((await run('list')).stdout).toMatch(/^8985652356562370001 /m)
  })

  it('prints aligned text with the secret at the end', async () => {
    const { code, stdout } = await run('create', '--name', '票务', '--interface-url', 'poi=https://q.example')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^name +票务$/m)
    expect(stdout).toMatch(/^interface_urls\nKEY +VALUE\npoi +https:\/\/q\.example$/m)
    expect(stdout).toMatch(/^SECRET_ID +SIGNS .*\n\S+ +yes /m)
    expect(stdout).toMatch(/^client_secret {2}ghcs_\w{49}$/m)
    expect(stdout).not.toContain('switch-signing')
  })

  it('reports all problems at once by the names of the options, with exit code 2', async () => {
    const urls = ['--interface-url', 'poi', '--interface-url', 'A b=https://x', '--base-url', 'https://x?y']
    const ids = ['--client-id', 'a:b', '--partner-id', 'x', '--stage', 'test']
    const { code, stdout, stderr } = await run('create', ...ids, ...urls, '--colour', 'red')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.split('\n')).toEqual([
      '--colour         is not an option',
      '--partner-id     must be a 64-bit integer, as a number or string',
      '--client-id      must have 1 to 64 visible ASCII characters, without whitespace or colons',
      '--name           is required',
      '--base-url       must not have a query',
      '--interface-url  "poi" must be an absolute http:// or https:// URL',
      '--interface-url  "A b" is not the name of an interface, such as order-create',
      '--stage          must be sandbox or live',
      '',
    ])
  })

  it('reports ids that are already taken', async () => {
    const ids = ['--partner-id', '7100', '--client-id', 'taken']
    await create(...ids)
    expect(await run('create', '--name', 'Y', ...ids)).toMatchObject({
      code: 2,
      stderr: '--partner-id  is already taken\n--client-id   is already taken\n',
    })
  })
})

describe('gatehouse partner', () => {
  it('lists, shows, updates, suspends and activates partners, and sets their stage and contacts', async () => {
    const created = await create('--base-url', 'https://p.example', '--interface-url', 'poi=https://q.example')
    const id = String(created.partner_id)
    const { partners } = await runJson('list')
    expect(partners.map(({ client_id }: { client_id: string }) => client_id)).toContain(created.client_id)
    expect((await run('list')).stdout).toMatch(/^PARTNER_ID +CLIENT_ID +STATUS +STAGE +BASE_URL +NAME\n/)
    const { client_secret, ...shown } = created
    expect(await runJson('show', id)).toEqual(shown)
    const changed = await runJson('update', id, '--name', 'Y', '--no-base-url', '--no-interface-url')
    expect(changed).toMatchObject({ name: 'Y', base_url: null, interface_urls: {} })
    expect(await runJson('suspend', id)).toMatchObject({ status: 'suspended' })
    expect(await runJson('activate', id)).toMatchObject({ status: 'active' })
    expect(await runJson('stage', id, 'live')).toMatchObject({ stage: 'live' })
    const ann = { name: 'Ann', mail: 'ann@p.example', webhook_url: 'https://p.example/hook' }
    const typed = ['--name', ann.name, '--mail', ann.mail, '--webhook-url', ann.webhook_url]
    expect(await runJson('contact', id, 'product', ...typed)).toMatchObject({ contacts: { product: ann } })
    const { stdout } = await run('show', id)
    expect(stdout).toMatch(/^product +Ann +ann@p\.example +https:\/\/p\.example\/hook/m)
    expect(stdout).not.toContain(client_secret)
  })

  it('keeps signing with the old secret after a rotation until switch-signing', async () => {
    const { partner_id, client_secret: first } = await create()
    const id = String(partner_id)
    const { stdout } = await run('rotate-secret', id, '--overlap', '60')
    const [, second] = /^client_secret {2}(ghcs_\w{49})$/m.exec(stdout) ?? []
    expect(stdout).toContain(`Our calls are signed with the old secret until: gatehouse partner switch-signing ${id}`)
    const found = await findPartner(world.deps, BigInt(id))
    expect(found?.secrets).toMatchObject([
      { secret: second, signs: false },
      { secret: first, signs: true },
    ])
    expect(await run('switch-signing', id)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'the test call with the new secret failed, so the old one still signs our calls: no URL is registered for heartbeat\n',
    })
    expect(await run('retire-secret', id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('run switch-signing first'),
    })
    const far = { ...world.deps, clock: { ...world.clock, now: () => new Date() } }
    await switchSigning(far, BigInt(id), async () => ({ ok: true, detail: '' }))
    expect((await runJson('show', id)).secrets).toMatchObject([{ signs: true }, { ends_at: expect.any(String) }])
    expect((await runJson('retire-secret', id)).secrets).toMatchObject([{ signs: true }])
  })

  it.each([
    [['show', '7'], 1, 'no such partner'],
    [['show', 'abc'], 2, 'partner_id  must be a 64-bit integer, as a number or string'],
    [['suspend'], 2, 'partner_id  is required'],
    [['stage', '7001', 'test'], 2, 'stage  must be sandbox or live'],
    [['stage', '7001'], 2, 'stage  is required'],
    [['stage', '7001', 'live', 'now'], 2, 'now  is not expected'],
    [['contact', '7001', 'boss', '--name', 'A', '--mail', 'a@b.cd'], 2, 'role  must be product or business'],
    [['rotate-secret', '7001', '--overlap', '-5'], 2, '--overlap  must be at least 0'],
    [['remove', '7001'], 2, "unknown command 'remove'"],
  ])('ends %j with exit code %i', async (args, code, message) => {
    expect(await run(...args)).toEqual({ code, stdout: '', stderr: `${message}\n` })
    expect(JSON.parse((await run(...args, '--json')).stderr).error.message).toBe(message.replace('  ', ' '))
  })

  it('shows its help, with exit code 0 for --help and 2 if the command is missing', async () => {
    expect(await run('stage', '--help')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('<partner_id> <stage>'),
    })
    expect(await run()).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('switch-signing') })
  })
})
