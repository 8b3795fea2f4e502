import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { PARTNER_LIMITS } from '../../src/platform/config/call-limits.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { hashPassword } from '../../src/platform/lib/crypto/password.ts'
import { addressGuard } from '../../src/platform/outbound/address-guard.ts'
import { type HttpCallError, post } from '../../src/platform/outbound/http-call.ts'
import { hostResolver } from '../../src/platform/outbound/resolve-host.ts'
import { answerTo, closeNameServers, nameServer, record, typeOf } from './name-server.ts'

/** Host names of partners, resolved with name servers that the test runs itself. */

afterEach(closeNameServers)

const silence = () => nameServer(() => undefined)
const unusedSystem = async (): Promise<never> => {
  throw new Error('the system was asked')
}
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-hosts-'))
afterAll(() => rmSync(folder, { recursive: true }))
let hostsFiles = 0
const hostsFile = (text: string): string => {
  const path = join(folder, String(hostsFiles++))
  writeFileSync(path, text)
  return path
}
const EMPTY = hostsFile('')
const config = readConfig({ DEMO: 'off' })

describe('the address of a host', () => {
  it('comes from a name server, without blocking a thread of the system resolver', async () => {
    const server = await nameServer((query) =>
      typeOf(query) === 1 ? answerTo(query, 0, record(203, 0, 113, 7)) : answerTo(query, 0),
    )
    const resolve = hostResolver({ servers: [server], hostsFile: EMPTY, askSystem: unusedSystem })
    expect(await resolve('partner.example', false)).toEqual([{ address: '203.0.113.7', family: 4 }])
  })

  it('comes from the hosts file first, also after it has changed', async () => {
    const path = hostsFile('# a comment\n198.51.100.1  partner.example  PARTNER # and another\n::1 partner.example\n')
    const resolve = hostResolver({ servers: [await silence()], hostsFile: path, askSystem: unusedSystem })
    expect(await resolve('Partner.Example.', false)).toEqual([
      { address: '198.51.100.1', family: 4 },
      { address: '::1', family: 6 },
    ])
    expect(await resolve('partner', false)).toEqual([{ address: '198.51.100.1', family: 4 }])
    writeFileSync(path, '198.51.100.2 partner\n')
    expect(await resolve('partner', false)).toEqual([{ address: '198.51.100.2', family: 4 }])
  })

  it('is the loopback address for localhost', async () => {
    const resolve = hostResolver({ servers: [await silence()], hostsFile: EMPTY, askSystem: unusedSystem })
    expect((await resolve('localhost', false)).map(({ address }) => address)).toEqual(['127.0.0.1', '::1'])
  })

  it('comes from the system resolver if name servers know none, e.g. for search domains', async () => {
    const server = await nameServer((query) => answerTo(query, 3))
    const queries: string[] = []
    const askSystem = async (name: string) => {
      queries.push(name)
      return [{ address: '192.0.2.9', family: 4 }]
    }
    const resolve = hostResolver({ servers: [server], hostsFile: EMPTY, askSystem })
    expect(await resolve('printer', false)).toEqual([{ address: '192.0.2.9', family: 4 }])
    expect(queries).toEqual(['printer'])
  })

  it.each([
    ['NXDOMAIN', 3, 'ENOTFOUND'],
    ['SERVFAIL', 2, 'ESERVFAIL'],
    ['REFUSED', 5, 'EREFUSED'],
    ['no record', 0, 'ENODATA'],
  ])(
    'after %s is asked of the system only for names of ours: its one place is no place for strangers',
    async (_what, status, code) => {
      const server = await nameServer((query) => answerTo(query, status))
      const queries: string[] = []
      const askSystem = async (name: string) => {
        queries.push(name)
        return [{ address: '192.0.2.9', family: 4 }]
      }
      const resolve = hostResolver({ servers: [server], hostsFile: EMPTY, askSystem })
      await expect(resolve('hostile.example', false)).rejects.toMatchObject({ code })
      expect(queries).toEqual([])
      await resolve('shop.partners', true)
      await resolve('printer', false)
      expect(queries).toEqual(['shop.partners', 'printer'])
    },
  )

  it('is one of sixteen at most', async () => {
    const many = Array.from({ length: 30 }, (_, at) => record(203, 0, 113, at))
    const server = await nameServer((query) => answerTo(query, 0, ...(typeOf(query) === 1 ? many : [])))
    const resolve = hostResolver({ servers: [server], hostsFile: EMPTY, askSystem: unusedSystem })
    expect(await resolve('partner.example', false)).toHaveLength(16)
  })

  it('does not wait for the other family if a name server answers for only one', async () => {
    const server = await nameServer((query) =>
      typeOf(query) === 1 ? answerTo(query, 0, record(203, 0, 113, 7)) : undefined,
    )
    const resolve = hostResolver({ servers: [server], hostsFile: EMPTY, askSystem: unusedSystem })
    expect(await resolve('partner.example', false)).toHaveLength(1)
  })
})

describe('a name server that never answers', () => {
  it('ends the call in time, and delays neither password hashes nor the system resolver', async () => {
    const resolve = hostResolver({ servers: [await silence()], hostsFile: EMPTY, askSystem: unusedSystem })
    const order: string[] = []
    const calls = Array.from({ length: 20 }, () =>
      resolve('partner.example', false).then(
        () => order.push('resolved'),
        (error: NodeJS.ErrnoException) => order.push(String(error.code)),
      ),
    )
    await hashPassword('while twenty names are looked up').then(() => order.push('hashed'))
    await Promise.all(calls)
    expect(order[0]).toBe('hashed')
    expect(order.slice(1)).toEqual(Array(20).fill('ETIMEOUT'))
  })

  it('is distinguished from a partner that cannot be reached', async () => {
    const resolve = hostResolver({ servers: [await silence()], hostsFile: EMPTY, askSystem: unusedSystem })
    const call = { url: 'http://partner.example/', headers: {}, body: '{}' }
    const failure = await post(call, addressGuard(config, resolve), PARTNER_LIMITS).catch(
      (error: HttpCallError) => error,
    )
    expect(failure).toMatchObject({ name: 'HttpCallError', failure: 'dns', maybeReceived: false })
  })
})

describe('every address is checked before it is called', () => {
  it('even if it comes from a name server', async () => {
    const server = await nameServer((query) =>
      typeOf(query) === 1 ? answerTo(query, 0, record(127, 0, 0, 1)) : answerTo(query, 0),
    )
    const resolve = hostResolver({ servers: [server], hostsFile: EMPTY, askSystem: unusedSystem })
    const call = { url: 'http://partner.example:9/', headers: {}, body: '{}' }
    const failure = await post(call, addressGuard(config, resolve), PARTNER_LIMITS).catch(
      (error: HttpCallError) => error,
    )
    expect(failure).toMatchObject({ failure: 'address' })
  })
})
