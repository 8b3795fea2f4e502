import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addSeconds } from '../../src/platform/lib/clock.ts'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { setContact } from '../../src/ticketing/partners/contact.ts'
import {
  activatePartner,
  createPartner,
  findPartner,
  findPartnerByClientId,
  interfaceUrl,
  listPartners,
  notePartnerSecretUse,
  setStage,
  showPartner,
  suspendPartner,
  updatePartner,
} from '../../src/ticketing/partners/partner.ts'
import { retireSecret, rotatePartnerSecret, switchSigning } from '../../src/ticketing/partners/secret.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
})
afterAll(() => world.close())

const input = (fields: object = {}) => parseInput(newPartner, { name: 'Sunny Tickets', ...fields })
const create = (fields: object = {}) => createPartner(world.deps, input(fields))
const noSuchPartner = { rescode: 20007, message: 'Invalid request: no such partner', failure: { status: 404 } }
const audited = async (partner_id: bigint) => {
  const statement = 'select event, detail from audit_event where partner_id = $1 order by at'
  return (await world.pool.query(statement, [String(partner_id)])).rows
}

describe('createPartner', () => {
  it('generates ids and secret, and shows the secret only this once', async () => {
    const { client_secret, ...partner } = await create()
    expect(partner).toEqual({
      ...input(),
      aes_key_set_at: null,
      encrypts_calls: false,
      partner_id: 10001n,
      client_id: expect.stringMatching(/^[0-9a-f]{24}$/),
      status: 'active',
      created_at: world.clock.now(),
      updated_at: world.clock.now(),
      secrets: [
        {
          secret_id: expect.any(String),
          signs: true,
          created_at: world.clock.now(),
          ends_at: null,
          last_used_at: null,
        },
      ],
    })
    expect(client_secret).toMatch(/^ghcs_\w{49}$/)
    expect(await showPartner(world.deps, 10001n)).toEqual(partner)
    const { secrets: _, ...listed } = partner
    expect(await listPartners(world.deps, { limit: 100 })).toEqual({ partners: [listed], next: null })
  })

  it('accepts all fields, including the secret of the demo partner', async () => {
    const contacts = {
      product: { name: 'Ann', mail: 'ann@partner.example', webhook_url: 'https://partner.example/hook' },
      business: { name: 'Bo', mail: 'bo@partner.example', webhook_url: null },
    }
    const urls = { base_url: 'http://127.0.0.1:3002', interface_urls: { 'order-create': 'http://127.0.0.1:3003/x' } }
    const given = input({ partner_id: 7001, client_id: 'demo-partner', stage: 'live', contacts, ...urls })
    const partner = await createPartner(world.deps, given, 'demo-partner-secret')
    expect(partner).toMatchObject({ ...given, partner_id: 7001n, contacts, client_secret: 'demo-partner-secret' })
    expect((await findPartner(world.deps, 7001n))?.secrets[0]?.secret).toBe('demo-partner-secret')
  })

  it('stores nothing of the secret that could be read without the key', async () => {
    const { partner_id, client_secret } = await create()
    const { rows } = await world.pool.query('select * from partner_secret where partner_id = $1', [String(partner_id)])
    expect(rows).toHaveLength(1)
    for (const form of [client_secret, Buffer.from(client_secret).toString('hex')]) {
      expect(JSON.stringify(rows)).not.toContain(form)
      expect(rows[0].sealed.toString('latin1')).not.toContain(form)
    }
    expect(JSON.stringify(await audited(partner_id))).not.toContain(client_secret)
  })

  it('reports all ids that are taken at once, and changes nothing', async () => {
    const first = await create({ client_id: 'taken' })
    const audit = await audited(first.partner_id)
    const both = { client_id: 'taken', partner_id: first.partner_id }
    const problem = 'is already taken'
    await expect(create({ ...both, name: 'Other' })).rejects.toMatchObject({
      problems: [
        { field: 'partner_id', problem },
        { field: 'client_id', problem },
      ],
    })
    await expect(create({ client_id: 'taken' })).rejects.toMatchObject({ problems: [{ field: 'client_id', problem }] })
    expect(await showPartner(world.deps, first.partner_id)).toMatchObject({ name: first.name, secrets: [{}] })
    expect(await audited(first.partner_id)).toEqual(audit)
  })

  it('assigns the next free id from 10001 up, whatever ids are taken', async () => {
    const { partner_id: last } = await create()
    await create({ partner_id: last + 2n })
    await create({ partner_id: 2n ** 63n - 1n })
    expect((await create()).partner_id).toBe(last + 1n)
    expect((await create()).partner_id).toBe(last + 3n)
  })

  it('called many times at once assigns each partner its own id', async () => {
    const created = await Promise.all(Array.from({ length: 20 }, () => create()))
    expect(new Set(created.map(({ partner_id }) => partner_id)).size).toBe(20)
  })

  it('called many times at once with one clientId creates one partner', async () => {
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => create({ client_id: 'wanted' })))
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const failed of tries) {
      if (failed.status === 'rejected') expect(failed.reason).toMatchObject({ rescode: 20007 })
    }
  })
})

describe('changes of a partner', () => {
  it('affect only the given fields', async () => {
    const { client_secret: _, ...partner } = await create({ base_url: 'https://a.example' })
    world.clock.advance(5)
    const updated_at = world.clock.now()
    const renamed = await updatePartner(world.deps, partner.partner_id, { name: 'Renamed' })
    expect(renamed).toEqual({ ...partner, name: 'Renamed', updated_at })
    const interface_urls = { poi: 'https://b.example/poi' }
    const moved = await updatePartner(world.deps, partner.partner_id, { base_url: null, interface_urls })
    expect(moved).toEqual({ ...renamed, base_url: null, interface_urls })
    const cleared = await updatePartner(world.deps, partner.partner_id, { interface_urls: {} })
    expect(cleared).toEqual({ ...moved, interface_urls: {} })
  })

  it('set status and stage, any number of times', async () => {
    const { partner_id } = await create()
    expect(await suspendPartner(world.deps, partner_id)).toMatchObject({ status: 'suspended', stage: 'sandbox' })
    expect(await suspendPartner(world.deps, partner_id)).toMatchObject({ status: 'suspended' })
    expect(await setStage(world.deps, partner_id, { stage: 'live' })).toMatchObject({
      status: 'suspended',
      stage: 'live',
    })
    expect(await activatePartner(world.deps, partner_id)).toMatchObject({ status: 'active', stage: 'live' })
  })

  it('each add a row to the audit log, without secrets or contact data', async () => {
    const { partner_id, client_id, secrets } = await create()
    const tick = () => world.clock.advance(1)
    tick()
    await updatePartner(world.deps, partner_id, { name: 'New', base_url: 'https://new.example' })
    tick()
    await suspendPartner(world.deps, partner_id)
    tick()
    await activatePartner(world.deps, partner_id)
    tick()
    await setStage(world.deps, partner_id, { stage: 'live' })
    tick()
    await setContact(world.deps, partner_id, { role: 'product', name: 'Ann', mail: 'ann@a.example', webhook_url: null })
    tick()
    const rotated = await rotatePartnerSecret(world.deps, partner_id, { overlap_s: 60 })
    tick()
    await switchSigning(world.deps, partner_id, async () => ({ ok: true, detail: '' }))
    tick()
    await retireSecret(world.deps, partner_id)
    const secret_id = rotated.secrets[0]?.secret_id
    expect(await audited(partner_id)).toEqual([
      { event: 'partner_created', detail: { client_id, secret_id: secrets[0]?.secret_id } },
      {
        event: 'partner_updated',
        detail: {
          before: { name: 'Sunny Tickets', base_url: null },
          after: { name: 'New', base_url: 'https://new.example' },
        },
      },
      { event: 'partner_suspended', detail: {} },
      { event: 'partner_activated', detail: {} },
      { event: 'partner_stage_set', detail: { stage: 'live' } },
      { event: 'partner_contact_set', detail: { role: 'product', new_webhook_secret: false } },
      { event: 'partner_secret_rotated', detail: { secret_id, overlap_s: 60 } },
      { event: 'partner_signing_switched', detail: { secret_id } },
      { event: 'partner_secret_retired', detail: { secret_id: secrets[0]?.secret_id } },
    ])
  })
})

it.each([0n, -1n, 7n, 2n ** 63n, 10n ** 30n])('every operation refuses the unknown partner %s', async (partnerId) => {
  const who = { name: 'Ann', mail: 'ann@a.example', webhook_url: null }
  const never = () => expect.unreachable()
  await expect(showPartner(world.deps, partnerId)).rejects.toMatchObject(noSuchPartner)
  await expect(updatePartner(world.deps, partnerId, { name: 'x' })).rejects.toMatchObject(noSuchPartner)
  await expect(suspendPartner(world.deps, partnerId)).rejects.toMatchObject(noSuchPartner)
  await expect(activatePartner(world.deps, partnerId)).rejects.toMatchObject(noSuchPartner)
  await expect(setStage(world.deps, partnerId, { stage: 'live' })).rejects.toMatchObject(noSuchPartner)
  await expect(setContact(world.deps, partnerId, { role: 'product', ...who })).rejects.toMatchObject(noSuchPartner)
  await expect(rotatePartnerSecret(world.deps, partnerId, { overlap_s: 0 })).rejects.toMatchObject(noSuchPartner)
  await expect(switchSigning(world.deps, partnerId, never)).rejects.toMatchObject(noSuchPartner)
  await expect(retireSecret(world.deps, partnerId)).rejects.toMatchObject(noSuchPartner)
  expect(await findPartner(world.deps, partnerId)).toBeUndefined()
})

describe('findPartnerByClientId', () => {
  it('finds the partner in any status, with readable secrets, like findPartner', async () => {
    const partner_id = 8985652356562370001n
    const who = { name: 'Ann', mail: 'ann@a.example', webhook_url: null }
    const { client_secret, secrets, ...partner } = await create({ partner_id, contacts: { business: who } })
    const found = await findPartnerByClientId(world.deps, partner.client_id)
    const secret_id = secrets[0]?.secret_id
    expect(found).toEqual({
      ...partner,
      aes_key: null,
      contacts: { business: who },
      secrets: [{ secret_id, secret: client_secret, last_used_at: null, signs: true }],
    })
    expect(await findPartner(world.deps, partner_id)).toEqual(found)
    await suspendPartner(world.deps, partner_id)
    expect(await findPartnerByClientId(world.deps, partner.client_id)).toMatchObject({
      partner_id,
      status: 'suspended',
    })
  })

  it('finds a clientId with a colon, which older partners may have', async () => {
    const { partner_id } = await createPartner(world.deps, { ...input(), client_id: 'a:b' })
    expect(await findPartnerByClientId(world.deps, 'a:b')).toMatchObject({ partner_id })
    expect(await findPartnerByClientId(world.deps, 'a')).toBeUndefined()
  })

  it('needs only one statement', async () => {
    const { client_id } = await create()
    let statements = 0
    const db = {
      ...world.deps.db,
      batch: ((batched, item) => {
        statements++
        return world.deps.db.batch(batched, item)
      }) as typeof world.deps.db.batch,
    }
    const none = { one: nothing, maybe: nothing, many: nothing, exec: nothing, tx: nothing, batchWork: nothing }
    const only = { ...world.deps, db: { ...db, ...none } }
    expect(await findPartnerByClientId(only, client_id)).toMatchObject({ client_id })
    expect(statements).toBe(1)
  })

  it.each(['unknown', '', 'with\u0000nul', '\ud800', '7001', "' or 1=1 --", 'x'.repeat(100_000)])(
    'finds no partner %j',
    async (clientId) => {
      expect(await findPartnerByClientId(world.deps, clientId)).toBeUndefined()
    },
  )

  it('is safe with any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const clientId = `no partner's ${text}`
        expect(await findPartnerByClientId(world.deps, clientId)).toBeUndefined()
      }),
    )
  })

  it('throws with another SECRET_KEY or if a row was moved to another partner', async () => {
    const [left, right] = [await create(), await create()]
    const other = { ...world.deps, keys: deriveKeys('a wholly different secret key of the service') }
    await expect(findPartnerByClientId(other, left.client_id)).rejects.toThrow(/^a sealed secret cannot be opened/)
    const ids = [String(right.partner_id), String(left.partner_id)]
    await world.pool.query('delete from partner_secret where partner_id = $1', ids.slice(0, 1))
    await world.pool.query('update partner_secret set partner_id = $1 where partner_id = $2', ids)
    await expect(findPartner(world.deps, right.partner_id)).rejects.toThrow(/^a sealed secret cannot be opened/)
    expect(await showPartner(world.deps, right.partner_id)).toMatchObject({ partner_id: right.partner_id })
  })
})

function nothing(): never {
  throw new Error('more than one statement')
}

describe('notePartnerSecretUse', () => {
  it('records the last use, at most once a minute', async () => {
    const { partner_id } = await create()
    const secretNow = async () => {
      const found = await findPartner(world.deps, partner_id)
      return found?.secrets[0] ?? expect.unreachable()
    }
    const stale = await secretNow()
    const note = async () => notePartnerSecretUse(world.deps, await secretNow())
    const first = world.clock.now()
    await note()
    expect((await secretNow()).last_used_at).toEqual(first)
    world.clock.advance(59)
    await note()
    await notePartnerSecretUse(world.deps, stale)
    expect((await secretNow()).last_used_at).toEqual(first)
    world.clock.advance(1)
    await note()
    expect((await secretNow()).last_used_at).toEqual(addSeconds(first, 60))
    expect((await showPartner(world.deps, partner_id)).secrets[0]?.last_used_at).toEqual(addSeconds(first, 60))
  })
})

describe('interfaceUrl', () => {
  const interface_urls = { 'order-pay': 'https://pay.example/v1?a=b' }

  it.each([
    ['https://p.example', 'https://p.example/order/create'],
    ['https://p.example/', 'https://p.example/order/create'],
    ['https://p.example/mtp/v2', 'https://p.example/mtp/v2/order/create'],
    ['https://p.example/mtp/v2//', 'https://p.example/mtp/v2/order/create'],
    [null, undefined],
  ])('below base_url %j is %j', (base_url, url) => {
    expect(interfaceUrl({ base_url, interface_urls }, 'order-create', '/order/create')).toBe(url)
    expect(interfaceUrl({ base_url, interface_urls }, 'order-pay', '/order/pay')).toBe('https://pay.example/v1?a=b')
  })
})
