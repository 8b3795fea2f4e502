import type { FastifyRequest } from 'fastify'
import { hmacSha256 } from '../crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey, type Keys } from '../crypto/keys.ts'
import { localized } from '../localized-text.ts'
import { invalidRequest } from './rescode.ts'

/**
 * Whose page a form is on. Two people may use one browser, the second in another tab: what the first has left open must
 * change nothing of the second. It is no guard against other sites, whose forms are refused before (forms.ts).
 */

declare module 'fastify' {
  interface FastifyRequest {
    /** What the forms of the page that is sent say of whose page it is; null where nobody is signed in. */
    formOwner: string | null
  }
}

/** The field that each form of such a page has (page.ts). */
const FIELD = 'form_of'

const markOf = (key: DerivedKeys, owner: string): string =>
  hmacSha256(key.form, `form of\n${owner}`).toString('base64url', 0, 16)

/** For programs, which send forms of no page, anything is in order. */
function requireOwnForm(keys: Keys, owner: string, sent: unknown): void {
  if (sent === undefined || everyKey(keys).some((key) => equalSecrets(String(sent), markOf(key, owner)))) return
  throw invalidRequest(localized('form-of-another'))
}

/**
 * Forms of the page that is sent are the owner's. One that came from a page of somebody else is refused (20007); the field
 * that says so is taken out of the body.
 */
function bindFormsTo(keys: Keys, request: FastifyRequest, owner: string): void {
  request.formOwner = markOf(keys, owner)
  const { body } = request
  if (typeof body !== 'object' || body === null || !(FIELD in body)) return
  requireOwnForm(keys, owner, body[FIELD])
  delete body[FIELD] // no operation knows it
}

/** Each form of a page that changes something gets the field: done for all of them, so that none lacks it. */
const addOwnerField = (html: string, mark: string | null): string =>
  mark === null
    ? html
    : html.replace(/<form\b[^>]* method="post"[^>]*>/g, `$&<input type="hidden" name="${FIELD}" value="${mark}">`)

export const FORM_OWNER = { field: FIELD, bindFormsTo, require: requireOwnForm, addOwnerField }
