import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refuseForeignForms } from '../../../src/platform/lib/web/forms.ts'

const app = Fastify()
beforeAll(() => {
  app.addHook('onRequest', refuseForeignForms('https://gate.example/'))
  app.setErrorHandler((error, _request, reply) => reply.code(403).send({ message: (error as Error).message }))
  app.all('/', async () => 'ok')
})
afterAll(() => app.close())

describe('a form', () => {
  it.each([
    [{}, 200],
    [{ origin: 'https://gate.example' }, 200],
    [{ origin: 'null' }, 403], // what any sandboxed frame can send
    [{ origin: 'https://gate.example:8443' }, 403],
    [{ origin: 'http://gate.example' }, 403],
    [{ origin: 'https://gate.example.evil.example' }, 403],
    [{ origin: '' }, 403],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://gate.example' }, 403],
    [{ 'sec-fetch-site': 'nonsense' }, 403],
    // The browser reached us under another name than PUBLIC_URL (127.0.0.1, a free port); no page can forge this header.
    [{ 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:4000' }, 200],
  ])('posted with %j is answered %i', async (headers, status) => {
    expect((await app.inject({ method: 'POST', url: '/', headers })).statusCode).toBe(status)
  })

  it('is the only request that is checked: a link from elsewhere works', async () => {
    expect((await app.inject({ url: '/', headers: { 'sec-fetch-site': 'cross-site' } })).statusCode).toBe(200)
  })
})
