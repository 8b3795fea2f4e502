import { ENCRYPTION_HEADER, encrypted } from './encryption.ts'
import { fieldsOf, whole } from './fields.ts'
import { readJson } from './json.ts'
import type { Settings } from './settings.ts'
import { authorization } from './signature.ts'

/** The response of the platform; without a code it could not be understood, or the platform could not be reached. */
interface Reply {
  readonly code: number | undefined
  readonly describe: string
}

/** Sends one text to one path of the platform; it never throws. */
export type Delivery = (path: string, text: string, signal: AbortSignal) => Promise<Reply>

export const LEVEL_PRICES = '/mtp/api/level/price/notice/v2'

const TIMEOUT_MS = 10_000

/** A delivery with a fresh Date and signature each time: a repeated call with an old Date would be refused. */
export const signedDelivery =
  (settings: Settings): Delivery =>
  async (path, text, signal) => {
    try {
      return await post(settings, path, text, signal)
    } catch (error) {
      return { code: undefined, describe: (error as Error).message }
    }
  }

async function post(settings: Settings, path: string, text: string, signal: AbortSignal): Promise<Reply> {
  const { partnerId, clientId, clientSecret, platformUrl, now } = settings
  const url = new URL(platformUrl.replace(/\/+$/, '') + path)
  const date = now().toUTCString()
  // Level prices are the only encrypted notices.
  const key = path === LEVEL_PRICES ? settings.aesKey : undefined
  const { request } = await import('undici') // with the first notice: the demo starts faster
  const { body } = await request(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      PartnerId: partnerId,
      Date: date,
      // The whole path is signed, with the prefix that the platform's address may have.
      Authorization: authorization(clientId, clientSecret, { method: 'POST', path: url.pathname, date }),
      ...(key === undefined ? {} : { AppKey: clientId, [ENCRYPTION_HEADER]: 'encrypted' }),
    },
    body: key === undefined ? text : encrypted(key, text),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    signal,
  })
  // The HTTP status says little in this protocol; the code in the envelope counts.
  const answer = fieldsOf(readJson(await body.text()), 'the answer')
  return { code: whole(answer, 'code'), describe: String(answer.describe ?? '') }
}
