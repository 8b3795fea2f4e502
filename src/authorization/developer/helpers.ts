import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds, fromEpochSeconds } from '../../platform/lib/clock.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import type { StandardRequests } from '../oidc/index.ts'
import { jsTicket } from '../resource/index.ts'

const md5 = (text: string): string => createHash('md5').update(text).digest('hex')
const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64')

/** Common mistakes in computing a jsTicket; each has a text `developer.js_ticket.<id>`. */
const MISTAKES: Readonly<Record<string, (token: string) => string>> = {
  upper_case: (token) => jsTicket(token).toUpperCase(),
  digest_base64: (token) => Buffer.from(jsTicket(token), 'hex').toString('base64'),
  no_base64: md5,
  newline: (token) => md5(`${base64(token)}\n`),
  newline_before: (token) => jsTicket(`${token}\n`),
  wrapped: (token) => md5(base64(token).replace(/.{76}(?=.)/g, '$&\n')),
  wrapped_crlf: (token) => md5(base64(token).replace(/.{76}(?=.)/g, '$&\r\n')),
  base64url: (token) => md5(Buffer.from(token, 'utf8').toString('base64url')),
  base64_only: base64,
}

/** The jsTicket of an access token, and the mistake in a value computed by a program; `unknown` if it is no known one. */
export function checkTicket(accessToken: string, own: string) {
  const ticket = jsTicket(accessToken)
  if (own === '') return { ticket, own: undefined }
  if (own === ticket) return { ticket, own: 'right' }
  const [mistake = 'unknown'] = Object.entries(MISTAKES).find(([, made]) => made(accessToken) === own) ?? []
  return { ticket, own: mistake }
}

type Examined = NonNullable<Awaited<ReturnType<StandardRequests['examineIdToken']>>>

const TIMESTAMPS = ['exp', 'iat', 'auth_time', 'nbf']
const timestamp = z.number().min(0).max(253_402_300_799)
const SKEW_S = 60
const MAX_CLAIMS = 40
const MAX_LENGTH = 300

/** An id_token explained; `ownApps` are the app_keys of the reader's teams. */
export function idTokenView({ config, clock }: Deps, token: Examined, ownApps: readonly string[], t: Translate) {
  const { header, claims, signature } = token
  const now = clock.now()
  const at = (name: string) => timestamp.safeParse(claims[name]).data
  const [exp, iat] = [at('exp'), at('iat')]
  const finding = (isGood: boolean, good: string, bad: string) => ({ isGood, text: t(isGood ? good : bad) })
  const isOwn = [claims.aud].flat().some((audience) => ownApps.includes(String(audience)))
  const isInTime = exp !== undefined && fromEpochSeconds(exp) > now
  const findings = [
    { isGood: signature === 'right', text: t(`developer.id_token.signature_${signature}`) },
    finding(claims.iss === config.PUBLIC_URL, 'developer.id_token.iss_ours', 'developer.id_token.iss_other'),
    finding(isOwn, 'developer.id_token.aud_own', 'developer.id_token.aud_other'),
    finding(isInTime, 'developer.id_token.in_time', 'developer.id_token.expired'),
    ...(iat !== undefined && fromEpochSeconds(iat) > addSeconds(now, SKEW_S)
      ? [{ isGood: false, text: t('developer.id_token.clock') }]
      : []),
    ...(claims.nonce === undefined ? [] : [{ isGood: true, text: t('developer.id_token.nonce') }]),
  ]
  return {
    header: [header.alg, header.kid].filter((part) => part !== undefined).join(' · '),
    findings,
    claims: Object.entries(claims)
      .slice(0, MAX_CLAIMS)
      .map(([name, value]) => {
        const seconds = TIMESTAMPS.includes(name) ? at(name) : undefined
        return {
          name: cutTo(name, MAX_LENGTH),
          value: cutTo(typeof value === 'string' ? value : JSON.stringify(value), MAX_LENGTH),
          at: seconds === undefined ? null : fromEpochSeconds(seconds).toISOString(),
          // Other claims mean what their issuer says.
          meaning: t.has(`developer.claim.${name}`) ? t(`developer.claim.${name}`) : '',
        }
      }),
  }
}
