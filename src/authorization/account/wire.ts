import { z } from 'zod'
import { filterText, momentKey, pageInput } from '../../platform/db/page.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import { issue, problem } from '../../platform/lib/json/field-problem.ts'
import {
  newPasswordOf,
  readingReason,
  repeatedPassword,
  shownName,
  typedPassword,
  visibleLine,
} from '../../platform/lib/json/input.ts'
import { hasInvisible } from '../../platform/lib/precis.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { webUrl } from '../../platform/lib/web/web-url.ts'
import type { SignInSource } from '../../platform/throttle/index.ts'

/** As typed when signing in or searching. */
const passport = visibleLine(128)
const newPassport = passport.refine((text) => !hasInvisible(text), problem('must-be-visible'))

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const

/** A repeated field arrives as a list and is refused. */
export const signInForm = z.object({ passport, password: typedPassword })

export const forgottenForm = signInForm.pick({ passport: true })

export const codeForm = z.object({ code: z.string().trim().min(1).max(40) })

const base64url = z.string().regex(/^[\w-]{1,8192}$/)
/** The parts of a `navigator.credentials` response that we use; all of them are verified. */
const credentialResponse = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}).catch({}),
})
const json = z.string().transform((text, context) => {
  try {
    return JSON.parse(text)
  } catch {
    context.addIssue(issue('must-be-json'))
    return z.NEVER
  }
})
const signed = z.object({
  clientDataJSON: base64url,
  authenticatorData: base64url,
  signature: base64url,
  userHandle: base64url,
})
export const passkeyAnswer = z.object({ credential: json.pipe(credentialResponse.extend({ response: signed })) })
const attested = z.object({
  clientDataJSON: base64url,
  attestationObject: base64url,
  transports: z.array(z.enum(TRANSPORTS)).max(8).catch([]),
})
export const passkeyName = z.object({ name: shownName(50) })
export const newPasskeyForm = passkeyName.extend({
  credential: json.pipe(credentialResponse.extend({ response: attested })),
})
export const onePasskey = z.object({ passkey_id: z.uuid() })

/** Token of a password link; unusable values become empty, or count as absent. */
export const passwordQuery = z.object({ token: z.string().max(100).optional().catch('') }).catch({ token: undefined })

const newPassword = newPasswordOf(8)
export const newPasswordForm = z.object({ password: newPassword, password_again: repeatedPassword })
export const ownPasswordForm = newPasswordForm.extend({ current_password: typedPassword })

/** Parameters of the sign-in pages, in a query or a form; unusable values count as absent. */
export const signInQuery = z
  .object({
    return_to: z.string().optional().catch(undefined),
    login_hint: passport.optional().catch(undefined),
    app: z.string().max(1_000).optional().catch(undefined),
    /** Ask again even if somebody is signed in. */
    confirm: z.literal('1').optional().catch(undefined),
    /** The session ended, perhaps while a form was being filled in. */
    ended: z.literal('1').optional().catch(undefined),
  })
  .catch({ return_to: undefined, login_hint: undefined, app: undefined, confirm: undefined, ended: undefined })

/** Parameters of an OpenID Connect request that are passed on to the provider. */
export const upstreamQuery = z
  .object({
    /** select_account implies login (OIDC Core §3.1.2.1 leaves it open): not every provider knows select_account. */
    prompt: z
      .enum(['login', 'select_account', 'login select_account', 'select_account login'])
      .transform((prompt) => (prompt === 'login' ? prompt : 'login select_account'))
      .optional()
      .catch(undefined),
    max_age: z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number)
      .optional()
      .catch(undefined),
    acr_values: z.string().max(512).optional().catch(undefined),
  })
  .catch({})

/** The redirect from the provider; unusable values become empty. */
export const callbackQuery = z.object({
  state: z.string().optional().catch(''),
  code: z.string().optional().catch(''),
  error: z.string().max(200).optional().catch(''),
})

/** A user is identified by both, never by one alone (REFERENCE "Credentials"). */
export const userKey = z.strictObject({ cid: z.int().min(0).max(2_147_483_647), user_id: visibleLine(128) })
export type UserKey = z.output<typeof userKey>

/** 0 to 65535. Leads every row about a user, to keep hot statements on one shard (DECISIONS "Tokens and secrets"). */
export const routingKeyOf = (cid: number, userId: string): number => sha256(`${cid}:${userId}`).readUInt16BE(0)

export const rowKeyOf = ({ cid, user_id }: UserKey): UserRowKey => ({
  routingKey: routingKeyOf(cid, user_id),
  cid,
  userId: user_id,
})

/** With a reason, personal data is shown unmasked, and the read is recorded. */
export const showUserInput = userKey.extend({ reason: readingReason.optional() })

/** A user to be created; names as on the wire and in the table. */
export const newUser = z.strictObject({
  ...userKey.shape,
  passport: newPassport,
  password: newPassword.meta({ secret: true }),
  name: shownName(100),
  gender: z.enum(['0', '1', '2']).default('0'),
  big_avatar_url: webUrl,
  phone_number: z
    .string()
    .regex(/^\+?\d{5,20}$/, problem('must-be-phone-number'))
    .nullable()
    .default(null),
  status: z.enum(['active', 'blocked']).default('active'),
})
export type NewUser = z.output<typeof newUser>

const { name, passport: changedPassport, big_avatar_url, gender, phone_number } = newUser.shape
/** Changes by operators; absent fields stay as they are. */
export const userChanges = userKey
  .extend({
    passport: changedPassport.optional(),
    name: name.optional(),
    gender: gender.unwrap().optional(),
    big_avatar_url: big_avatar_url.optional(),
    phone_number: phone_number.unwrap().optional(),
  })
  .refine(
    ({ cid: _cid, user_id: _id, ...changes }) => Object.values(changes).some((value) => value !== undefined),
    problem('nothing-to-change'),
  )

/** A user as stored, and shown to operators. */
export const user = z.object({
  cid: z.int(),
  user_id: z.string(),
  passport: z.string(),
  name: z.string(),
  gender: z.enum(['0', '1', '2']),
  big_avatar_url: z.string(),
  phone_number: z.string().nullable(),
  status: z.enum(['active', 'blocked']),
  created_at: z.date(),
})
export type User = z.output<typeof user>

/** Masking: phone numbers keep their last digits, names their first letter, so that people can still be distinguished. */
export const lastDigits = (text: string, shown = 2): string =>
  `${'*'.repeat(Math.max(0, text.length - shown))}${text.slice(-shown)}`
const firstLetter = (text: string): string => `${[...text][0] ?? ''}***`

/** What operators see without giving a reason. */
export const maskedUser = (user: User): User => ({
  ...user,
  name: firstLetter(user.name),
  big_avatar_url: user.big_avatar_url && '***',
  phone_number: user.phone_number === null ? null : lastDigits(user.phone_number),
})

/** Cursor: created_at, cid, user_id; for searches by passport also that, as the last value. */
const userOrder = z
  .tuple([momentKey, z.int32(), z.string(), z.string()])
  .or(z.tuple([momentKey, z.int32(), z.string()]))

/** Texts match as prefixes. A passport cannot be combined with other fields. */
export const userFilter = z
  .strictObject({
    passport: passport.optional(),
    name: visibleLine(100).optional(),
    phone_number: filterText(21).optional(),
    status: z.enum(['active', 'blocked']).optional(),
    ...pageInput(userOrder),
  })
  .superRefine(({ passport, name, phone_number, status }, context) => {
    if (passport === undefined) return
    for (const [field, value] of Object.entries({ name, phone_number, status })) {
      if (value !== undefined) context.addIssue({ ...issue('not-with-passport'), path: [field] })
    }
  })
export type UserFilter = z.output<typeof userFilter>

export interface SignInOrigin {
  readonly address: string
  readonly userAgent?: string | undefined
}

/** Picks these two fields only: the input may hold a password, which must not be stored. */
export const originOf = ({ address, userAgent }: SignInOrigin): SignInOrigin => ({ address, userAgent })

/** The browser in which somebody signs in, and its cookies. */
export interface SignInBrowser extends SignInSource, SignInOrigin {
  /** Id of the session that this sign-in replaces. */
  readonly formerSession?: string | undefined
}

/** Browsers send a few hundred characters at most. */
const MAX_USER_AGENT = 300
export const keptUserAgent = ({ userAgent }: SignInOrigin): string | null =>
  userAgent === undefined ? null : cutTo(userAgent, MAX_USER_AGENT)
