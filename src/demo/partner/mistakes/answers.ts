import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { readJson, writeJson } from '../json.ts'
import type { Mistake, Switches } from './mistakes.ts'

type Json = Record<string, unknown>

/** A required field of each answer; where there is none, the code. */
const REQUIRED: Readonly<Record<string, string>> = {
  '/poi/query': 'name',
  '/product/query': 'title',
  '/product/price/query': 'settlementPrice',
  '/product/level/price/calendar/v2': 'partnerPrimaryKey',
  '/order/create': 'partnerOrderId',
  '/order/pay': 'voucherType',
  '/order/query': 'orderStatus',
  '/order/refund': 'refundId',
  '/order/reschedule': 'successCount',
  '/balance/query': 'prepaidAccountBalance',
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** Changes the body, or each entry of it. */
const inBody = (answer: Json, change: (entry: Json) => Json): Json => {
  const { body } = answer
  if (Array.isArray(body)) return { ...answer, body: body.map((entry: Json) => change(entry)) }
  return isObject(body) ? { ...answer, body: change(body) } : answer
}

const without = (entry: Json, field: string): Json =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => name !== field))

const wrongType = (value: unknown): unknown => {
  if (typeof value === 'string') return [value]
  return typeof value === 'number' || typeof value === 'bigint' ? `about ${value}` : 'yes'
}

const wrongTypes = (entry: Json): Json =>
  Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, wrongType(value)]))

const rounded = (entry: Json): Json =>
  typeof entry.orderId === 'bigint' ? { ...entry, orderId: BigInt(String(Number(entry.orderId))) } : entry

type Spoil = (answer: Json, reply: FastifyReply, path: string) => Json | string | Promise<Json>

const SPOILT: Readonly<Partial<Record<Mistake, Spoil>>> = {
  'answer-missing-field': (answer, _reply, path) => {
    const field = REQUIRED[path]
    return field === undefined ? without(answer, 'code') : inBody(answer, (entry) => without(entry, field))
  },
  'answer-wrong-types': (answer) => (isObject(answer.body) ? inBody(answer, wrongTypes) : wrongTypes(answer)),
  'answer-rounded-order-id': (answer) => inBody(answer, rounded),
  'answer-code-300': (answer) => ({ ...without(answer, 'body'), code: 300, describe: 'error' }),
  'answer-too-large': (answer) => ({ ...answer, padding: 'x'.repeat(2 * 1024 * 1024) }),
  'answer-http-500': (answer, reply) => {
    reply.code(500)
    return answer
  },
  'answer-redirects': (answer, reply) => {
    reply.code(302).header('Location', '/alive')
    return answer
  },
  'answer-slow': async (answer) => {
    await sleep(20_000, undefined, { ref: false })
    return answer
  },
  'answer-empty': () => '',
  'answer-not-json': (_answer, reply) => {
    reply.type('text/html; charset=utf-8')
    return '<html><body><h1>It works!</h1></body></html>'
  },
}

/** Spoils a finished answer by all mistakes that are switched on, in the order of this file. */
export async function spoil(switches: Switches, path: string, payload: string, reply: FastifyReply): Promise<string> {
  let answer = readJson(payload) as Json
  for (const [mistake, change] of Object.entries(SPOILT) as [Mistake, Spoil][]) {
    if (!switches.has(mistake)) continue
    const spoilt = await change(answer, reply, path)
    if (typeof spoilt === 'string') return spoilt
    answer = spoilt
  }
  return writeJson(answer)
}
