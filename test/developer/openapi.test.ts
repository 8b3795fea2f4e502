import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/authorization/developer/reference.ts'
import { OAUTH_FAILURES } from '../../src/authorization/oauth/failures.ts'
import { OIDC_FAILURES } from '../../src/authorization/oidc/failures.ts'
import { RESOURCE_FAILURES } from '../../src/authorization/resource/failures.ts'
import { oauthErrorOf } from '../../src/platform/lib/failure.ts'
import { RESCODES } from '../../src/platform/lib/web/rescode.ts'
import { openWorld, type World } from '../harness.ts'
import { documentOf, type Json, operationsOf, origins } from './document.ts'

/** The OpenAPI document of area A and of the standard dialect, compared with the running service. */

let world: World
const documents = new Map<string, Json>()
beforeAll(async () => {
  world = await openWorld()
  for (const [at, origin] of (await origins()).entries()) {
    for (const language of ['en', 'zh-CN']) documents.set(`${at} ${language}`, await documentOf(origin, language))
  }
})
afterAll(() => world.close())

/** Forms of our own pages, which apps do not call. */
const OF_PAGES = ['POST /oauth/v2/consent', 'POST /oauth2/consent', 'POST /oauth2/logout/confirm']

describe('the OpenAPI document', () => {
  it.each(['0 en', '0 zh-CN', '1 en', '1 zh-CN'])('is valid OpenAPI 3.1: %s', async (name) => {
    const validator = new Validator()
    expect(await validator.validate(documents.get(name))).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  it('is in the language of the reader', () => {
    expect(documents.get('0 en').info.title).toBe('API reference')
    expect(documents.get('0 zh-CN').info.title).toMatch(/\p{Script=Han}/u)
  })

  it('has an operation for each route that apps call, and no other', () => {
    const listed = operationsOf(documents.get('0 en')).map(([name]) => name)
    expect(new Set(listed).size).toBe(listed.length)
    expect(routes().filter((route) => !OF_PAGES.includes(route))).toEqual(listed.toSorted())
  })

  it('has unique operation ids', () => {
    const ids = OPERATIONS.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

/** The app's routes under the prefixes of both dialects. */
function routes(): string[] {
  const PREFIXES = /^\/(oauth2?|\.well-known\/o)/
  const found: string[] = []
  const walk = world.app.printRoutes({ commonPrefix: false })
  const stack: string[] = []
  for (const line of walk.split('\n')) {
    const [, indent = '', segment = '', methods = ''] = /^([│ ]*(?:[├└]── ))(\S+)(?: \(([^)]*)\))?/.exec(line) ?? []
    if (!segment) continue
    const depth = indent.length / 4 - 1
    stack.splice(depth, stack.length, segment)
    const path = stack.join('')
    if (PREFIXES.test(path)) for (const method of methods.split(', ').filter(Boolean)) found.push(`${method} ${path}`)
  }
  return found.filter((route) => !/^(OPTIONS|HEAD) /.test(route)).sort()
}

describe('its errors', () => {
  /** Every rescode or `error` with which the operation can answer. */
  const codesOf = (operation: Json): string[] =>
    Object.entries<Json>(operation.responses).flatMap(([status, response]) => {
      if (status === '303')
        return [...String(response.description).matchAll(/`([a-z_]+)`/g)].map(([, code]) => `${code}`)
      const examples: Json[] = Object.values(response.content?.['application/json']?.examples ?? {})
      return examples.map(({ value }) => String(value.error ?? value.rescode ?? ''))
    })

  it('include every failure of the tables that an app can meet', () => {
    const documented = new Set(
      OPERATIONS.flatMap(({ failures, redirected = {} }) => [...Object.keys(failures), ...Object.keys(redirected)]),
    )
    const tables = Object.keys({ ...OAUTH_FAILURES, ...RESOURCE_FAILURES, ...OIDC_FAILURES })
    // Failures of our own forms, of operators, and of requests that match no operation.
    const notForApps = tables.filter((name) =>
      /^form_|^(grant_unknown|signing_key_unknown|method_not_allowed)$/.test(name),
    )
    expect([...documented, ...notForApps].sort()).toEqual(tables.toSorted())
  })

  it('in the contract dialect are exactly those of the contract', () => {
    const ofContract = OPERATIONS.filter(({ dialect }) => dialect === 'contract')
    const documented = new Set(ofContract.flatMap(({ failures }) => Object.keys(failures)))
    // Failures of forms, operators, a wrong method, a scope that only the standard dialect accepts, and one that no
    // answer reports.
    const others = /^form_|^(grant_unknown|method_not_allowed|scope_beyond_grant|user_refused)$/
    const names = Object.keys({ ...OAUTH_FAILURES, ...RESOURCE_FAILURES }).filter((name) => !others.test(name))
    expect([...documented].sort()).toEqual(names.sort())
  })

  it('in the contract dialect are rescodes of the table, with its statuses when native statuses are on', () => {
    for (const [name, operation] of operationsOf(documents.get('1 en'))) {
      if (operation.tags[0] !== 'contract') continue
      for (const [status, response] of Object.entries<Json>(operation.responses)) {
        const examples: Json[] = Object.values(response.content?.['application/json']?.examples ?? {})
        for (const { value } of examples.filter(({ value }) => value.rescode)) {
          const { status: native } = RESCODES[value.rescode as keyof typeof RESCODES]
          const own = value.rescode === 20013 ? [400, 500] : value.rescode === 20003 ? [403, 429] : [native]
          expect(own, `${name} ${value.rescode}`).toContain(Number(status))
        }
      }
    }
  })

  it('in the standard dialect are errors of the tables', () => {
    for (const { id, dialect, failures, redirected = {} } of OPERATIONS) {
      if (dialect !== 'standard') continue
      const [, operation] = operationsOf(documents.get('0 en')).find(([, one]) => one.operationId === id) ?? []
      for (const [name, row] of Object.entries({ ...failures, ...redirected })) {
        const { error } = oauthErrorOf({ row, facts: {} } as Parameters<typeof oauthErrorOf>[0])
        expect(row.standard, `${id}: ${name}`).toBeDefined()
        expect(codesOf(operation), `${id}: ${name}`).toContain(error)
      }
    }
  })
})
