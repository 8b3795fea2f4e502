import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/platform/config/index.ts'
import { addressGuard } from '../../src/platform/outbound/address-guard.ts'
import { HttpCallError, post } from '../../src/platform/outbound/http-call.ts'
import { DISGUISES } from './disguises.ts'

const PRODUCTION = {
  NODE_ENV: 'production',
  SECRET_KEY: 'x'.repeat(32),
  PUBLIC_URL: 'https://gate.example',
}
/** With default settings otherwise. */
const guardWith = (allow: string, settings: Record<string, string> = { NODE_ENV: 'test', DEMO: 'off' }) =>
  addressGuard(readConfig({ ...settings, PARTNER_ADDRESS_ALLOW: allow }))
const guard = guardWith('')

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
    expect(guard.refuses(address, 443)).toBe(true)
  })

  it.each([...PUBLIC, ...PUBLIC_V6])('%s may be called', (address) => {
    expect(guard.refuses(address, 443)).toBe(false)
  })

  it.each(['', 'localhost', '127.1', '0x7f000001', '8.8.8.8 ', '[2400:3200::1]', '8.8.8.8/32'])(
    '%j is refused as it is not a plain address',
    (text) => {
      expect(guard.refuses(text, 443)).toBe(true)
    },
  )

  it('of IPv4 are all refused inside IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom('::', '::ffff:', '64:ff9b::', '::ffff:0:'), (v4, prefix) => {
        expect(guard.refuses(prefix + v4, 443)).toBe(true)
      }),
    )
  })
})

describe('PARTNER_ADDRESS_ALLOW', () => {
  it('takes networks, addresses and host names', () => {
    const allowing = guardWith('127.0.0.0/8,::1,10.1.0.0/16,fd00::/8,Partner.Internal')
    const isRefused = (address: string) => allowing.refuses(address, 8443)
    const refused = ['127.0.0.1', '::1', '10.1.2.3', 'fd12::1', '::ffff:127.0.0.1'].filter(isRefused)
    expect(refused).toEqual([])
    for (const address of ['10.2.0.1', '::2', '192.168.0.1']) expect(isRefused(address)).toBe(true)
    const names = ['partner.internal', 'PARTNER.internal.', 'a.partner.internal', 'localhost']
    expect(names.map((name) => allowing.trusts(name, 8443))).toEqual([true, true, false, false])
  })

  it('allows an entry with a port on that port only', () => {
    const allowing = guardWith('127.0.0.1:3002,[::1]:3002,10.1.0.0/16:8443,[fd00::/8]:1,partner.internal:8080')
    const passes = (address: string, port: number) => !allowing.refuses(address, port)
    expect([passes('127.0.0.1', 3002), passes('127.0.0.1', 3000), passes('127.0.0.1', 80)]).toEqual([
      true,
      false,
      false,
    ])
    expect([passes('::1', 3002), passes('::1', 443), passes('10.1.2.3', 8443)]).toEqual([true, false, true])
    expect([passes('fd00::5', 1), passes('fd00::5', 2)]).toEqual([true, false])
    expect([allowing.trusts('partner.internal', 8080), allowing.trusts('partner.internal', 443)]).toEqual([true, false])
  })

  it.each([
    ['127.0.0.1', { network: { address: '127.0.0.1', bits: 32, family: 'ipv4' } }],
    ['10.0.0.0/8', { network: { address: '10.0.0.0', bits: 8, family: 'ipv4' } }],
    ['::1', { network: { address: '::1', bits: 128, family: 'ipv6' } }],
    ['[fd00::/8]:1', { network: { address: 'fd00::', bits: 8, family: 'ipv6' }, port: 1 }],
    ['localhost', { host: 'localhost' }],
    ['Partner.Internal', { host: 'partner.internal' }],
    ['a-b.example', { host: 'a-b.example' }],
    ['a.b:8443', { host: 'a.b', port: 8443 }],
  ])('accepts the entry %s', (entry, read) => {
    expect(readConfig({ PARTNER_ADDRESS_ALLOW: entry }).PARTNER_ADDRESS_ALLOW).toEqual([{ port: undefined, ...read }])
  })

  it.each([
    ...[
      '10.0.0.0/33',
      '::/129',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0',
      '127.1',
      'http://x',
      'a b',
      '*.x',
      '[::1',
      'fe80::1%eth0',
    ],
    ...[
      '10.0.0.1:0',
      '10.0.0.1:65536',
      '10.0.0.1:',
      'host:x',
      '[10.0.0.1]:80',
      '[host]:80',
      '[]',
      ':80',
      '0x7f.1',
      '::1/64:80',
    ],
  ])('stops the start with the bad entry: %j', (entry) => {
    const allowing = () => readConfig({ PARTNER_ADDRESS_ALLOW: `10.0.0.0/8,${entry},127.0.0.1` })
    expect(allowing).toThrow(`PARTNER_ADDRESS_ALLOW has "${entry}"`)
  })

  it('reports every bad entry', () => {
    expect(() => readConfig({ PARTNER_ADDRESS_ALLOW: 'http://a,10.0.0.0/8,b c' })).toThrow(
      /"http:\/\/a", .*\nPARTNER_ADDRESS_ALLOW has "b c"/,
    )
  })
})

describe('addresses of cloud metadata', () => {
  const METADATA = [
    '169.254.169.254',
    '169.254.170.2',
    '169.254.0.23',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
  ]
  const METADATA_V6 = ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fe80::a9fe:a9fe', '::ffff:169.254.169.254']

  it.each([...METADATA, ...METADATA_V6])('%s is refused, even inside an allowed network', (address) => {
    expect(guard.refuses(address, 80)).toBe(true)
    const wide = guardWith('0.0.0.0/0,::/0,169.254.0.0/16,fd00::/8,metadata.google.internal')
    expect(wide.refuses(address, 80)).toBe(true)
    expect(wide.refuses(address, 80, wide.trusts('metadata.google.internal', 80))).toBe(true)
  })

  it('may be called if they are allowed individually', () => {
    const allowing = guardWith('168.63.129.16,[fd00:ec2::254]:80')
    expect(allowing.refuses('168.63.129.16', 80)).toBe(false)
    expect([allowing.refuses('fd00:ec2::254', 80), allowing.refuses('fd00:ec2::254', 81)]).toEqual([false, true])
    expect(allowing.refuses('169.254.169.254', 80)).toBe(true)
  })
})

describe('ports', () => {
  const called = (at: ReturnType<typeof guardWith>, address = '8.8.8.8') =>
    [80, 443, 22, 8443, 6379].filter((port) => !at.refusesPort(port) && !at.refuses(address, port))

  it('in production are 80, 443 and those in PARTNER_PORTS', () => {
    expect(called(guardWith('', PRODUCTION))).toEqual([80, 443])
    expect(called(guardWith('', { ...PRODUCTION, PARTNER_PORTS: '8443' }))).toEqual([80, 443, 8443])
  })

  it('are limited for allowed addresses too, unless their entry names one', () => {
    expect(called(guardWith('10.0.0.0/8', PRODUCTION), '10.0.0.1')).toEqual([80, 443])
    expect(called(guardWith('10.0.0.0/8,10.0.0.1:6379', PRODUCTION), '10.0.0.1')).toEqual([80, 443, 6379])
    expect(called(guardWith('10.0.0.1:6379', PRODUCTION))).toEqual([80, 443])
  })

  it('are unlimited elsewhere, unless some are set', () => {
    expect(called(guard)).toEqual([80, 443, 22, 8443, 6379])
    expect(called(guardWith('', { PARTNER_PORTS: '22' }))).toEqual([80, 443, 22])
  })

  it.each(['0', '65536', 'https', '80-90', '1.5'])('stop the start: %s', (port) => {
    expect(() => readConfig({ PARTNER_PORTS: `8443,${port}` })).toThrow('PARTNER_PORTS must be ports')
  })

  it('are checked before anything is resolved or dialled', async () => {
    const strict = guardWith('', PRODUCTION)
    const urls = ['https://8.8.8.8:22/', 'https://no-such-host.invalid:22/', 'http://8.8.8.8:6379/']
    const codes = urls.map((url) =>
      post({ url, headers: {}, body: '' }, strict).catch((error: HttpCallError) => error.message),
    )
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['address (PortRefused)']))
  })
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

  it('is never reached by a name with a trailing dot, which some resolvers do not know', async () => {
    expect(['address', 'dns']).toContain(await failureOf('http://localhost.:9/x'))
  })

  it.each(['', 'partner', '/order/create', 'ftp://8.8.8.8/', 'file:///etc/passwd', 'http://', 'http://u:p@8.8.8.8/'])(
    'is refused like the invalid URL %j',
    async (url) => {
      expect(await failureOf(url)).toBe('address')
    },
  )
})
