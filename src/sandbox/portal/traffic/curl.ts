import { endpointAt, mountsOf } from '../../../platform/config/mounts.ts'
import type { Deps } from '../../../platform/deps.ts'
import { APP_KEY_HEADER, ENCRYPTION_HEADER } from '../../../platform/lib/crypto/aes-body.ts'
import { parsedUrl } from '../../../platform/lib/parsed-url.ts'
import { shellQuoted } from '../../../platform/lib/shell-quoted.ts'
import type { Waiting } from '../../certification/index.ts'

interface CurlCall {
  readonly url: string
  readonly clientId: string
  readonly partnerId: string
  /** Not encrypted. */
  readonly body: string
  /** Sent encrypted. */
  readonly encrypted: boolean
  /** Names the clientId in a header, as calls to partners with an AES key do. */
  readonly namesApp: boolean
}

/** A shell script in which openssl signs with $CLIENT_SECRET and the current Date (REFERENCE "Signature"). */
export function curlOf({ url, clientId, partnerId, body, encrypted, namesApp }: CurlCall): string {
  const path = parsedUrl(url)?.pathname ?? '/'
  return `: "\${CLIENT_SECRET:?set it to your clientSecret}"
DATE=$(LC_ALL=C TZ=GMT date '+%a, %d %b %Y %H:%M:%S GMT')
SIGNATURE=$(printf 'POST %s\\n%s' ${shellQuoted(path)} "$DATE" | openssl dgst -sha1 -hmac "$CLIENT_SECRET" -binary | openssl base64)
${encrypted ? encrypting(body) : ''}curl -sS --globoff -X POST ${shellQuoted(url)} \\
  -H 'Content-Type: application/json; charset=utf-8' \\
  -H ${shellQuoted(`PartnerId: ${partnerId}`)} \\
  -H "Date: $DATE" \\
  -H ${shellQuoted(`Authorization: MWS ${clientId}:`)}"$SIGNATURE" \\
${namesApp ? header(`${APP_KEY_HEADER}: ${clientId}`) : ''}${encrypted ? header(`${ENCRYPTION_HEADER}: encrypted`) : ''}  --data-raw ${encrypted ? '"$BODY"' : shellQuoted(body)}
`
}

/** AES-128-CBC with $AES_KEY (16 characters or 32 hex digits); the IV is the key rotated by eight bytes. */
const encrypting = (body: string): string => `: "\${AES_KEY:?set it to your AES key}"
if [ \${#AES_KEY} = 32 ]; then KEY=$AES_KEY; else KEY=$(printf %s "$AES_KEY" | od -An -tx1 | tr -d ' \\n'); fi
IV=$(printf %s "$KEY" | cut -c17-32)$(printf %s "$KEY" | cut -c1-16)
BODY=$(printf %s ${shellQuoted(body)} | openssl enc -aes-128-cbc -K "$KEY" -iv "$IV" -a -A)
`

const header = (text: string): string => `  -H ${shellQuoted(text)} \\
`

/** The URLs of a notice, one per prefix in MTP_PATH_PREFIXES. */
export const noticeUrls = ({ config }: Pick<Deps, 'config'>, path: string): string[] =>
  mountsOf(config.MTP_PATH_PREFIXES).map((mount) => config.PARTNER_URL + endpointAt(mount, path))

/** A shell script that signs and sends the notice that a step waits for; undefined if that is unknown. */
export function noticeCurl(
  deps: Pick<Deps, 'config'>,
  partner: { readonly client_id: string; readonly partner_id: bigint },
  { path, notice }: Waiting,
): string | undefined {
  const [url] = noticeUrls(deps, path)
  if (url === undefined || notice === undefined) return undefined
  const caller = { clientId: partner.client_id, partnerId: String(partner.partner_id) }
  return curlOf({ url, ...caller, body: notice, encrypted: false, namesApp: false })
}
