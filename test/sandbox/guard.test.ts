import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pathBelow } from '../../src/platform/lib/web/return-to.ts'
import { partnerOf, signedInOnly } from '../../src/sandbox/portal/guard.ts'
import { formsOf, visibleText } from '../acceptance/form.ts'
import { openWorld, type World } from '../harness.ts'
import { get, newSandboxPartner, post, sessionOf } from './partners.ts'

/** The guard in front of routes that are nested as deeply as those of a test run. */

let world: World
const app: FastifyInstance = Fastify()
beforeAll(async () => {
  world = await openWorld()
  await app.register(cookie)
  app.decorateRequest('partner', null)
  app.addHook('onRequest', signedInOnly(world.deps))
  app.get('/sandbox', async (request) => partnerOf(request).name)
  app.get('/sandbox/run/:runId', async (request) => partnerOf(request).clientId)
  app.post('/sandbox/run/:runId/steps/:step/start', async (request) => String(partnerOf(request).partnerId))
  app.post('/sandbox/nowhere/start', async () => 'done')
})
afterAll(async () => {
  await app.close()
  await world.close()
})

const leadsTo = async (method: 'GET' | 'POST', url: string, headers: Record<string, string> = {}) => {
  const answer = await app.inject({ method, url, headers })
  const location = new URL(String(answer.headers.location), 'http://localhost')
  const { pathname, searchParams } = location
  return [answer.statusCode, pathname, searchParams.get('return_to'), searchParams.get('ended')]
}

describe('the guard', () => {
  it('leads from a form whose session has ended through sign-in to the page of the form', async () => {
    const start = '/sandbox/run/0b7c%20x/steps/order-create/start?again=1'
    expect(await leadsTo('POST', start)).toEqual([303, '/sandbox/sign-in', '/sandbox/run/0b7c%20x#unsent', '1'])
    expect(await leadsTo('POST', '/sandbox/nowhere/start')).toEqual([303, '/sandbox/sign-in', '/sandbox#unsent', '1'])
  })

  it('leads from a page through sign-in back to it, and mentions an ended session only if there was one', async () => {
    const page = '/sandbox/run/7?tab=log'
    expect(await leadsTo('GET', page)).toEqual([302, '/sandbox/sign-in', page, null])
    const headers = { cookie: 'gatehouse_sandbox=gone' }
    expect(await leadsTo('GET', page, headers)).toEqual([302, '/sandbox/sign-in', page, '1'])
  })

  it('passes the partner to the route', async () => {
    const partner = await newSandboxPartner(world)
    const headers = { cookie: await sessionOf(world, partner) }
    const answer = await app.inject({ method: 'POST', url: '/sandbox/run/7/steps/poi/start', headers })
    expect(answer.body).toBe(String(partner.partner_id))
  })

  it('refuses a form from a page that was opened as another partner', async () => {
    const [one, other] = [await newSandboxPartner(world), await newSandboxPartner(world)]
    const [session, another] = [await sessionOf(world, one), await sessionOf(world, other)]
    const forms = formsOf((await get(world, '/sandbox/functions', session)).body)
    const form = forms.find(({ action }) => action === '/sandbox/functions')
    if (!form) throw new Error(`no form: ${forms.map(({ action }) => action)}`)
    const sent = (cookie: string) => post(world, form.action, form.fields, { cookie })
    const refused = await sent(another)
    expect([refused.statusCode, visibleText(refused.body)]).toEqual([400, expect.stringContaining('another account')])
    expect(visibleText((await sent(session)).body)).not.toContain('another account')
  })

  it('is required on every route that uses partnerOf', () => {
    expect(() => partnerOf({ partner: null } as Parameters<typeof partnerOf>[0])).toThrow(
      'not behind the sandbox session',
    )
  })
})

describe('the page after sign-in', () => {
  it.each([
    ['/sandbox', '/sandbox'],
    ['/sandbox/run?x=1#log', '/sandbox/run?x=1#log'],
    ['/sandboxes', '/sandbox'],
    ['/sandbox/../oauth', '/sandbox'],
    ['https://gate.example/sandbox/run', '/sandbox'],
    ['//evil.example/sandbox/', '/sandbox'],
    [undefined, '/sandbox'],
  ])('%s → %s', (requested, path) => expect(pathBelow('/sandbox', requested, 'https://gate.example')).toBe(path))
})
