import { addDays } from '../../lib/beijing.ts'
import { offers, travelDate } from '../choice.ts'
import type { Scene } from '../scene.ts'
import type { Step } from './step.ts'

/** The products that the run is about. */
export const productPull: Step = {
  id: 'product-pull',
  name: 'sandbox.step.product_pull.name',
  todo: 'sandbox.step.product_pull.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'product-pull'),
  checks: ['product-found'],
  async perform(scene) {
    const wanted = [...new Set(Object.values(scene.choice.products).filter((id) => id !== undefined))]
    const result = await scene.call('product-pull', { method: 'multi', partnerDealIds: wanted })
    if (result.outcome === 'success') await checkFound(scene, wanted, result.answer.body)
  },
}

export const poiPull: Step = {
  id: 'poi-pull',
  name: 'sandbox.step.poi_pull.name',
  todo: 'sandbox.step.poi_pull.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'poi-pull'),
  checks: ['not-empty'],
  async perform(scene) {
    const result = await scene.call('poi-pull', { method: 'page', currentPage: 1, pageSize: 20 })
    if (result.outcome === 'success') await checkNotEmpty(scene, result.answer.body)
  },
}

/** A week from the travel date on. */
export const priceCalendar: Step = {
  id: 'price-calendar',
  name: 'sandbox.step.price_calendar.name',
  todo: 'sandbox.step.price_calendar.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'price-calendar'),
  checks: ['not-empty', 'in-range', 'product-found'],
  async perform(scene) {
    const { main } = scene.choice.products
    const week = weekOf(scene)
    const result = await scene.call('price-calendar', { partnerDealId: main, ...week })
    if (result.outcome !== 'success') return
    await checkNotEmpty(scene, result.answer.body)
    const days = result.answer.body.map(({ date }) => date)
    await checkRange(scene, 'date', days, week)
    // The first one will do: there may be thousands of them.
    const index = result.answer.body.findIndex(({ partnerDealId }) => partnerDealId !== main)
    const actual = result.answer.body[index]?.partnerDealId ?? main
    const path = index < 0 ? 'body' : `body[${index}].partnerDealId`
    await scene.check('product-found', index < 0, { path, expected: main, actual })
  },
}

/** Asked for at once (asyncType 0); "will follow" (999) is an answer too. */
export const levelPriceCalendar: Step = {
  id: 'level-price-calendar',
  name: 'sandbox.step.level_price_calendar.name',
  todo: 'sandbox.step.level_price_calendar.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'level-price-calendar'),
  checks: ['not-empty', 'in-range'],
  async perform(scene) {
    const { main, level = main } = scene.choice.products
    const week = weekOf(scene)
    const ask = { partnerDealId: level, ...week, asyncType: 0 }
    const result = await scene.call('level-price-calendar', ask, { codes: [200, 999] })
    if (result.outcome !== 'success') return
    await checkNotEmpty(scene, result.answer.body)
    const days = result.answer.body.map(({ priceDate }) => priceDate)
    await checkRange(scene, 'priceDate', days, week)
  },
}

export const balanceQuery: Step = {
  id: 'balance-query',
  name: 'sandbox.step.balance_query.name',
  todo: 'sandbox.step.balance_query.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'balance-query'),
  checks: ['product-found'],
  async perform(scene) {
    const { main } = scene.choice.products
    const result = await scene.call('balance-query', { partnerDealIds: [main] })
    if (result.outcome === 'success') await checkFound(scene, [main], result.answer.body)
  },
}

const ONLINE = 1
const PASSED = 1

export const productStatus: Step = {
  id: 'product-status',
  name: 'sandbox.step.product_status.name',
  todo: 'sandbox.step.product_status.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'product-status'),
  checks: [],
  async perform(scene) {
    const { main: partnerDealId } = scene.choice.products
    await scene.call('product-status', [{ partnerDealId, status: ONLINE, checkStatus: PASSED }])
  },
}

export const heartbeat: Step = {
  id: 'heartbeat',
  name: 'sandbox.step.heartbeat.name',
  todo: 'sandbox.step.heartbeat.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'heartbeat'),
  checks: [],
  async perform(scene) {
    await scene.call('heartbeat', {})
  },
}

interface Days {
  readonly startTime: string
  readonly endTime: string
}

export function weekOf({ choice, deps }: Scene): Days {
  const startTime = travelDate(choice, deps.clock.now())
  return { startTime, endTime: addDays(startTime, 6) }
}

const checkNotEmpty = (scene: Scene, entries: readonly unknown[]): Promise<boolean> =>
  scene.check('not-empty', entries.length > 0, { path: 'body', expected: '≥ 1', actual: String(entries.length) })

async function checkFound(
  scene: Scene,
  wanted: readonly string[],
  entries: readonly { readonly partnerDealId: string }[],
): Promise<void> {
  const found = entries.map(({ partnerDealId }) => partnerDealId)
  for (const id of wanted) {
    const there = found.includes(id)
    const actual = there ? id : found.slice(0, 10).join(', ') || '–'
    await scene.check('product-found', there, { path: 'body[].partnerDealId', expected: id, actual })
  }
}

async function checkRange(scene: Scene, field: string, days: readonly string[], week: Days): Promise<void> {
  const outside = days.findIndex((day) => day < week.startTime || day > week.endTime)
  const path = outside < 0 ? 'body' : `body[${outside}].${field}`
  const expected = `${week.startTime} – ${week.endTime}`
  await scene.check('in-range', outside < 0, { path, expected, actual: days[outside] ?? expected })
}
