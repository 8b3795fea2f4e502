import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { makeAesKey, removeAesKey, setAesKey } from '../../src/ticketing/partners/aes-key.ts'
import {
  createPartner,
  findPartner,
  listPartners,
  showPartner,
  updatePartner,
} from '../../src/ticketing/partners/partner.ts'
import { aesKeyInput, newPartner } from '../../src/ticketing/partners/wire.ts'
import { openWorld, type World } from '../harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const KEY = '0123456789abcdef'
const create = async () => (await createPartner(world.deps, parseInput(newPartner, { name: 'X' }))).partner_id
const keyOf = async (id: bigint) => (await findPartner(world.deps, id))?.aes_key

describe('the AES key of a partner', () => {
  it('is sealed for its partner, never shown, and can be removed', async () => {
    const id = await create()
    const set = await setAesKey(world.deps, id, { aes_key: KEY })
    expect(set).toMatchObject({ aes_key_set_at: world.clock.now(), encrypts_calls: false })
    expect(await keyOf(id)).toBe(KEY)
    const shown = JSON.stringify(
      [set, await showPartner(world.deps, id), await listPartners(world.deps, { limit: 100 })],
      (_name, one) => (typeof one === 'bigint' ? String(one) : one),
    )
    expect(shown).not.toMatch(/0123456789abcdef|"aes_key"/)
    const { rows } = await world.pool.query('select aes_key from partner where partner_id = $1', [String(id)])
    expect(rows[0].aes_key.toString('latin1')).not.toContain(KEY)
    // It cannot be opened in another partner's row or with another SECRET_KEY.
    const other = await create()
    await world.pool.query('update partner set (aes_key, aes_key_set_at) = ($1, now()) where partner_id = $2', [
      rows[0].aes_key,
      String(other),
    ])
    await expect(keyOf(other)).rejects.toThrow('a sealed secret cannot be opened')
    const keys = deriveKeys('another secret key, which is not the one of this database')
    await expect(findPartner({ ...world.deps, keys }, id)).rejects.toThrow('a sealed secret cannot be opened')

    expect(await removeAesKey(world.deps, id)).toMatchObject({ aes_key_set_at: null, encrypts_calls: false })
    expect(await keyOf(id)).toBeNull()
    await expect(removeAesKey(world.deps, id)).rejects.toMatchObject({ rescode: 20007, failure: { status: 404 } })
    expect(world.logged()).not.toContain(KEY)
  })

  it('that is generated has 16 characters, differs each time, and is shown once', async () => {
    const id = await create()
    const made = await Promise.all(Array.from({ length: 20 }, () => makeAesKey(world.deps, id)))
    expect(new Set(made.map(({ aes_key }) => aes_key)).size).toBe(20)
    for (const { aes_key } of made) expect(aes_key).toMatch(/^[0-9A-Za-z]{16}$/)
    expect(made.map(({ aes_key }) => aes_key)).toContain(await keyOf(id))
    const { rows } = await world.pool.query(
      `select event, detail::text from audit_event where event like 'partner_aes%'`,
    )
    expect(rows.filter(({ detail }) => detail.includes('"made": true'))).toHaveLength(20)
    for (const { aes_key } of made) expect(JSON.stringify(rows)).not.toContain(aes_key)
  })

  it.each(['', '0123456789abcde', `${KEY}g`, 'g'.repeat(32), '中'.repeat(16), 7])('is refused as %j', (aes_key) => {
    expect(() => parseInput(aesKeyInput, { aes_key })).toThrow(/aes_key must be/)
    try {
      parseInput(aesKeyInput, { aes_key })
    } catch (error) {
      if (aes_key !== '' && aes_key !== 7) expect((error as Error).message).not.toContain(aes_key)
    }
  })
})

describe('the encryption of calls', () => {
  it('is a separate setting, which needs a key and ends with it', async () => {
    const id = await create()
    const encrypt = () => updatePartner(world.deps, id, { encrypts_calls: true })
    await expect(encrypt()).rejects.toMatchObject({ problems: [{ field: 'encrypts_calls' }] })
    await setAesKey(world.deps, id, { aes_key: KEY })
    expect(await encrypt()).toMatchObject({ encrypts_calls: true })
    expect(await setAesKey(world.deps, id, { aes_key: KEY })).toMatchObject({ encrypts_calls: true })
    expect(await updatePartner(world.deps, id, { name: 'Y' })).toMatchObject({ name: 'Y', encrypts_calls: true })
    expect(await removeAesKey(world.deps, id)).toMatchObject({ encrypts_calls: false })
    expect(await setAesKey(world.deps, id, { aes_key: KEY })).toMatchObject({ encrypts_calls: false })
  })
})
