import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '../../src/platform/lib/web/admin-auth.ts'
import { altered } from '../altered.ts'
import { openWorld, type World } from '../harness.ts'
import { adminTokenHolder, COOKIE, type Person, signedIn } from './person.ts'

/** Importing a file of users in the console: first a preview, then the import. */

let world: World
let admin: Person
beforeAll(async () => {
  world = await openWorld()
  admin = await adminTokenHolder(world)
})
afterAll(() => world?.close())

const PAGE = '/console/users/import'
const PASSWORD = 'seven green turtles walk'
let serial = 0
const line = (more: object = {}) => {
  const id = `imported-${++serial}`
  const big_avatar_url = 'https://pictures.example.com/a.png'
  return { cid: 7, user_id: id, passport: id, name: `Person ${serial}`, big_avatar_url, password: PASSWORD, ...more }
}
const ndjson = (...lines: object[]) => lines.map((one) => JSON.stringify(one)).join('\n')

interface Sent {
  readonly file?: string | Buffer
  readonly sealed?: string
  readonly mark?: string
  readonly site?: string
  readonly language?: string
}
async function send({ file, sealed, mark, site = 'same-origin', language = 'en' }: Sent, by = admin) {
  const form = new FormData()
  form.append('form_of', mark ?? (await by.mark('/console/users/import')))
  if (sealed !== undefined) form.append('sealed', sealed)
  if (file !== undefined) form.append('file', new Blob([new Uint8Array(Buffer.from(file))]), 'users.csv')
  const sent = new Response(form)
  const answer = await world.app.inject({
    method: 'POST',
    url: PAGE,
    headers: {
      cookie: `${COOKIE}=${by.cookie}`,
      accept: 'text/html',
      'accept-language': language,
      'sec-fetch-site': site,
      'content-type': sent.headers.get('content-type') ?? '',
    },
    payload: Buffer.from(await sent.arrayBuffer()),
  })
  const text = answer.body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
  return {
    status: answer.statusCode,
    body: answer.body,
    text,
    sealed: /name="sealed" value="([^"]+)"/.exec(answer.body)?.[1],
  }
}
const people = async () => Number((await world.pool.query('select count(*) from user_profile')).rows[0].count)
async function operator(role: Role): Promise<Person> {
  return (await signedIn(world, role)).person
}

describe('a file of users', () => {
  it('is first previewed without any change, then imported without the lines that have problems', async () => {
    const [one, two] = [line(), line()]
    const file = ndjson(one, { ...line(), name: '' }, two, { ...line(), passport: one.passport }, line({ user_id: '' }))
    const before = await people()
    const looked = await send({ file })
    expect(looked.status).toBe(200)
    expect(looked.text).toContain('Nothing has been changed yet')
    expect(looked.text).toContain('Would be created 2')
    expect(looked.text).toContain('Left out because of problems 3')
    expect(looked.text).toMatch(/4 passport is that of line 1/)
    expect(looked.body).not.toContain(PASSWORD)
    expect(await people()).toBe(before)
    const done = await send({ sealed: looked.sealed ?? '' })
    expect(done.text).toContain('Created 2')
    expect(await people()).toBe(before + 2)
    const again = await send({ sealed: looked.sealed ?? '' })
    expect(again.text).toContain('There already 2')
    expect(await people()).toBe(before + 2)
    const answer = await world.app.inject({
      ...{ method: 'POST', url: '/sign-in', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      payload: new URLSearchParams({ passport: two.passport, password: PASSWORD }).toString(),
    })
    expect(answer.statusCode).toBe(303)
    const { rows } = await world.pool.query("select actor, detail from audit_event where event = 'users_imported'")
    expect(rows).toHaveLength(1)
    expect(world.logged()).not.toContain(PASSWORD)
  })

  it('has its problems listed in Chinese', async () => {
    const one = line()
    const { text } = await send({ file: ndjson(one, one, line({ name: '' })), language: 'zh-CN' })
    expect(text).toContain('2 passport：与第 1 行相同 2 user_id：与第 1 行相同，且 cid 相同 3 name：不能为空')
    const none = await send({ file: Buffer.from([0xff, 0xfe, 0x00, 0xd8]), language: 'zh-CN' })
    expect(none.text).toContain('文件 是 UTF-16 而不是 UTF-8；请另存为 UTF-8')
  })

  it('may be CSV, and cannot be imported if nothing is new', async () => {
    const { cid, user_id, passport, name, big_avatar_url, password } = line()
    const head = 'cid,user_id,passport,name,big_avatar_url,password\n'
    const csv = `\uFEFF${head}${[cid, user_id, passport, name, big_avatar_url, password].join(',')}\n`
    const looked = await send({ file: csv })
    expect(looked.text).toContain('Would be created 1')
    await send({ sealed: looked.sealed ?? '' })
    const again = await send({ file: csv })
    expect(again.text).toContain('There already 1')
    expect(again.sealed).toBeUndefined()
  })

  it.each<[string, () => string | Buffer, number, string]>([
    ['that is not UTF-8', () => Buffer.from([0xff, 0xfe, 0x00, 0xd8]), 400, 'not UTF-8'],
    ['without a line', () => '', 400, 'has no users'],
    [
      'of more users than a page takes',
      () => ndjson(...Array.from({ length: 1_001 }, () => line({ password: undefined, password_hash: HASH }))),
      400,
      '1000',
    ],
    ['with more passwords than a page hashes', () => ndjson(...Array.from({ length: 201 }, () => line())), 400, '200'],
    ['that is too large', () => 'x'.repeat(600_000), 413, 'too large'],
  ])('%s is rejected', async (_name, file, status, said) => {
    const before = await people()
    const answer = await send({ file: file() })
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(said)])
    expect(answer.sealed).toBeUndefined()
    expect(await people()).toBe(before)
  })
})

const HASH = '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b4dWRWJTmaaJObG1u4PzWvDrIc'

describe('an import', () => {
  it('needs the role editor', async () => {
    for (const role of ['viewer', 'support'] as const) {
      const person = await operator(role)
      expect((await person.get(PAGE)).status).toBe(403)
      expect((await send({ file: ndjson(line()) }, person)).status).toBe(403)
      expect((await person.get('/console/users')).text).not.toContain(PAGE)
    }
    const editor = await operator('editor')
    expect((await editor.get('/console/users')).text).toContain(`href="${PAGE}"`)
    expect((await editor.get(PAGE)).text).toContain('type="file"')
    expect((await send({ file: ndjson(line()) }, editor)).sealed).toBeDefined()
  })

  it('is rejected with a form from another site, from another session, or forged', async () => {
    const file = ndjson(line())
    const before = await people()
    expect((await send({ file, site: 'cross-site' })).status).toBe(403)
    expect((await send({ file, mark: 'x' })).status).toBe(403)
    const other = await operator('editor')
    expect((await send({ file, mark: await other.mark(PAGE) })).status).toBe(403)
    const { sealed = '' } = await send({ file }, other)
    for (const taken of [sealed, altered(sealed, 0), 'x', '']) {
      expect((await send({ sealed: taken })).status).toBe(400)
    }
    expect((await admin.post(PAGE, { form_of: await admin.mark(PAGE), file: 'x' })).status).toBe(400)
    expect(await people()).toBe(before)
  })
})
