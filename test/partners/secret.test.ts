import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addSeconds } from '../../src/platform/lib/clock.ts'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { heartbeatWith } from '../../src/ticketing/partner-calls/index.ts'
import { createPartner, findPartner, findPartnerByClientId, showPartner } from '../../src/ticketing/partners/partner.ts'
import { retireSecret, rotatePartnerSecret, switchSigning, type TestCall } from '../../src/ticketing/partners/secret.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
})
afterAll(() => world.close())

const create = () => createPartner(world.deps, parseInput(newPartner, { name: 'X' }))
const rotate = (id: bigint, overlap_s = 60) => rotatePartnerSecret(world.deps, id, { overlap_s })
const passes: TestCall = async () => ({ ok: true, detail: 'answered with 200' })
const switchTo = (id: bigint, testCall = passes) => switchSigning(world.deps, id, testCall)
const live = async (id: bigint) =>
  (await findPartner(world.deps, id))?.secrets.map(({ secret, signs }) => (signs ? `${secret} signs` : secret))
const ends = async (id: bigint) => (await showPartner(world.deps, id)).secrets.map(({ ends_at }) => ends_at)
const message = (text: string) => ({ rescode: 20007, message: `Invalid request: ${text}` })

describe('rotatePartnerSecret', () => {
  it('adds a secret that is valid at once, while the old one still signs and does not expire', async () => {
    const { partner_id, client_id, client_secret: first } = await create()
    const { client_secret: second, secrets } = await rotate(partner_id)
    expect(secrets).toMatchObject([
      { signs: false, ends_at: null, last_used_at: null },
      { signs: true, ends_at: null, last_used_at: null },
    ])
    expect(second).toMatch(/^ghcs_\w{49}$/)
    expect(await live(partner_id)).toEqual([second, `${first} signs`])
    expect((await findPartnerByClientId(world.deps, client_id))?.secrets.map(({ secret }) => secret)).toEqual([
      second,
      first,
    ])
    world.clock.advance(10 * 365 * 86_400)
    expect(await live(partner_id)).toEqual([second, `${first} signs`])
  })

  it('keeps at most two live: the one that signs, and the newest', async () => {
    const { partner_id, client_secret: first } = await create()
    await rotate(partner_id)
    const { client_secret: third } = await rotate(partner_id)
    expect(await live(partner_id)).toEqual([third, `${first} signs`])
    await switchTo(partner_id)
    const { client_secret: fourth } = await rotate(partner_id)
    expect(await live(partner_id)).toEqual([fourth, `${third} signs`])
  })

  it('called many times at once leaves the one that signs, and one new one', async () => {
    const { partner_id, client_secret: first } = await create()
    const rotated = await Promise.all(Array.from({ length: 20 }, () => rotate(partner_id)))
    const [newest, old, ...more] = (await live(partner_id)) ?? []
    expect([old, more]).toEqual([`${first} signs`, []])
    expect(rotated.map(({ client_secret }) => client_secret)).toContain(newest)
  })
})

describe('switchSigning', () => {
  it('switches after a test call with the new secret, and only then lets the old one expire', async () => {
    const { partner_id, client_secret: first, created_at } = await create()
    const { client_secret: second } = await rotate(partner_id, 60)
    world.clock.advance(3_600)
    const calls: unknown[] = []
    const shown = await switchTo(partner_id, async (partner, secret) => {
      calls.push([partner.partner_id, secret.secret, secret.signs])
      expect(await live(partner_id)).toEqual([second, `${first} signs`])
      return { ok: true, detail: '' }
    })
    expect(calls).toEqual([[partner_id, second, false]])
    expect(shown.secrets).toMatchObject([
      { signs: true, ends_at: null },
      { signs: false, ends_at: addSeconds(world.clock.now(), 60), created_at },
    ])
    expect(await live(partner_id)).toEqual([`${second} signs`, first])
    world.clock.advance(59)
    expect(await live(partner_id)).toEqual([`${second} signs`, first])
    world.clock.advance(1)
    expect(await live(partner_id)).toEqual([`${second} signs`])
  })

  it('counts the overlap from the end of the test call', async () => {
    const { partner_id } = await create()
    await rotate(partner_id, 60)
    await switchTo(partner_id, async () => {
      world.clock.advance(15)
      return { ok: true, detail: '' }
    })
    expect(await ends(partner_id)).toEqual([null, addSeconds(world.clock.now(), 60)])
  })

  it('ends the old secret at once without an overlap', async () => {
    const { partner_id } = await create()
    const { client_secret } = await rotate(partner_id, 0)
    await switchTo(partner_id)
    expect(await live(partner_id)).toEqual([`${client_secret} signs`])
  })

  it('is refused, and changes nothing, if the test call fails', async () => {
    const { partner_id } = await create()
    const before = await rotate(partner_id)
    const fails: TestCall = async () => ({ ok: false, detail: 'the partner answered\n 300 BA verification failed' })
    const refused = 'the test call with the new secret failed, so the old one still signs our calls'
    await expect(switchTo(partner_id, fails)).rejects.toMatchObject(
      message(`${refused}: the partner answered 300 BA verification failed`),
    )
    const cannot: TestCall = async () => ({ ok: false, detail: 'no URL is registered for heartbeat' })
    await expect(switchTo(partner_id, cannot)).rejects.toMatchObject(
      message(`${refused}: no URL is registered for heartbeat`),
    )
    const breaks: TestCall = () => Promise.reject(new Error('broken'))
    await expect(switchTo(partner_id, breaks)).rejects.toThrow('broken')
    const { client_secret: _, ...unchanged } = before
    expect(await showPartner(world.deps, partner_id)).toEqual(unchanged)
  })

  it('is refused without a test call if the newest secret already signs', async () => {
    const { partner_id } = await create()
    const refusal = message('the newest secret signs our calls already; rotate-secret makes a newer one')
    const never = () => expect.unreachable()
    await expect(switchTo(partner_id, never)).rejects.toMatchObject(refusal)
    await rotate(partner_id)
    await switchTo(partner_id)
    await expect(switchTo(partner_id, never)).rejects.toMatchObject(refusal)
  })

  it('is refused if the tested secret was replaced during the test call', async () => {
    const { partner_id, client_secret: first } = await create()
    await rotate(partner_id)
    let newest = ''
    const slow: TestCall = async () => {
      newest = (await rotate(partner_id)).client_secret
      return { ok: true, detail: '' }
    }
    await expect(switchTo(partner_id, slow)).rejects.toMatchObject(
      message('the secret was rotated again during the test call, so the old one still signs our calls'),
    )
    expect(await live(partner_id)).toEqual([newest, `${first} signs`])
  })

  it('makes the test call even if the old secret can no longer be opened', async () => {
    const { partner_id } = await create()
    await rotate(partner_id)
    const unreadable = Buffer.alloc(64)
    await world.pool.query('update partner_secret set sealed = $1 where partner_id = $2 and signs', [
      unreadable,
      String(partner_id),
    ])
    await world.pool.query('update partner set aes_key = $1, aes_key_set_at = now() where partner_id = $2', [
      unreadable,
      String(partner_id),
    ])
    await expect(switchTo(partner_id, heartbeatWith(world.deps))).rejects.toMatchObject(
      message(
        'the test call with the new secret failed, so the old one still signs our calls: no URL is registered for heartbeat',
      ),
    )
  })

  it('called many times at once switches once', async () => {
    const { partner_id, client_secret: first } = await create()
    const { client_secret: second } = await rotate(partner_id)
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => switchTo(partner_id)))
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await live(partner_id)).toEqual([`${second} signs`, first])
  })

  it('is possible even if the old secret can no longer be opened', async () => {
    const { partner_id } = await createPartner(
      { ...world.deps, keys: deriveKeys('the key that this service had before it was lost') },
      parseInput(newPartner, { name: 'X' }),
    )
    await expect(findPartner(world.deps, partner_id)).rejects.toThrow('a sealed secret cannot be opened')
    const { client_secret } = await rotate(partner_id, 0)
    await switchTo(partner_id)
    expect(await live(partner_id)).toEqual([`${client_secret} signs`])
  })
})

describe('retireSecret', () => {
  it('ends the old secret at once, and is refused a second time', async () => {
    const { partner_id } = await create()
    const { client_secret } = await rotate(partner_id, 86_400)
    await switchTo(partner_id)
    expect((await retireSecret(world.deps, partner_id)).secrets).toMatchObject([{ signs: true, ends_at: null }])
    expect(await live(partner_id)).toEqual([`${client_secret} signs`])
    await expect(retireSecret(world.deps, partner_id)).rejects.toMatchObject(
      message('there is no old secret, only the one that signs our calls'),
    )
  })

  it('never ends the secret that signs', async () => {
    const { partner_id, client_secret: first } = await create()
    const { client_secret: second } = await rotate(partner_id)
    await expect(retireSecret(world.deps, partner_id)).rejects.toMatchObject(
      message('the old secret still signs our calls; run switch-signing first'),
    )
    expect(await live(partner_id)).toEqual([second, `${first} signs`])
  })
})

it('the table allows one signing secret per partner', async () => {
  const { partner_id } = await create()
  await rotate(partner_id)
  const both = world.pool.query('update partner_secret set signs = true where partner_id = $1', [String(partner_id)])
  await expect(both).rejects.toMatchObject({ code: '23505' })
})
