export interface CurlCall {
  readonly url: string
  readonly clientId: string
  readonly partnerId: string
  readonly body: string
}

/** A word for a POSIX shell, whatever it holds. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * The call as a shell text that anybody may see: openssl signs it afresh with $CLIENT_SECRET when it runs. Signature and
 * Date are those of that moment (source, area B, signature rules 1 to 3).
 */
export function curlOf({ url, clientId, partnerId, body }: CurlCall): string {
  const path = URL.canParse(url) ? new URL(url).pathname : '/'
  return `: "\${CLIENT_SECRET:?set it to your clientSecret}"
DATE=$(LC_ALL=C TZ=GMT date '+%a, %d %b %Y %H:%M:%S GMT')
SIGNATURE=$(printf 'POST %s\\n%s' ${quoted(path)} "$DATE" | openssl dgst -sha1 -hmac "$CLIENT_SECRET" -binary | openssl base64)
curl -sS --globoff -X POST ${quoted(url)} \\
  -H 'Content-Type: application/json; charset=utf-8' \\
  -H ${quoted(`PartnerId: ${partnerId}`)} \\
  -H "Date: $DATE" \\
  -H ${quoted(`Authorization: MWS ${clientId}:`)}"$SIGNATURE" \\
  --data-raw ${quoted(body)}
`
}
