import { InvalidInput } from '../../platform/lib/json/input.ts'
import { type Detail, localized, withValues } from '../../platform/lib/localized-text.ts'
import { echo, invalidRequest, RefusedRequest, type RescodeError } from '../../platform/lib/web/rescode.ts'

export const noSuchPartner = (): RescodeError => invalidRequest(localized('no-such-partner'), { status: 404 })

/** `fields`: which of partner_id and client_id another partner has already. */
export const partnerTaken = (fields: readonly string[]): RescodeError =>
  new InvalidInput(fields.map((field) => ({ field, problem: localized('already-taken') })))

export const signsAlready = (): RescodeError => new RefusedRequest(localized('signs-already'))

export const testCallFailed = (detail: Detail): RescodeError =>
  new RefusedRequest(localized('test-call-failed', { problem: withValues(detail, echo) }))

export const rotatedMeanwhile = (): RescodeError => new RefusedRequest(localized('rotated-meanwhile'))

export const noWebhook = (): RescodeError => invalidRequest(localized('no-contact-webhook'), { status: 404 })

export const noAesKey = (): RescodeError => invalidRequest(localized('no-aes-key'), { status: 404 })

/** Calls cannot be encrypted without a key. */
export const nothingToEncryptWith = (): RescodeError =>
  new InvalidInput([{ field: 'encrypts_calls', problem: localized('needs-aes-key') }])

export const noOldSecret = (): RescodeError => new RefusedRequest(localized('no-old-secret'))

export const oldSecretSigns = (): RescodeError => new RefusedRequest(localized('old-secret-signs'))
