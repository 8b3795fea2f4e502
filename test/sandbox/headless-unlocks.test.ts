import { afterAll, beforeAll, expect, it } from 'vitest'
import { hasPassedSignatureTool } from '../../src/ticketing/mws/signature-test-store.ts'
import { call } from './caller.ts'
import { type Lab, openLab, SIMPLE } from './lab.ts'
import { textOf, visitor } from './pages/visitor.ts'

/** A verified call of the headless API counts as passing the signature tool. */

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(() => lab.close())

it('a correctly signed call passes the signature tool, a wrongly signed one does not', async () => {
  const { deps } = lab.world
  const me = await visitor(lab)
  expect(textOf(await me.open('/sandbox'))).toMatch(/Get the signature right next/)
  const guess = { caller: { partnerId: '7001', clientId: 'lab', clientSecret: 'guessed' } }
  expect(await call(lab, 'GET', '/runs', undefined, guess)).toMatchObject({ code: 300 })
  expect(await hasPassedSignatureTool(deps, lab.partnerId)).toBe(false)

  expect(await call(lab, 'POST', '/runs', { body: SIMPLE })).toMatchObject({ code: 200 })
  expect(await hasPassedSignatureTool(deps, lab.partnerId)).toBe(true)
  const home = textOf(await me.open('/sandbox'))
  expect(home).toMatch(/Get the signature right done/)
  expect(home).toMatch(/Complete the steps next/)
  expect(textOf(await me.open('/sandbox/functions'))).not.toContain('Pass the signature tool')
})

it('a pass that the process knows of is not stored again with every call', async () => {
  const { deps, pool } = lab.world
  await pool.query('delete from signature_pass')
  expect(await call(lab, 'GET', '/runs')).toMatchObject({ code: 200 })
  expect(await hasPassedSignatureTool(deps, lab.partnerId)).toBe(false)
})

it('a partner with a run but without a stored pass is not shown as locked either', async () => {
  const { pool } = lab.world
  await pool.query('delete from signature_pass')
  const me = await visitor(lab)
  expect(textOf(await me.open('/sandbox'))).toMatch(/Complete the steps next/)
  const page = await me.open('/sandbox/functions')
  expect(textOf(page)).toContain('is in progress: 0 of')
  expect(textOf(page)).not.toContain('Pass the signature tool')
  expect(page.body).toContain('<button type="submit" name="action" value="start">')
})
