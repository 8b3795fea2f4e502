import { randomUUID } from 'node:crypto'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import {
  APP_KEY_HEADER,
  BODY_DECRYPTED,
  ENCRYPTION_HEADER,
  ENCRYPTION_STATUS,
  encryptBody,
  KEY_DOES_NOT_FIT,
  openBody,
} from '../../platform/lib/crypto/aes-body.ts'
import { authorizationHeader, formatHttpDate } from '../../platform/lib/crypto/signing.ts'
import { jsonIn, parseLossless, placed } from '../../platform/lib/json/lossless.ts'
import { problemsText, type ShapeProblem } from '../../platform/lib/json/shape.ts'
import { type LocalizedText, localized, withValues } from '../../platform/lib/localized-text.ts'
import { parsedUrl } from '../../platform/lib/parsed-url.ts'
import { compressedText } from '../../platform/lib/web/body-text.ts'
import { echo } from '../../platform/lib/web/rescode.ts'
import type { HttpAnswer } from '../../platform/outbound/index.ts'
import { echoesOf, type PartnerInterface, readAnswer, remarkIn, SUCCESS } from '../interfaces/index.ts'
import { interfaceUrl, type PartnerWithSecrets } from '../partners/index.ts'
import { failed, type Reply } from './call-result.ts'
import type { Forgery } from './call-store.ts'

/** Older than anybody tolerates (MTP_CLOCK_SKEW_S is 600). */
export const FORGED_DATE_AGE_S = 1_200

export interface SignedRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly text: string
}

/** Signs a request, with the current time as its Date. */
export function signedRequest(
  { clock }: Deps,
  partner: PartnerWithSecrets,
  definition: PartnerInterface,
  text: string,
  {
    secret = partner.secrets.find(({ signs }) => signs)?.secret ?? '',
    forge,
  }: { readonly secret?: string; readonly forge?: Forgery },
): SignedRequest {
  const url = interfaceUrl(partner, definition.name, definition.defaultPath) ?? ''
  const path = parsedUrl(url)?.pathname ?? '/'
  const date = formatHttpDate(forge === 'date' ? addSeconds(clock.now(), -FORGED_DATE_AGE_S) : clock.now())
  const clientId = forge === 'client' ? `unknown-${randomUUID().slice(0, 8)}` : partner.client_id
  const key = forge === 'signature' ? randomUUID() : secret
  const encryptWith = definition.encrypted && partner.encrypts_calls ? partner.aes_key : null
  return {
    url,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      PartnerId: String(partner.partner_id),
      Date: date,
      Authorization: authorizationHeader(clientId, key, { method: 'POST', path, date }),
      ...(partner.aes_key === null ? {} : { [APP_KEY_HEADER]: clientId }),
      ...(encryptWith === null ? {} : { [ENCRYPTION_HEADER]: 'encrypted' }),
    },
    body: encryptWith === null ? text : encryptBody(encryptWith, text),
    text,
  }
}

/** An answer with its body decrypted, if it was encrypted; as received, with the problem, if that failed. */
export interface ReadableAnswer extends HttpAnswer {
  readonly decrypted: boolean
  /** Without the body. */
  readonly problem?: LocalizedText
}

/** Partners with a key may answer in either form, whatever form the request had. */
export function readableAnswer(answer: HttpAnswer, key: string | null): ReadableAnswer {
  const opened = openBody(answer.body, answer.headers[ENCRYPTION_STATUS], key)
  if ('problem' in opened) return { ...answer, decrypted: false, problem: opened.problem }
  return { ...answer, body: opened.bytes, decrypted: opened.decrypted }
}

export const keptHeaders = ({ headers, decrypted }: ReadableAnswer): HttpAnswer['headers'] =>
  decrypted ? { ...headers, [BODY_DECRYPTED]: 'yes' } : headers

/** Masks secrets that a response repeats, because responses are stored and logged. */
type Mask = (text: string) => string

/** Reads an HTTP answer: its status, then its JSON, then the envelope's code, then the fields of the interface. */
export function readReply(
  definition: PartnerInterface,
  http: ReadableAnswer,
  { mask, sent }: { readonly mask: Mask; readonly sent: string },
): Reply<unknown> {
  if (http.status !== 200) return failed({ kind: 'http-status', detail: statusText(http.status), maybe_received: true })
  const compressed = compressedText(http.headers)
  if (compressed)
    return failed({ kind: 'json', detail: localized('response-is', { problem: compressed }), maybe_received: true })
  if (http.problem !== undefined) return failed({ kind: 'encryption', detail: http.problem, maybe_received: true })
  const parsed = parseLossless(http.body)
  if ('problem' in parsed) {
    if (http.decrypted) return failed({ kind: 'encryption', detail: KEY_DOES_NOT_FIT, maybe_received: true })
    // The problem quotes the answer, which may hold characters that PostgreSQL or a terminal cannot take.
    const problem = withValues(placed(parsed), (value) => echo(mask(value)))
    return failed({ kind: 'json', detail: localized('response-is', { problem }), maybe_received: true })
  }
  const json = parsed.value
  const reading = readAnswer(definition, json)
  const other = reading.outcome === 'invalid' ? undefined : aboutAnother(sent, json, reading.outcome === 'success')
  if (other) return invalidAnswer([other], json, mask)
  switch (reading.outcome) {
    case 'invalid':
      return invalidAnswer(reading.problems, json, mask)
    case 'pending':
      return { outcome: 'pending', code: reading.code, describe: echo(mask(reading.describe)) }
    case 'failed': {
      const contradicted = definition.contradicted?.(json, reading.code)
      if (contradicted) return invalidAnswer([contradicted], json, mask)
      const { code, meaning } = reading
      const detail = localized('code-said', { code, meaning, describe: echo(mask(reading.describe)) })
      return failed({ kind: 'partner-code', detail, maybe_received: true, code }, json)
    }
    case 'success':
      return { outcome: 'success', answer: reading.answer, json }
  }
}

const statusText = (status: number): LocalizedText =>
  localized(status >= 300 && status < 400 ? 'http-redirect' : 'http-status', { status })

/** The partner's own message comes first, because it explains an unexpected response best. */
function invalidAnswer(problems: readonly ShapeProblem[], json: unknown, mask: Mask): Reply<never> {
  const remark = remarkIn(json)
  const masked = problems.map(({ path, problem }) => ({ path: mask(path), problem: withValues(problem, mask) }))
  const problem = problemsText(masked)
  const detail = remark === undefined ? problem : localized('partner-says', { remark: echo(mask(remark)), problem })
  return failed({ kind: 'schema', detail, maybe_received: true, problems: masked }, json)
}

/** A response about another order or refund must not change ours, whatever its code. */
function aboutAnother(sent: string, json: unknown, isSuccess: boolean): ShapeProblem | undefined {
  const other = echoesOf(jsonIn(sent), json, isSuccess).find(({ same }) => !same)
  if (!other) return undefined
  const [named, order] = [echo(other.named), echo(other.asked)]
  return { path: other.path, problem: localized(other.rounded ? 'about-rounded' : 'about-another', { named, order }) }
}

/** The code to record for a reply; null if the partner sent none. */
export function replyCode(reply: Reply<unknown>): number | null {
  if (reply.outcome === 'success') return SUCCESS
  return reply.outcome === 'pending' ? reply.code : (reply.failure.code ?? null)
}
