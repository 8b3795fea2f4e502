import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressGuard, isAllowEntry } from '../../src/ticketing/address-guard.ts'
import { HttpCallError, post } from '../../src/ticketing/http-call.ts'
import { DISGUISES } from './disguises.ts'

const guard = addressGuard([])

const PRIVATE = [
  ...[
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
  ],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.1.1'],
  ...['198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1'],
  ...['255.255.255.255', '::', '::1', '::7f00:1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:8.8.8.8'],
  ...[
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::808:808',
    '64:ff9b:1::a00:1',
    '100::1',
    '2001::1',
    '2001:0:7f00:1::',
  ],
  ...['2001:2::1', '2001:10::1', '2001:20::1', '2001:db8::1', '2002:7f00:1::1', '2002:a00:1::', '3fff::1', '5f00::1'],
  ...['fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1', 'ff02::1', 'ff0e::1'],
]
const PUBLIC = ['8.8.8.8', '1.1.1.1', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1', '192.167.1.1']
const PUBLIC_V6 = ['2001:4860:4860::8888', '2400:3200::1', '2606:4700:4700::1111', '2a00:1450:4001::1', '240e::1']

describe('addresses', () => {
  it.each(PRIVATE)('%s is refused', (address) => {
    expect(guard.refuses(address)).toBe(true)
  })

  it.each([...PUBLIC, ...PUBLIC_V6])('%s may be called', (address) => {
    expect(guard.refuses(address)).toBe(false)
  })

  it.each(['', 'localhost', '127.1', '0x7f000001', '8.8.8.8 ', '[2400:3200::1]', '8.8.8.8/32'])(
    '%j is no plain address, so refused',
    (text) => {
      expect(guard.refuses(text)).toBe(true)
    },
  )

  it('of IPv4 are all refused inside IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom('::', '::ffff:', '64:ff9b::', '::ffff:0:'), (v4, prefix) => {
        expect(guard.refuses(prefix + v4)).toBe(true)
      }),
    )
  })
})

describe('the allow list', () => {
  it('takes networks, addresses and host names', () => {
    const allowing = addressGuard(['127.0.0.0/8', '::1', '10.1.0.0/16', 'fd00::/8', 'Partner.Internal'])
    const refused = ['127.0.0.1', '::1', '10.1.2.3', 'fd12::1', '::ffff:127.0.0.1'].filter(allowing.refuses)
    expect(refused).toEqual([])
    for (const address of ['10.2.0.1', '::2', '192.168.0.1']) expect(allowing.refuses(address)).toBe(true)
    expect(['partner.internal', 'PARTNER.internal.', 'a.partner.internal', 'localhost'].map(allowing.trusts)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  it.each(['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', 'localhost', 'partner.internal', 'a-b.example'])(
    'can be read: %s',
    (entry) => expect(isAllowEntry(entry)).toBe(true),
  )

  it.each([
    '',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0',
    '127.1',
    'http://x',
    'a b',
    '*.x',
    '[::1]',
  ])('cannot be read: %j', (entry) => expect(isAllowEntry(entry)).toBe(false))
})

const failureOf = (url: string) =>
  post({ url, headers: {}, body: '{}' }, guard).then(
    () => 'answered',
    (error: unknown) => (error instanceof HttpCallError ? error.failure : String(error)),
  )

describe('a URL to a private address', () => {
  it('is refused in every disguise', async () => {
    for (const host of DISGUISES) {
      for (const scheme of ['http', 'https']) expect(await failureOf(`${scheme}://${host}:9/x`), host).toBe('address')
    }
    process.stdout.write(`address forms tried: ${PRIVATE.length} addresses, ${DISGUISES.length} disguised hosts\n`)
  })

  it('is never reached under a name with a dot at its end, which some resolvers do not know', async () => {
    expect(['address', 'dns']).toContain(await failureOf('http://localhost.:9/x'))
  })

  it.each(['', 'partner', '/order/create', 'ftp://8.8.8.8/', 'file:///etc/passwd', 'http://', 'http://u:p@8.8.8.8/'])(
    'nor is %j called',
    async (url) => {
      expect(await failureOf(url)).toBe('address')
    },
  )
})
