import { ENCRYPTION_STATUS, openBody } from '../lib/crypto/aes-body.ts'
import type { HttpAnswer } from '../outbound/index.ts'

/** An answer whose body is decrypted if it was encrypted; if decryption failed, as it came, with the problem. */
export interface ReadableAnswer extends HttpAnswer {
  readonly decrypted: boolean
  /** A sentence for a person, without the body. */
  readonly problem?: string
}

/** Partners that have a key answer in either form, whatever was asked. */
export function readable(answer: HttpAnswer, key: string | null): ReadableAnswer {
  const opened = openBody(answer.body, answer.headers[ENCRYPTION_STATUS], key)
  if ('problem' in opened) return { ...answer, decrypted: false, problem: opened.problem }
  return { ...answer, body: opened.bytes, decrypted: opened.decrypted }
}

/** Among the headers of what is kept: the body came encrypted and is kept readable. */
export const BODY_DECRYPTED = 'gatehouse-body-decrypted'

export const keptHeaders = ({ headers, decrypted }: ReadableAnswer): HttpAnswer['headers'] =>
  decrypted ? { ...headers, [BODY_DECRYPTED]: 'yes' } : headers
