import { mistakesIn } from './recipe.ts'

const HEX = /^(?:[0-9a-f]{2})+$/i
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

const decodings = (secret: string): Buffer[] => [
  ...(HEX.test(secret) ? [Buffer.from(secret, 'hex')] : []),
  ...(BASE64.test(secret) ? [Buffer.from(secret, 'base64')] : []),
]

const LABELS = ['clientSecret=', 'clientSecret:', 'clientSecret: ', 'secret=', 'secret:', 'secret: ']

export const keyRecipes = mistakesIn('key', [
  {
    name: 'secret-with-white-space',
    explanation:
      'The clientSecret was used with whitespace before or after it; trim what you read from a file or form.',
    how: ({ secret }) => [
      ...['\n', '\r\n', ' ', '\t'].map((space) => secret + space),
      ...[' ', '\ufeff'].map((space) => space + secret),
      ` ${secret} `,
    ],
  },
  {
    name: 'secret-with-prefix',
    explanation: 'A label or the clientId was copied together with the clientSecret; the key is the secret alone.',
    how: ({ secret, clientId }) => [...LABELS, `${clientId}:`].map((label) => label + secret),
  },
  {
    name: 'secret-quoted',
    explanation: 'The clientSecret was used with the quotation marks around it.',
    how: ({ secret }) => [`"${secret}"`, `'${secret}'`],
  },
  {
    name: 'secret-in-other-case',
    explanation: 'The clientSecret was changed to upper or lower case; use it as it was issued.',
    how: ({ secret }) => [secret.toUpperCase(), secret.toLowerCase()],
  },
  {
    name: 'secret-cut',
    explanation: 'The first or the last character of the clientSecret is missing.',
    how: ({ secret }) => [secret.slice(0, -1), secret.slice(1)],
  },
  {
    name: 'secret-decoded',
    explanation: 'The clientSecret was decoded from hex or Base64; its characters themselves are the key.',
    how: ({ secret }) => decodings(secret),
  },
  {
    name: 'secret-encoded',
    explanation: 'The clientSecret was encoded (Base64, hex) before use; its characters themselves are the key.',
    how: ({ secret }) => [Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')],
  },
  {
    name: 'client-id-as-key',
    explanation: 'The clientId was used as the key; the key is the clientSecret.',
    how: ({ clientId }) => [clientId],
  },
  {
    name: 'partner-id-as-key',
    explanation: 'The PartnerId was used as the key; the key is the clientSecret.',
    how: ({ partnerId }) => [partnerId],
  },
])
