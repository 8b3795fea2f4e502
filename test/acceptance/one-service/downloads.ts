import { Validator } from '@seriousme/openapi-schema-validator'
import bruLang from '@usebruno/lang'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Postman, type Ran, runBruno, runPostman, unzipped, type Variables } from '../../sandbox/collections.ts'
import { type System, sharedSystem } from '../system.ts'

/**
 * The downloads of the field reference, used as a seller's tools would, with the built service and the demo partner.
 */
let system: System
let variables: Variables
beforeAll(async () => {
  system = await sharedSystem()
  const [partner] = await system.query('select base_url from partner where partner_id = 7001')
  variables = {
    ...{ baseUrl: system.origin, partnerUrl: String(partner?.base_url), clientId: 'demo-partner', partnerId: '7001' },
    clientSecret: 'demo-partner-secret-local-use-only',
  }
})

const download = (name: string, language = 'en') =>
  fetch(`${system.origin}/sandbox/docs/${name}`, { headers: { 'Accept-Language': language } })

// biome-ignore lint/suspicious/noExplicitAny: documents of a format that others define
type Json = any
const json = async (name: string, language?: string): Promise<Json> => (await download(name, language)).json()

const LANGUAGES = ['en', 'zh-CN']
const OPENAPI = ['openapi-notices.json', 'openapi-interfaces.json']

describe('each download', () => {
  it.each([...OPENAPI, 'schemas.json', 'postman.json', 'bruno.zip'])('%s is public and linked', async (name) => {
    const response = await download(name)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="gatehouse-${name}"`)
    expect(response.headers.get('content-type')).toMatch(/^application\/(zip$|json;)/)
    const page = await (await fetch(`${system.origin}/sandbox/docs`, { headers: { Accept: 'text/html' } })).text()
    expect(page).toContain(`href="/sandbox/docs/${name}"`)
  })

  it('is in the language of the reader', async () => {
    expect((await json('openapi-notices.json', 'zh-CN')).info.title).toMatch(/\p{Script=Han}/u)
    expect((await json('openapi-notices.json')).info.title).toBe('Notices that you send')
  })
})

/** Compiles a schema of a document by its name. */
function compiler(document: Json, place: '$defs' | 'components/schemas') {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(document, 'document')
  return (name: string) => ajv.compile({ $ref: `document#/${place}/${name}` })
}

const nameIn = (ref: string): string => ref.split('/').at(-1) ?? ''

describe.each(LANGUAGES)('OpenAPI (%s)', (language) => {
  it.each(OPENAPI)('%s is valid 3.1', async (name) => {
    const validator = new Validator()
    const result = await validator.validate(await json(name, language))
    expect(result).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  it.each([
    ['openapi-notices.json', 6],
    ['openapi-interfaces.json', 14],
  ])('every example in %s matches its schema', async (name, operations) => {
    const document = await json(name, language)
    const compile = compiler(document, 'components/schemas')
    const posts: Json[] = Object.values(document.paths as Json).map((path: Json) => path.post)
    expect(posts).toHaveLength(operations)
    for (const { operationId, requestBody, responses } of posts) {
      for (const message of [requestBody, responses[200]]) {
        const { schema, examples } = message.content['application/json']
        const fits = compile(nameIn(schema.$ref))
        for (const [kind, { value }] of Object.entries<Json>(examples)) {
          expect(fits(value) ? [] : fits.errors, `${operationId} ${kind}`).toEqual([])
        }
      }
      expect(Object.keys(responses[200].content['application/json'].examples).length).toBeGreaterThan(1)
    }
  })

  it.each(OPENAPI)(
    '%s has enums of one type and anyOf of named schemas only, as code generators need',
    async (name) => {
      const { schemas } = (await json(name, language)).components
      const parts: Json[] = []
      JSON.stringify(schemas, (_name, part) => {
        if (typeof part === 'object') parts.push(part)
        return part
      })
      const mixed = parts.filter(
        (part) => Array.isArray(part?.enum) && new Set(part.enum.map((one: unknown) => typeof one)).size > 1,
      )
      expect(mixed).toEqual([])
      const choices = Object.values<Json>(schemas).filter(({ anyOf }) => anyOf)
      expect(choices.flatMap(({ anyOf }) => anyOf).filter(({ $ref }: Json) => !$ref)).toEqual([])
    },
  )

  it('keeps 64-bit ids of its examples exact', async () => {
    expect(await (await download('openapi-notices.json', language)).text()).toContain('"orderId": 9007199254740993')
  })
})

describe('the JSON Schemas', () => {
  it.each<[name: string, change: (message: Json) => void]>([
    ['ConsumeNotice', ({ body }) => delete body.quantity],
    ['ConsumeNotice', ({ body }) => Object.assign(body.voucherList[0], { status: 7 })],
    ['ConsumeNotice', ({ body }) => Object.assign(body, { useStartDate: '2026-02-30' })],
    ['RefundNotice', (message) => Object.assign(message, { code: 602 })],
    ['ProductPullResponse', ({ body }) => delete body[0].stock],
    ['ProductPullResponse', ({ body }) => Object.assign(body[0], { mtPrice: -1 })],
    ['ProductPullResponse', ({ body }) => Object.assign(body[0], { returnVoucher: false, voucherText: undefined })],
    ['ProductPullRequest', ({ body }) => delete body.pageSize],
    ['OrderPayResponse', ({ body }) => delete body.voucherType],
    ['OrderQueryResponse', ({ body }) => Object.assign(body, { orderStatus: 1 })],
    ['LevelPricesNotice', (message) => Object.assign(message, { body: Array(41).fill(message.body[0]) })],
    ['PriceCalendarResponse', ({ body }) => Object.assign(body[0], { settlementPrice: '1.234' })],
  ])('refuse a wrong %s', async (name, change) => {
    const fits = compiler(await json('schemas.json'), '$defs')(name)
    const documents = [await json('openapi-notices.json'), await json('openapi-interfaces.json')]
    const messages: Json[] = documents.flatMap(({ paths }) =>
      Object.values<Json>(paths).flatMap(({ post }) => [post.requestBody, post.responses[200]]),
    )
    const { content } = messages.find((message) => nameIn(message.content['application/json'].schema.$ref) === name)
    const example = content['application/json'].examples.success.value
    expect(fits(example)).toBe(true)
    change(example)
    expect(fits(JSON.parse(JSON.stringify(example)))).toBe(false)
  })

  it('require fields only in answers that need them', async () => {
    const fits = compiler(await json('schemas.json'), '$defs')('OrderPayResponse')
    const envelope = { describe: 'success', partnerId: '7001' }
    expect(fits({ ...envelope, code: 200, body: { asyReturnVoucher: true } })).toBe(true)
    expect(fits({ ...envelope, code: 598 })).toBe(true)
  })
})

/** Expects every test of every request to have passed. */
function expectGreen(ran: readonly Ran[]): void {
  expect(ran).toHaveLength(21)
  for (const { name, passed } of ran) {
    expect(passed, name).toEqual(['HTTP status 200', 'the signature is accepted'])
  }
  const codes = Object.fromEntries(ran.map(({ name, answer }) => [name, answer.code]))
  expect(codes).toMatchObject({
    'Signature tool': 200,
    'Product change notice': 200,
    'Product pull': 200,
    Heartbeat: 200,
  })
  // Its order does not exist, which is checked only after the signature and the fields.
  const consumption = ran.find(({ name }) => name === 'Consumption notice')
  expect(consumption?.answer.describe).toBe('order 9007199254740993 does not exist')
}

describe('the Postman collection', () => {
  const collection = (): Promise<Postman> => json('postman.json')

  it('signs each request by itself', async () => {
    const postman = await collection()
    expect(postman.info.schema).toContain('/v2.1.0/')
    const ran: Ran[] = []
    for (const { item } of postman.item) for (const one of item) ran.push(await runPostman(postman, one, variables))
    expectGreen(ran)
  })

  it('has every variable, with our address filled in and the credentials empty', async () => {
    const { variable } = await collection()
    expect(Object.fromEntries(variable.map(({ key, value }) => [key, value]))).toEqual({
      ...{ baseUrl: system.origin, partnerUrl: 'http://localhost:8080', clientId: '', partnerId: '', clientSecret: '' },
    })
  })

  it('notices a wrong secret', async () => {
    const postman = await collection()
    const [first] = postman.item[0]?.item ?? []
    if (!first) throw new Error('no request')
    await expect(runPostman(postman, first, { ...variables, clientSecret: 'wrong' })).rejects.toThrow('BA verification')
  })
})

describe('the Bruno collection', () => {
  it.each(LANGUAGES)('signs each request by itself (%s)', async (language) => {
    const files = unzipped(Buffer.from(await (await download('bruno.zip', language)).arrayBuffer()))
    const { script } = bruLang.collectionBruToJson(files.get('Gatehouse/collection.bru') ?? '')
    expect(JSON.parse(files.get('Gatehouse/bruno.json') ?? '')).toMatchObject({ version: '1', type: 'collection' })
    const environment = bruLang.bruToEnvJsonV2(files.get('Gatehouse/environments/Sandbox.bru') ?? '')
    expect(environment.variables.map(({ name, value, secret }) => [name, value ?? '', secret])).toEqual([
      ['baseUrl', system.origin, false],
      ['partnerUrl', 'http://localhost:8080', false],
      ['clientId', '', false],
      ['partnerId', '', false],
      ['clientSecret', '', true],
    ])
    const ran: Ran[] = []
    for (const [path, text] of files) {
      if (path.split('/').length < 3 || path.includes('environments')) continue
      ran.push(await runBruno(script.req, path.split('/').at(-1)?.replace('.bru', '') ?? '', text, variables))
    }
    if (language === 'en') expectGreen(ran)
    else for (const { passed } of ran) expect(passed).toHaveLength(2)
  })
})

describe('the collections of a seller that has signed in', () => {
  it('contain its clientId and PartnerId, but not the secret', async () => {
    const form = new URLSearchParams({ client_id: 'demo-partner', password: variables.clientSecret ?? '' })
    const signedIn = await fetch(`${system.origin}/sandbox/sign-in`, {
      method: 'POST',
      body: form,
      redirect: 'manual',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
    })
    const headers = { Cookie: signedIn.headers.get('set-cookie')?.split(';')[0] ?? '', 'Accept-Language': 'en' }
    const own = (name: string) => fetch(`${system.origin}/sandbox/docs/${name}`, { headers })
    const { variable } = (await (await own('postman.json')).json()) as Postman
    const ids = { clientId: 'demo-partner', partnerId: '7001', clientSecret: '' }
    expect(Object.fromEntries(variable.map(({ key, value }) => [key, value]))).toMatchObject(ids)
    const files = unzipped(Buffer.from(await (await own('bruno.zip')).arrayBuffer()))
    const environment = bruLang.bruToEnvJsonV2(files.get('Gatehouse/environments/Sandbox.bru') ?? '')
    const values = Object.fromEntries(environment.variables.map(({ name, value }) => [name, value ?? '']))
    expect(values).toMatchObject(ids)
    expect([...files.values()].join()).not.toContain(variables.clientSecret)
    // Without a session they are not filled in.
    expect(await (await download('postman.json')).text()).not.toContain('demo-partner')
  })
})
