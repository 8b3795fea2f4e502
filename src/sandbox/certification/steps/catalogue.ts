import { addDays } from '../../../platform/lib/time-zone.ts'
import { type RequestOf, statedNow } from '../../../ticketing/partner-calls/index.ts'
import { offers, requireDayAhead, travelDate } from '../../test-plan/index.ts'
import { OPEN_DATE } from '../order-input.ts'
import type { StepContext } from '../step-context.ts'
import { checkDated } from './order.ts'
import { defineStep } from './step.ts'

/** All products of the run. */
export const productPull = defineStep({
  id: 'product-pull',
  kind: 'call',
  needs: ['product-pull'],
  expects: { 'product-found': 'error', 'dated-product': 'error' },
  async perform(context) {
    const wanted = [...new Set(Object.values(context.choice.products).filter((id) => id !== undefined))]
    const result = await context.call('product-pull', { method: 'multi', partnerDealIds: wanted })
    if (result.outcome !== 'success') return
    await checkFound(context, wanted, result.answer.body)
    // Checked this early because order-reschedule comes late, and choosing another product needs a new run.
    const main = result.answer.body.find(({ partnerDealId }) => partnerDealId === context.choice.products.main)
    if (main && offers(context.choice, 'order-reschedule')) await checkDated(context, main.useDateMode !== OPEN_DATE)
  },
})

export const poiPull = defineStep({
  id: 'poi-pull',
  kind: 'call',
  needs: ['poi-pull'],
  expects: { 'not-empty': 'error' },
  async perform(context) {
    const result = await context.call('poi-pull', firstPlacesRequest)
    if (result.outcome === 'success') await checkNotEmpty(context, result.answer.body)
  },
})

/** The week from the travel date on. */
export const priceCalendar = defineStep({
  id: 'price-calendar',
  kind: 'call',
  needs: ['price-calendar'],
  expects: { 'not-empty': 'error', 'in-range': 'error', 'product-found': 'error' },
  async perform(context) {
    const { main } = context.choice.products
    const request = pricesRequest(context)
    const result = await context.call('price-calendar', request)
    if (result.outcome !== 'success') return
    await checkNotEmpty(context, result.answer.body)
    const days = result.answer.body.map(({ date }) => date)
    await checkRange(context, 'date', days, request)
    // Names only the first wrong one: there may be thousands.
    const index = result.answer.body.findIndex(({ partnerDealId }) => partnerDealId !== main)
    const actual = result.answer.body[index]?.partnerDealId ?? main
    const path = index < 0 ? 'body' : `body[${index}].partnerDealId`
    await context.check('product-found', index < 0, { path, expected: main, actual })
  },
})

/** Asks for an immediate response (asyncType 0), but accepts "will follow" (999). */
export const levelPriceCalendar = defineStep({
  id: 'level-price-calendar',
  kind: 'call',
  needs: ['level-price-calendar'],
  expects: { 'not-empty': 'error', 'in-range': 'error' },
  async perform(context) {
    const request = levelPricesRequest(context)
    const result = await context.call('level-price-calendar', request, { codes: [200, 999] })
    if (result.outcome !== 'success') return
    await checkNotEmpty(context, result.answer.body)
    const days = result.answer.body.map(({ priceDate }) => priceDate)
    await checkRange(context, 'priceDate', days, request)
  },
})

export const balanceQuery = defineStep({
  id: 'balance-query',
  kind: 'call',
  needs: ['balance-query'],
  expects: { 'product-found': 'error' },
  async perform(context) {
    const { main } = context.choice.products
    const result = await context.call('balance-query', { partnerDealIds: [main] })
    if (result.outcome === 'success') await checkFound(context, [main], result.answer.body)
  },
})

const ONLINE = 1
const PASSED = 1

export const productStatus = defineStep({
  id: 'product-status',
  kind: 'call',
  needs: ['product-status'],
  expects: {},
  async perform(context) {
    const { main: partnerDealId } = context.choice.products
    await context.call('product-status', [{ partnerDealId, status: ONLINE, checkStatus: PASSED }])
  },
})

export const heartbeat = defineStep({
  id: 'heartbeat',
  kind: 'call',
  needs: ['heartbeat'],
  expects: {},
  async perform(context) {
    await context.call('heartbeat', {})
  },
})

interface Days {
  readonly startTime: string
  readonly endTime: string
}

function weekOf(context: StepContext): Days {
  const startTime = requireDayAhead(travelDate(context.choice, statedNow(context.deps)), context.deps.clock.now())
  return { startTime, endTime: addDays(startTime, 6) }
}

export const firstPlacesRequest: RequestOf<'poi-pull'> = { method: 'page', currentPage: 1, pageSize: 20 }

export const pricesRequest = (context: StepContext) => ({
  partnerDealId: context.choice.products.main,
  ...weekOf(context),
})

export const levelPricesRequest = (context: StepContext) => {
  const { main, level = main } = context.choice.products
  return { partnerDealId: level, ...weekOf(context), asyncType: 0 }
}

const checkNotEmpty = (context: StepContext<'not-empty'>, entries: readonly unknown[]): Promise<boolean> =>
  context.check('not-empty', entries.length > 0, { path: 'body', expected: '≥ 1', actual: String(entries.length) })

async function checkFound(
  context: StepContext<'product-found'>,
  wanted: readonly string[],
  entries: readonly { readonly partnerDealId: string }[],
): Promise<void> {
  const ids = entries.map(({ partnerDealId }) => partnerDealId)
  for (const id of wanted) {
    const there = ids.includes(id)
    const actual = there ? id : ids.slice(0, 10).join(', ') || '–'
    await context.check('product-found', there, { path: 'body[].partnerDealId', expected: id, actual })
  }
}

async function checkRange(
  context: StepContext<'in-range'>,
  field: string,
  days: readonly string[],
  week: Days,
): Promise<void> {
  const outside = days.findIndex((day) => day < week.startTime || day > week.endTime)
  const path = outside < 0 ? 'body' : `body[${outside}].${field}`
  const expected = `${week.startTime} – ${week.endTime}`
  await context.check('in-range', outside < 0, { path, expected, actual: days[outside] ?? expected })
}
