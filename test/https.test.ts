import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../src/platform/config/index.ts'
import { openWorld, type World } from './harness.ts'

let https: World
let http: World
beforeAll(async () => {
  const PUBLIC_URL = 'https://gate.example'
  https = await openWorld({ PUBLIC_URL, SECURITY_CONTACT: 'mailto:security@gate.example,https://gate.example/report' })
  http = await openWorld()
})
afterAll(async () => {
  await https.close()
  await http.close()
})

const REQUESTS = [
  { url: '/', method: 'GET' },
  { url: '/nothing', method: 'GET' },
  { url: '/healthz', method: 'GET' },
  { url: '/oauth/v2/api/resource/get_userinfo?access_token=x', method: 'POST' },
  { url: '/mtp/api/order/consume/notice', method: 'POST' },
  { url: '/admin/v1/apps', method: 'GET' },
] as const

describe('Strict-Transport-Security', () => {
  it.each(REQUESTS)('is sent with https and not with http: $method $url', async (request) => {
    const [secure, plain] = [await https.app.inject(request), await http.app.inject(request)]
    expect(secure.headers['strict-transport-security']).toBe('max-age=31536000')
    expect(plain.headers['strict-transport-security']).toBeUndefined()
    // All other headers are the same, so the list of area A stays unchanged.
    const names = ({ headers }: typeof plain) =>
      Object.keys(headers).filter((name) => name !== 'strict-transport-security')
    expect(names(secure)).toEqual(names(plain))
  })
})

describe('/.well-known/security.txt', () => {
  it('names the contacts and is valid for months', async () => {
    const { statusCode, headers, body } = await https.app.inject('/.well-known/security.txt')
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(body).toBe(
      'Contact: mailto:security@gate.example\nContact: https://gate.example/report\nExpires: 2026-11-02T00:00:00.000Z\n' +
        'Preferred-Languages: en, zh\nCanonical: https://gate.example/.well-known/security.txt\n',
    )
  })

  it('does not exist without a contact', async () => {
    expect((await http.app.inject('/.well-known/security.txt')).statusCode).toBe(404)
  })

  it.each(['security@gate.example', 'http://gate.example', 'mailto:', 'javascript:alert(1)', 'mailto:a@b\nContact: x'])(
    'rejects the contact %j',
    (SECURITY_CONTACT) => {
      expect(() => readConfig({ SECURITY_CONTACT })).toThrow('SECURITY_CONTACT must be mailto: or https:')
    },
  )
})
