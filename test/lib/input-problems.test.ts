import { describe, expect, it } from 'vitest'
import { registerApp } from '../../src/authorization/teams/index.ts'
import { ALL_ACTIONS, fieldsOf } from '../../src/operations/actions/index.ts'
import { InvalidInput, parseInput } from '../../src/platform/lib/json/input.ts'
import { LocalizedText } from '../../src/platform/lib/localized-text.ts'
import type { Problem } from '../../src/platform/lib/web/rescode.ts'

/** The English problem texts of the admin API and the command line. Callers may rely on these sentences. */

const WEB = [
  'http://a b',
  'ftp://a',
  'http://u:p@h/',
  'http://h/#f',
  'http://h/?q=1',
  'http://h/?code=1',
  'http://h/?state=1',
  'http://h/x',
]
const HOSTS = 'a b,http://x,u@x,x/y,%41,*.*.x,:80,*.x:1,*.1.2.3.4,*.x,*.co.uk,x:99999,x..y'.split(',')
const WRONG: readonly unknown[] = [
  ...[
    undefined,
    null,
    true,
    0,
    -1,
    1.5,
    10 ** 12,
    '',
    'x',
    'a b',
    'ab\u202ec',
    'a\u200bc',
    'a\0b',
    'a\x01b',
    '\ud800',
    '2026-13-01',
    '{',
    '[1]',
  ],
  ...[[], [''], ['x'], Array(200).fill('x'), Array(2_000).fill('x'), [{}], {}, { x: 1 }, { x: '' }, 'x'.repeat(50_000)],
  ...[...WEB, ...HOSTS].flatMap((text) => [text, [text], { 'order-create': text }]),
  ...[['none', 'client_secret_basic'], { keys: [{}] }],
]

const problemsOf = (input: (typeof ALL_ACTIONS)[number]['input'], given: unknown): readonly Problem[] => {
  try {
    parseInput(input, given)
    return []
  } catch (error) {
    if (error instanceof InvalidInput) return error.problems
    throw error
  }
}

const problems = [...ALL_ACTIONS, { id: 'register', input: registerApp.input }].flatMap(({ input }) => [
  ...[...WRONG, { unknown: 1 }].flatMap((given) => problemsOf(input, given)),
  ...fieldsOf({ input }).flatMap(({ name }) => WRONG.flatMap((value) => problemsOf(input, { [name]: value }))),
])

const SENTENCES = [
  'has a port that is not 1 to 65535',
  'is not a known field',
  'is not a valid host name',
  'is not valid',
  'is required',
  'is required where there are no redirect URIs',
  'is required, or app_key',
  'may have one "*" only, at the start and followed by a dot: *.example.com',
  'must be 0 or 1 or 2',
  'must be 1 or 2 or 3',
  'must be 1 to 64 letters, digits or . _ @ -, the first one a letter or digit',
  'must be 16 printable ASCII characters, or 32 hex digits',
  'must be 5 to 20 digits, with or without a leading +',
  'must be 7 or 30 or 60 or 90',
  'must be RS256 or ES256',
  'must be USER_INFO or PHONE_NUMBER',
  'must be a 64-bit integer, as a number or string',
  'must be a JSON Web Key Set of public keys',
  'must be a JSON object',
  'must be a UUID',
  'must be a code, such as 300',
  'must be a date, yyyy-MM-dd',
  'must be a day (UTC), as 2026-11-23, or a moment, as 2026-11-23T08:00:00Z',
  'must be a head as an earlier verification has printed it',
  'must be a host such as example.com; put an IPv6 address in brackets: [::1]',
  'must be a list',
  'must be a number',
  'must be a price in yuan with at most two decimals',
  'must be a request id, as X-Request-Id has it',
  'must be a string',
  'must be a whole number',
  'must be accepted or refused',
  'must be active or blocked',
  'must be active or suspended',
  'must be an ISO 8601 time',
  'must be an absolute http:// or https:// URL',
  'must be an email address: someone@example.com',
  'must be an origin such as https://app.example.com',
  'must be at least 0',
  'must be at least 1',
  'must be at most 1000',
  'must be at most 2147483647',
  'must be at most 2592000',
  'must be at most 3650',
  'must be at most 36500',
  'must be client_secret_basic or client_secret_post or private_key_jwt or none',
  'must be creating or create_unknown or create_failed or created or paying or pay_unknown or pay_failed or paid or consumed or refunded or closing or closed',
  'must be csv or ndjson',
  'must be deal-change or consume or refund or pay or reschedule or level-prices',
  'must be failed or ok',
  'must be fixed or rotating',
  'must be from 0 to 99999999.99',
  'must be open or returned or approved or refused or withdrawn',
  'must be owner or developer',
  'must be pending or approved',
  'must be pending or approved or suspended',
  'must be product or business',
  'must be record',
  'must be sandbox or live',
  'must be server or page or native',
  'must be the host alone, without a scheme: example.com',
  'must be the host alone, without a user name',
  'must be the host alone, without path, query or fragment',
  'must be the id of a grant',
  'must be the id of a job',
  'must be the id of a session',
  'must be the id of a token',
  'must be true or false',
  'must be unknown or on_sale or off_sale',
  'must be viewer or support or editor or admin',
  'must begin with https://, except for loopback addresses',
  'must have 1 to 64 visible ASCII characters, without whitespace or colons',
  'must have 3 to 64 characters of A-Z a-z 0-9 _ - and not begin with "-"',
  'must have at least 1 character',
  'must have at least 12 characters',
  'must have at least 12 entries',
  'must have at least 3 characters',
  'must have at least 3 entries',
  'must have at least 8 characters',
  'must have at least 8 entries',
  'must have at least one entry',
  'must have at most 100 characters',
  'must have at most 100 entries',
  'must have at most 1000 entries',
  'must have at most 1024 characters',
  'must have at most 1024 entries',
  'must have at most 128 characters',
  'must have at most 128 entries',
  'must have at most 200 characters',
  'must have at most 200 entries',
  'must have at most 2048 characters',
  'must have at most 21 characters',
  'must have at most 21 entries',
  'must have at most 254 characters',
  'must have at most 254 entries',
  'must have at most 255 characters',
  'must have at most 255 entries',
  'must have at most 256 characters',
  'must have at most 256 entries',
  'must have at most 300 characters',
  'must have at most 300 entries',
  'must have at most 500 characters',
  'must have at most 500 entries',
  'must have at most 60 characters',
  'must have at most 60 entries',
  'must have at most 64 characters',
  'must have at most 64 entries',
  'must not be empty',
  'must not be percent-encoded',
  'must not contain U+0000',
  'must not contain a user name or password',
  'must not contain characters that nobody sees',
  'must not contain control characters',
  'must not contain control characters or characters that nobody sees',
  'must not contain control characters or marks of text direction',
  'must not contain whitespace or control characters',
  'must not contain whitespace, backslashes or control characters',
  'must not have a fragment',
  'must not have a query',
  'must not have code, state, iss, error or error_description in its query',
  'must not have state in its query',
  'with "*." cannot have a port; it covers every port',
  'with "*." must be a domain, not an IP address',
  'with "*." must be more than a public suffix such as co.uk or github.io, below which anybody can register hosts',
  'with "*." needs at least two labels after it: *.example.com',
  'with none cannot have another entry',
]

describe('the problems of input from operators and developers', () => {
  it('are localized texts with ids', () => {
    expect(problems.length).toBeGreaterThan(10_000)
    expect(problems.filter(({ problem }) => !(problem instanceof LocalizedText))).toEqual([])
  })

  it('have only known sentences', () => {
    expect([...new Set(problems.map(({ problem }) => String(problem)))].sort()).toEqual(SENTENCES)
  })
})
