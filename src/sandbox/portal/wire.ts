import { z } from 'zod'
import { repeatedPassword, visibleLine } from '../../platform/lib/json/input.ts'
import { memberMail, memberRole } from '../../platform/lib/member.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { memberPassword } from '../../ticketing/members/index.ts'

const secretText = z
  .string()
  .min(1)
  .max(1024)
  .refine((text) => !text.includes('\0'))

// People paste their clientId, so surrounding whitespace is dropped: issued ids have none.
const clientId = visibleLine(64).overwrite(normalName)

/** Without `mail` the password is the clientSecret, which programs may still send as `client_secret`. */
const signInFields = z
  .object({
    client_id: clientId,
    mail: z
      .string()
      .transform((text) => text.trim() || undefined)
      .pipe(memberMail.optional())
      .optional(),
    password: secretText,
  })
  .refine(({ mail, password }) => mail !== undefined || password.trim() !== '')

export const signInForm = z
  .looseObject({ client_secret: z.unknown().optional() })
  .transform(({ client_secret, ...form }) => ({ password: client_secret, ...form }))
  .pipe(signInFields)

/** Invalid values are ignored. */
export const signInQuery = z
  .object({
    return_to: z.string().optional().catch(undefined),
    client_id: clientId.optional().catch(undefined),
    ended: z.literal('1').optional().catch(undefined),
    ready: z.literal('1').optional().catch(undefined),
  })
  .catch({})

export const linkQuery = z.object({ token: z.string().max(128).catch('') }).catch({ token: '' })

export const forgottenForm = z.object({ client_id: clientId, mail: memberMail })

/** A pasted field: trimmed like an HTTP header, and without the header's name if that was pasted too. */
const pasted = (longest: number, header?: string) =>
  z
    .string()
    .max(longest)
    .refine((text) => !text.includes('\0'))
    .default('')
    .transform((text) => (header ? text.replace(new RegExp(`^\\s*${header}\\s*:`, 'i'), '') : text).trim())

const header = (name: string, longest: number) =>
  pasted(longest, name).transform((text) => (text === '' ? undefined : text.replaceAll('\r\n', '\n')))

/** A signed call. Date and Authorization may be missing: the tool reports that as a mistake. */
export const pastedForm = z.object({
  method: pasted(16)
    .transform((text) => text.toUpperCase() || 'POST')
    .refine((text) => /^[A-Z]+$/.test(text)),
  url: pasted(2_048).refine((text) => text !== ''),
  date: header('Date', 256),
  authorization: header('Authorization', 2_048),
  partner_id: header('PartnerId', 64),
  host: header('Host', 256),
})

/** The fields of a form as typed, to be shown again. */
export const asTyped = z.record(z.string(), z.string().catch('')).catch({})

export const verdictQuery = z.object({ test: z.string().optional().catch(undefined) })

/** The forms of the pages about members. */

export const inviteForm = z.object({ mail: memberMail, role: memberRole })
export const roleForm = z.object({ role: memberRole })

/** The newest secret when the page was opened. */
export const rotateForm = z.object({ replaces: z.string().max(64) }).catch({ replaces: '' })

export const passwordForm = z.object({ password: memberPassword, password_again: repeatedPassword })
