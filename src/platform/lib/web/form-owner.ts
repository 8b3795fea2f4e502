import type { FastifyRequest } from 'fastify'
import { hmacSha256 } from '../crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey, type Keys } from '../crypto/keys.ts'
import { localized } from '../localized-text.ts'
import { invalidRequest } from './rescode.ts'

/**
 * Binds forms to the person whose page they are on. Two people may share a browser: a form that the first one left open
 * in a tab must not change anything of the second. This is not CSRF protection: forms of other sites are refused in
 * forms.ts.
 */

declare module 'fastify' {
  interface FastifyRequest {
    /** The mark that forms of the answered page carry; null if nobody is signed in. */
    formOwner: string | null
  }
}

/** The hidden field with that mark (page.ts). */
const FIELD = 'form_of'

const markOf = (key: DerivedKeys, owner: string): string =>
  hmacSha256(key.form, `form of\n${owner}`).toString('base64url', 0, 16)

const isOf = (keys: Keys, owner: string, sent: unknown): boolean =>
  everyKey(keys).some((key) => equalSecrets(String(sent), markOf(key, owner)))

/** A form without the field is accepted: programs send forms without a page. */
function requireOwnForm(keys: Keys, owner: string, sent: unknown): void {
  if (sent !== undefined && !isOf(keys, owner, sent)) throw invalidRequest(localized('form-of-another'))
}

/** Marks the forms of the answered page. Refuses a form of somebody else's page (20007); removes the field from the body. */
function bindFormsTo(keys: Keys, request: FastifyRequest, owner: string): void {
  request.formOwner = markOf(keys, owner)
  const { body } = request
  if (typeof body !== 'object' || body === null || !(FIELD in body)) return
  requireOwnForm(keys, owner, body[FIELD])
  delete body[FIELD] // no operation's schema has it
}

/** Adds the field to every form that posts. Done here for all pages, so that no template can forget it. */
const addOwnerField = (html: string, mark: string | null): string =>
  mark === null
    ? html
    : html.replace(/<form\b[^>]* method="post"[^>]*>/g, `$&<input type="hidden" name="${FIELD}" value="${mark}">`)

export const FORM_OWNER = { field: FIELD, isOf, bindFormsTo, require: requireOwnForm, addOwnerField }
