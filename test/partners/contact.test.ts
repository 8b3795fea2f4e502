import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { setContact } from '../../src/ticketing/partners/contact.ts'
import { createPartner, findPartner, listPartners, showPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { openWorld, type World } from '../harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const ann = { name: 'Ann', mail: 'ann@partner.example', webhook_url: 'https://partner.example/hook' }
const bo = { name: 'Bo', mail: 'bo@partner.example', webhook_url: null }

it('a contact is set and replaced as a whole, separately for each role', async () => {
  const { partner_id } = await createPartner(world.deps, parseInput(newPartner, { name: 'X' }))
  expect((await setContact(world.deps, partner_id, { role: 'product', ...ann })).contacts).toEqual({ product: ann })
  expect((await setContact(world.deps, partner_id, { role: 'business', ...ann })).contacts).toEqual({
    product: ann,
    business: ann,
  })
  world.clock.advance(1)
  const shown = await setContact(world.deps, partner_id, { role: 'product', ...bo })
  expect(shown).toMatchObject({ contacts: { product: bo, business: ann }, updated_at: world.clock.now() })
  expect(await showPartner(world.deps, partner_id)).toEqual(shown)
  expect((await findPartner(world.deps, partner_id))?.contacts).toEqual(shown.contacts)
  expect((await listPartners(world.deps, { limit: 100 })).partners[0]?.contacts).toEqual(shown.contacts)
})
