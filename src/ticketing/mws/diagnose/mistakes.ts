const STRING_TO_SIGN = 'The string to sign is METHOD, one space, path, one line feed (0x0A), Date.'
const ONCE = 'Format the Date once, sign that text and send the same text.'
const DATE_FORM = 'The form is "Tue, 05 May 2015 06:11:34 GMT".'

/**
 * Every mistake that a diagnosis can name, and its remedy. Partners' scripts may rely on the names. Chinese texts:
 * views/locales/mistakes.zh-CN.json.
 */
export const MISTAKES = {
  // The Authorization header.
  'authorization-missing': 'The Authorization header is missing; it is "MWS clientId:signature".',
  'scheme-missing': 'The scheme is missing: the header must begin with MWS and one space.',
  'scheme-wrong': 'The scheme is misspelt: the header must begin with MWS in upper case and one space.',
  'colon-missing': 'The colon between clientId and signature is missing.',
  'authorization-white-space':
    'There is extra whitespace around clientId or signature; the form is "MWS clientId:signature".',
  'signature-missing': 'Nothing follows the colon; the signature belongs there.',
  // The ids, the Content-Type, and why a signature cannot be analysed.
  'header-doubled': 'Authorization, Date or PartnerId was sent more than once; send each exactly once.',
  'client-id-unknown': 'No partner has this clientId.',
  'partner-id-instead-of-client-id': 'The Authorization header has the PartnerId in place of the clientId.',
  'partner-id-missing': 'The PartnerId header is missing; every call carries PartnerId, Date and Authorization.',
  'partner-id-mismatch': 'The PartnerId header does not belong to this clientId.',
  'content-type-not-json': 'The Content-Type is not application/json; charset=utf-8: a notice with it is refused.',
  'partner-suspended':
    'The call is correct, but the partner is suspended: none of its calls are accepted until it is active again.',
  'signature-unrecognised':
    'The signature matches no known mistake, alone or combined. Check first that clientId and clientSecret are the ones that were issued together.',
  'diagnosis-busy':
    'The signature does not match. Too many calls are being analysed to say why; try again in a minute, or paste the call into the signature tool in the sandbox.',
  // The string to sign.
  'method-lower-case': 'The method must be signed in upper case, as POST.',
  'method-wrong': 'The signed method is not the one that was sent.',
  'method-missing': `The method was not signed. ${STRING_TO_SIGN}`,
  'space-missing': `The space between method and path is missing. ${STRING_TO_SIGN}`,
  'space-replaced': `Something other than one space was signed between method and path. ${STRING_TO_SIGN}`,
  'newline-missing': `The line feed between path and Date is missing. ${STRING_TO_SIGN}`,
  'newline-literal':
    'A backslash (or slash) and the letter n were signed instead of a line feed (0x0A); in PHP and shells "\\n" needs double quotes or $\'…\'.',
  'newline-crlf': 'A carriage return and a line feed were signed instead of one line feed (0x0A).',
  'newline-replaced': `Something other than one line feed was signed between path and Date. ${STRING_TO_SIGN}`,
  'trailing-newline': 'A line break was signed after the Date; nothing follows it (with echo use printf or echo -n).',
  // Its path.
  'full-url-signed': 'The whole URL was signed; sign only its path, without scheme, host and query.',
  'query-signed': 'The query was signed; sign only the path.',
  'path-of-another-environment':
    'The path of another environment was signed; sign the path that you call, with its prefix.',
  'path-of-another-endpoint': 'The path of another endpoint was signed; sign the path that you call.',
  'path-slash': 'The path was signed with a missing or extra slash; sign it exactly as it is sent.',
  'path-encoded': 'The path was signed percent-encoded, its slashes as %2F; sign it exactly as it is sent.',
  // The encoding of the digest.
  'hex-instead-of-base64': 'The digest was written as hex; the signature is the Base64 of its raw bytes.',
  'base64-of-hex': 'The hex text of the digest was encoded as Base64; encode its raw bytes.',
  'base64-twice': 'Base64 was applied twice.',
  base64url: 'The URL-safe Base64 alphabet (- and _) was used; the standard one has + and /, padded with =.',
  'base64-padding-missing': 'The = at the end of the Base64 text is missing.',
  'base64-last-character':
    'The last character before the = has bits set that no byte uses: the text was cut, changed or made by an encoder of your own. Send the Base64 of the 20 bytes as a library writes it.',
  'base64-line-breaks':
    'The Base64 text contains line breaks; use an encoder that adds none (Java: getEncoder, Python: b64encode).',
  'signature-url-encoded': 'The signature was URL-encoded, or its + became a space; send the Base64 as it is.',
  // The digest.
  'sha-256-used': 'HMAC-SHA256 was used; use HMAC-SHA1.',
  'sha-512-used': 'HMAC-SHA512 was used; use HMAC-SHA1.',
  'sha-224-used': 'HMAC-SHA224 was used; use HMAC-SHA1.',
  'sha-384-used': 'HMAC-SHA384 was used; use HMAC-SHA1.',
  'ripemd-160-used': 'HMAC-RIPEMD160 was used; use HMAC-SHA1.',
  'md5-used': 'HMAC-MD5 was used; use HMAC-SHA1.',
  'key-and-message-swapped':
    'Key and message are swapped: the key is the clientSecret, the message is the string to sign.',
  'hmac-missing': 'A plain hash was used; the signature is an HMAC-SHA1 with the clientSecret as its key.',
  // Its key.
  'secret-with-white-space':
    'The clientSecret was used with whitespace before or after it; trim what you read from a file or form.',
  'secret-with-prefix':
    'A label or the clientId was copied together with the clientSecret; the key is the secret alone.',
  'secret-quoted': 'The clientSecret was used with the quotation marks around it.',
  'secret-in-other-case': 'The clientSecret was changed to upper or lower case; use it as it was issued.',
  'secret-cut': 'The first or the last character of the clientSecret is missing.',
  'secret-decoded': 'The clientSecret was decoded from hex or Base64; its characters themselves are the key.',
  'secret-encoded': 'The clientSecret was encoded (Base64, hex) before use; its characters themselves are the key.',
  'client-id-as-key': 'The clientId was used as the key; the key is the clientSecret.',
  'partner-id-as-key': 'The PartnerId was used as the key; the key is the clientSecret.',
  // The signed Date.
  'date-signed-as-iso-8601': `The date was signed in ISO 8601 form but sent in another. ${ONCE}`,
  'date-signed-as-rfc-850': `The date was signed in RFC 850 form (05-May-15) but sent in another. ${ONCE}`,
  'date-signed-as-asctime': `The date was signed as asctime or Java’s Date.toString() prints it but sent in another form. ${ONCE}`,
  'date-signed-with-chinese-names': `The date was signed with Chinese names of day and month; format it with an English locale (Java: Locale.ENGLISH). ${ONCE}`,
  'date-signed-as-epoch': `The date was signed as a Unix timestamp but sent as text. ${ONCE}`,
  'date-signed-with-other-day-digits': `The day of the month was signed with one digit and sent with two, or the other way round. ${ONCE}`,
  'date-signed-in-other-case': `The date was signed and sent in different letter case. ${ONCE}`,
  'date-signed-with-other-zone': `The date was signed with UTC or +0000 at its end but sent with another zone. ${ONCE}`,
  'date-signed-in-local-time': `The date was signed in local time (UTC+8) but sent in GMT. ${ONCE}`,
  'date-sent-in-other-form': `The date was signed in the right form but sent in another, or as local time. ${ONCE}`,
  'date-computed-twice': `The date was computed twice: the signed one and the sent one differ by some seconds. ${ONCE}`,
  'date-minutes-apart': `The signed date and the sent one are up to ten minutes apart: one of them was kept from an earlier call. ${ONCE}`,
  'date-with-header-name': 'The header’s name was signed together with the Date; sign only its value.',
  'date-not-signed': 'The Date was not signed; the string to sign ends with the exact value of the Date header.',
  // The Date header itself, whatever was signed.
  'date-header-missing': `The Date header is missing. ${DATE_FORM}`,
  'date-weekday-wrong': 'The weekday in the Date does not match its day.',
  'date-impossible': 'The Date has a day or time that does not exist.',
  'date-names-not-english': `Weekday and month in the Date must be in English. ${DATE_FORM}`,
  'date-names-in-other-case': `Weekday or month in the Date has the wrong letter case. ${DATE_FORM}`,
  'date-zone-not-gmt': `The Date must be in GMT and end with GMT. ${DATE_FORM}`,
  'date-form-wrong': `The Date is not an HTTP date. ${DATE_FORM}`,
  'date-local-time-labelled-gmt': 'The Date holds local time but is labelled GMT; convert it to GMT.',
  'clock-fast': 'The Date is too far ahead of our clock; synchronise yours with NTP.',
  'clock-slow': 'The Date is too far behind our clock; synchronise yours with NTP.',
} as const
export type MistakeName = keyof typeof MISTAKES

/** What a notice with this Content-Type or body would be refused for, or is accepted with from a live partner. */
export const WARNINGS = {
  'body-too-long': 'The HTTP body is too long: a notice with it is refused.',
  'body-compressed': 'The HTTP body is compressed (Content-Encoding), which is not read: a notice with it is refused.',
  'body-not-json': 'The HTTP body is empty, cut off or not JSON in UTF-8: a notice with it is refused.',
  'body-partner-id-missing':
    'The JSON object has no partnerId: a notice without it is refused until the partner is live.',
  'body-partner-id-mismatch':
    'The partnerId in the JSON object does not belong to this clientId: a notice with it is refused.',
  'voucher-list-missing':
    'The order has one code per ticket, but its consumption notice has no voucherList: the platform then knows only how many tickets are used, and marks vouchers only when all of them must be. Until the partner is live, such a notice is refused.',
  'fields-left-out':
    'Fields of the pay notice that decide nothing (voucherPics, realNameType, code, describe) have another type than the field reference says. They are left out; the tickets are accepted.',
  'implausible-prices':
    'Prices look like mistakes: far from the median of this calendar (yuan, not cents), settlement above sale, or a day that occurs again with other prices. They are stored as received.',
  // Mistakes until the partner is live.
  'partner-id-missing': MISTAKES['partner-id-missing'],
  'query-signed': MISTAKES['query-signed'],
} as const
export type Warning = keyof typeof WARNINGS

export interface SigningMistake {
  readonly name: MistakeName
  readonly explanation: string
}

/** `detail`: a sentence about this call. */
export const mistake = (name: MistakeName, detail?: string): SigningMistake => ({
  name,
  explanation: detail === undefined ? MISTAKES[name] : `${MISTAKES[name]} ${detail}`,
})
