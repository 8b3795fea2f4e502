import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { noteStatus, queryBalance, queryLevelPrices, queryPois, queryPrices, queryProducts } from './catalogue.ts'
import { decrypted, ENCRYPTION_HEADER, encrypted } from './encryption.ts'
import { closeOrder, createOrder, payOrder, queryOrder, rescheduleOrder } from './orders.ts'
import type { Settings } from './outbox.ts'
import { noteRefunded, refundOrder } from './refund.ts'
import type { Shop } from './shop.ts'
import { type Call, type Problem, problemsOf } from './signature.ts'
import { type Answer, type Fields, fieldsOf, Refusal, readJson, refuse, writeJson } from './wire.ts'

/** An interface that the platform calls. */
interface Interface {
  /** You may choose other paths; these are the ones that the platform uses if it knows only a base URL. */
  readonly path: string
  /** The code for a request that lacks a field or has a wrong one. */
  readonly malformed: number
  /** `body` is the field `body` of the request. */
  readonly answer: (shop: Shop, body: unknown) => Answer
}

/** Most requests have an object as their body. */
const withObject = (path: string, malformed: number, answer: (shop: Shop, body: Fields) => Answer): Interface => ({
  path,
  malformed,
  answer: (shop, body) => answer(shop, fieldsOf(body, 'body')),
})

/** Everything that the platform can call. */
const INTERFACES: readonly Interface[] = [
  withObject('/poi/query', 399, (_shop, body) => queryPois(body)),
  withObject('/product/query', 399, queryProducts),
  withObject('/product/price/query', 201, queryPrices),
  withObject('/product/level/price/calendar/v2', 201, queryLevelPrices),
  withObject('/order/create', 410, createOrder),
  withObject('/order/pay', 599, payOrder),
  withObject('/order/query', 399, queryOrder),
  withObject('/order/refund', 699, refundOrder),
  withObject('/order/refunded', 300, noteRefunded),
  withObject('/order/close', 300, closeOrder),
  withObject('/order/reschedule', 300, rescheduleOrder),
  withObject('/balance/query', 300, queryBalance),
  { path: '/product/status', malformed: 300, answer: noteStatus },
  { path: '/alive', malformed: 300, answer: () => ({}) },
]

/** The only answer to a wrong signature, so that an attacker learns nothing. */
const BA_FAILED = 'BA verification failed'

const callOf = ({ method, raw, headers }: FastifyRequest): Call => ({
  method,
  path: raw.url?.split('?')[0] ?? '/',
  date: headers.date ?? '',
  authorization: headers.authorization ?? '',
})

/** Registers all interfaces. The signature is checked before the body is read. */
export function registerInterfaces(
  app: FastifyInstance,
  settings: Settings,
  shop: Shop,
  overlooks: (problem: Problem) => boolean,
): void {
  const send = (reply: FastifyReply, { code = 200, describe = 'success', ...rest }: Answer) =>
    reply
      .type('application/json; charset=utf-8')
      .send(writeJson({ code, describe, partnerId: settings.partnerId, ...rest }))

  app.addHook('onRequest', async (request) => {
    const problems = problemsOf(callOf(request), settings, shop.now()).filter((problem) => !overlooks(problem))
    if (problems.length === 0) return
    settings.log.warn({ path: request.routeOptions.url, problems }, BA_FAILED)
    refuse(300, BA_FAILED)
  })

  // Decrypts after the signature was checked, and before anything else reads the body.
  const decryptedRequests = new WeakSet<FastifyRequest>()
  app.addHook('preValidation', async (request) => {
    if (!isEncrypted(request)) return
    request.body = readable(settings, request.body)
    decryptedRequests.add(request)
  })
  // Responses are encrypted like their requests; a request that was refused before gets a plain one.
  app.addHook('onSend', async (request, reply, payload) => {
    const { aesKey } = settings
    if (aesKey === undefined || !decryptedRequests.has(request) || reply.hasHeader(ENCRYPTION_HEADER)) return payload
    reply.header(ENCRYPTION_HEADER, 'encrypted')
    return encrypted(aesKey, String(payload))
  })

  for (const entry of INTERFACES) {
    app.post(entry.path, (request, reply) => send(reply, answerOf(entry, shop, request.body)))
  }

  // Failures have HTTP 200 too: the platform takes any other status for a broken connection.
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof Refusal) return send(reply, { code: error.code ?? 300, describe: error.message })
    settings.log.error({ err: error }, 'unexpected failure')
    return send(reply, { code: 300, describe: 'unexpected failure' })
  })
}

const isEncrypted = ({ headers }: FastifyRequest): boolean => headers[ENCRYPTION_HEADER.toLowerCase()] === 'encrypted'

/** Decrypts the body of a request. All errors have the same text. */
function readable({ aesKey }: Settings, bytes: unknown): string {
  try {
    return decrypted(aesKey ?? '', String(bytes))
  } catch {
    return refuse(300, 'the body cannot be decrypted')
  }
}

function answerOf({ malformed, answer }: Interface, shop: Shop, bytes: unknown): Answer {
  try {
    return answer(shop, bodyOf(bytes))
  } catch (error) {
    if (error instanceof Refusal && error.code === undefined) throw new Refusal(error.message, malformed)
    throw error
  }
}

/** The field `body` of the JSON object; not to be confused with the HTTP body, which is the whole object. */
function bodyOf(bytes: unknown): unknown {
  try {
    return fieldsOf(readJson(String(bytes)), 'the request').body
  } catch (error) {
    throw error instanceof SyntaxError ? new Refusal('the request is not JSON') : error
  }
}
