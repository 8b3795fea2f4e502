import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { pullPrices, pullProduct, showProduct } from '../../ticketing/catalogue/index.ts'
import { failureText, historyText } from './order-text.ts'
import { aligned, readable } from './text.ts'

const problemLines = (problems: Readonly<OutputOf<typeof pullPrices>['problems']>, title = 'Not stored:'): string[] =>
  problems.length > 0
    ? ['', title, aligned(problems.map(({ entry, path, problem }) => [entry, path, String(problem)]))]
    : []

export const pullText = ({
  expected,
  received,
  refused,
  pulled,
  problems,
  warnings,
  failure,
}: OutputOf<typeof pullProduct>): string =>
  [
    `${expected ?? 'unknown'} expected, ${received} received, ${refused} refused, ${pulled.length} products stored`,
    ...problemLines(problems),
    ...problemLines(warnings, 'Stored, with these warnings:'),
    ...failureText(failure),
  ].join('\n')

export const pricesText = ({
  from,
  to,
  pulled,
  changed,
  removed,
  problems,
  warnings,
  will_follow,
  failure,
}: OutputOf<typeof pullPrices>): string =>
  [
    `${from} to ${to}: ${pulled} prices pulled, ${changed} new or changed, ${removed} removed`,
    ...(will_follow ? ['the partner will send them later (999)'] : []),
    ...problemLines(problems),
    ...problemLines(warnings, 'Stored, with these warnings:'),
    ...failureText(failure),
  ].join('\n')

export function productText({ product, prices, history }: OutputOf<typeof showProduct>): string {
  const { details: _, ...facts } = product
  const rows = prices.map(({ price_date, partner_primary_key, mt_price, settlement_price, stock }) => [
    price_date,
    partner_primary_key || '-',
    readable(mt_price),
    readable(settlement_price),
    stock === -1 ? 'unlimited' : String(stock),
  ])
  return [
    aligned(Object.entries(facts).map(([field, value]) => [field, readable(value)])),
    ...(rows.length > 0 ? ['', aligned([['DATE', 'KEY', 'PRICE', 'SETTLEMENT', 'STOCK'], ...rows])] : []),
    '',
    historyText(history),
  ].join('\n')
}
