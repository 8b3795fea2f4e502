import { InvalidInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { echo, invalidRequest, type RescodeError } from '../../platform/lib/web/rescode.ts'

export const noSuchPartner = (): RescodeError => invalidRequest('no such partner', { status: 404 })

/** `fields` are those of partner_id and client_id that another partner has already. */
export const partnerTaken = (fields: readonly string[]): RescodeError =>
  new InvalidInput(fields.map((field) => ({ field, problem: localized('already-taken') })))

export const signsAlready = (): RescodeError =>
  invalidRequest('the newest secret signs our calls already; rotate-secret makes a newer one')

/** `detail` is the test call's own. */
export const testCallFailed = (detail: string): RescodeError =>
  invalidRequest(`the test call with the new secret failed, so the old one still signs our calls: ${echo(detail)}`)

export const rotatedMeanwhile = (): RescodeError =>
  invalidRequest('the secret was rotated again during the test call, so the old one still signs our calls')

export const noWebhook = (): RescodeError => invalidRequest('that contact has no webhook', { status: 404 })

export const noAesKey = (): RescodeError => invalidRequest('that partner has no AES key', { status: 404 })

/** Calls cannot be encrypted without a key. */
export const nothingToEncryptWith = (): RescodeError =>
  new InvalidInput([{ field: 'encrypts_calls', problem: localized('needs-aes-key') }])

export const noOldSecret = (): RescodeError =>
  invalidRequest('there is no old secret, only the one that signs our calls')

export const oldSecretSigns = (): RescodeError =>
  invalidRequest('the old secret still signs our calls; run switch-signing first')
