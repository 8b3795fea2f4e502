import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashPassword } from '../../src/platform/lib/crypto/password.ts'
import { Client } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { gatehouse, gatehouseWith } from '../cli-runner.ts'
import { ADMIN_TOKEN, MANY_CONNECTIONS, openWorld, SECRET_KEY, type World } from '../harness.ts'

/** Importing users from files of any quality. */

let world: World
let client: Client
let url: string
const folder = mkdtempSync(join(tmpdir(), 'import-'))
beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  url = await world.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => world?.close())

let files = 0
function file(text: string): string {
  const name = join(folder, `${++files}.txt`)
  writeFileSync(name, text)
  return name
}
const directSettings = () => ({ DATABASE_URL: world.databaseUrl, SECRET_KEY })
const run = async (name: string, ...options: string[]) => {
  const { code, stdout, stderr } = await gatehouse(directSettings(), 'user', 'import', name, '--json', ...options)
  return { code, stderr, done: stdout === '' ? undefined : JSON.parse(stdout) }
}
const count = async (like: string): Promise<number> =>
  (
    await world.pool.query(
      `select count(*)::int as users from user_profile join user_credential using (routing_key, cid, user_id) where user_id like $1`,
      [like],
    )
  ).rows[0].users

const HEAD = 'cid,user_id,passport,password,password_hash,name,gender,big_avatar_url,phone_number'
const URL_OF_PICTURE = 'https://a.example/a.png'
const line = (id: string, { password = 'a long password', hash = '', phone = '' } = {}): string =>
  `3,${id},passport-${id},${password},${hash},"Name, ${id}",1,${URL_OF_PICTURE},${phone}`

describe('gatehouse user import', () => {
  it('creates users from CSV who can sign in, with passwords or argon2 hashes alike', async () => {
    const hash = `"${await hashPassword('of another system')}"`
    const name = file(
      `\uFEFF${HEAD}\r\n${line('a1')}\r\n\r\n${line('a2', { password: '', hash, phone: '+8613900000001' })}\r\n`,
    )
    expect((await run(name, '--dry-run')).done).toMatchObject({ new: 2, created: 0, refused: 0 })
    expect(await count('a_')).toBe(0)
    expect(await run(name)).toMatchObject({ code: 0, stderr: '', done: { created: 2, identical: 0, refused: 0 } })
    expect(await count('a_')).toBe(2)
    await client.signedIn({ passport: 'passport-a1', password: 'a long password' }, await client.makeApp())
    await client.signedIn({ passport: 'passport-a2', password: 'of another system' }, await client.makeApp())
    expect(await client.admin('GET', '/users/3/a2?reason=test')).toMatchObject({
      name: 'Name, a2',
      gender: '1',
      phone_number: '+8613900000001',
      status: 'active',
    })
    const { rows } = await world.pool.query("select detail from audit_event where event = 'users_imported'")
    expect(rows).toEqual([{ detail: { count: 2, users: ['3/a1', '3/a2'] } }])
  })

  it('skips users that are already present with the same data, so that it can be run again', async () => {
    const users = Array.from({ length: 1_203 }, (_, n) => line(`b${n}`, { hash: `"${HASH}"`, password: '' }))
    expect((await run(file([HEAD, ...users.slice(0, 700)].join('\n')))).done).toMatchObject({ created: 700 })
    const again = await run(file([HEAD, ...users].join('\n')))
    expect(again.done).toMatchObject({ created: 503, identical: 700, refused: 0 })
    expect(await count('b%')).toBe(1_203)
  })

  it('reads NDJSON from a file or standard input, and reports the same through the admin API', async () => {
    const one = (id: string) =>
      JSON.stringify({
        cid: 3,
        user_id: id,
        passport: `passport-${id}`,
        password: 'a long password',
        name: 'N',
        big_avatar_url: URL_OF_PICTURE,
      })
    const name = file(`${one('c1')}\n\n${one('c2')}\nnot json\n[1]\n`)
    const settings = { GATEHOUSE_URL: url, GATEHOUSE_TOKEN: ADMIN_TOKEN }
    const remote = await gatehouse(settings, 'user', 'import', name)
    expect(remote).toEqual({
      code: 1,
      stdout: 'created: 2\nalready present: 0\nlines with problems: 2\n',
      stderr: 'line 4: is not JSON\nline 5: body must be a JSON object\n',
    })
    expect((await run(name)).done).toMatchObject({ identical: 2, created: 0 })
    const piped = await gatehouseWith(`${one('c3')}\n${one('c1')}`, directSettings(), 'user', 'import', '-')
    expect(piped.stdout).toMatch(/^created: 1\nalready present: 1\n/)
  })

  it('reports every problem with its line number, without echoing any value', async () => {
    await run(file(`${HEAD}\n${line('d1')}\n`))
    const name = file(
      [
        HEAD,
        line('d2', { password: 'short' }),
        line('d3', { phone: 'none' }),
        line('d4', { password: '' }),
        line('d5', { password: '', hash: '$2b$12$abcdefghijklmnopqrstuv' }),
        line('d6', {
          password: '',
          hash: '"$argon2id$v=19$m=99999999,t=2,p=1$HLtutxAG/JpSq6wxbj8oyQ$VneNEKkrNc0aCJHiTSe+LaqlerA"',
        }),
        line('d7'),
        line('d7'),
        line('d1', { phone: '13900000000' }),
        '3,d8,too,few',
        `3,d9,"open,${line('d9')}`,
      ].join('\n'),
    )
    const { code, done, stderr } = await run(name)
    expect(code).toBe(1)
    expect(done).toMatchObject({ created: 1, identical: 0 })
    const problems: { line: number; problem: string }[] = done.problems
    const reported = problems.toSorted((one, other) => one.line - other.line).map((one) => `${one.line} ${one.problem}`)
    expect(reported).toEqual([
      '2 password must have at least 8 characters',
      expect.stringMatching(/^3 phone_number must be 5 to 20 digits/),
      '4 password or password_hash is required, one of the two',
      expect.stringMatching(/^5 password_hash must be a PHC string of argon2/),
      expect.stringMatching(/^6 password_hash must be a PHC string of argon2/),
      '8 passport is that of line 7',
      '8 user_id is that of line 7, in the same cid',
      '9 user_id is already taken in this cid, by a user with other data',
      '10 has a different number of cells from the first line',
      '11 is not valid CSV: invalid closing quote',
    ])
    expect(stderr.trim().split('\n')).toHaveLength(reported.length)
    expect(JSON.stringify(done) + stderr).not.toMatch(/short|a long password|\$2b|99999999/)
  })

  /** Encodes the text in UTF-8, but `李雷` in GBK. */
  const inGbk = (text: string): Buffer =>
    Buffer.concat(
      text
        .split('李雷')
        .flatMap((part, at) => [...(at > 0 ? [Buffer.from([0xc0, 0xee, 0xc0, 0xd7])] : []), Buffer.from(part)]),
    )
  const ndjson = (id: string): string =>
    JSON.stringify({
      cid: 3,
      user_id: id,
      passport: id,
      password: 'a long password',
      name: '李雷',
      big_avatar_url: URL_OF_PICTURE,
    })

  it.each<[string, () => Buffer, string]>([
    [
      'CSV',
      () => inGbk(`${HEAD}\n${line('f1')}\n${line('f2').replace('Name', '李雷')}\n`),
      'not valid UTF-8 (line 3, column 36)',
    ],
    [
      'NDJSON',
      () => inGbk(`${ndjson('f1').replace('李雷', 'ok')}\n${ndjson('f2')}\n`),
      'not valid UTF-8 (line 2, column 78)',
    ],
    ['UTF-16', () => Buffer.from(`\ufeff${HEAD}\n${line('f1')}\n`, 'utf16le'), 'UTF-16, not UTF-8'],
  ])(
    'refuses the whole file, naming the place, when it is not UTF-8, in a dry run too: %s',
    async (_name, bytes, problem) => {
      const name = file('')
      writeFileSync(name, bytes())
      const refused = {
        code: 2,
        stderr: expect.stringContaining(`file is ${problem}; save it as UTF-8`),
        done: undefined,
      }
      expect(await run(name, '--dry-run')).toEqual(refused)
      expect(await run(name)).toEqual(refused)
      const remote = await gatehouse({ GATEHOUSE_URL: url, GATEHOUSE_TOKEN: ADMIN_TOKEN }, 'user', 'import', name)
      expect(remote).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) })
      const piped = await gatehouseWith(bytes(), directSettings(), 'user', 'import', '-', '--dry-run')
      expect(piped).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) })
      expect(await count('f_')).toBe(0)
    },
  )

  it('accepts a byte order mark, in NDJSON too', async () => {
    expect((await run(file(`\ufeff${ndjson('g1')}\n`))).done).toMatchObject({ created: 1 })
  })

  it('like other commands requires UTF-8 in options and standard input', async () => {
    const user = [
      'user',
      'create',
      '--cid',
      '3',
      '--user-id',
      'h1',
      '--passport',
      'h1',
      '--big-avatar-url',
      URL_OF_PICTURE,
    ]
    const typed = await gatehouse(directSettings(), ...user, '--name', '\ufffd\ufffd', '--password', 'a long password')
    expect(typed.stderr).toMatch(/--name\s+is not valid UTF-8: set the terminal to UTF-8/)
    const password = inGbk('李雷李雷李雷李雷')
    const piped = await gatehouseWith(password, directSettings(), ...user, '--name', 'N', '--password-stdin')
    expect(piped.stderr).toMatch(/--password-stdin\s+is not valid UTF-8/)
    expect(await count('h_')).toBe(0)
  })

  it('says what is wrong with the file as such', async () => {
    expect(await run(join(folder, 'none.csv'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no such file'),
    })
    expect((await run(file(''))).done).toMatchObject({ created: 0 })
    expect((await run(file(`cid,colour\n1,red\n`))).stderr).toContain('line 2: colour is not a known field')
  })
})

describe('POST /admin/v1/users/import', () => {
  it('imports a batch completely or not at all, even when the same batch arrives concurrently', async () => {
    const users = Array.from({ length: 20 }, (_, n) => ({
      cid: 3,
      user_id: `e${n}`,
      passport: `passport-e${n}`,
      name: 'N',
      big_avatar_url: URL_OF_PICTURE,
      password_hash: HASH,
    }))
    const send = () => client.admin('POST', '/users/import', { dry_run: false, users })
    const answers = await Promise.allSettled([send(), send(), send()])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
    expect(await count('e%')).toBe(20)
    expect((await send()).outcomes).toEqual(users.map(() => 'identical'))
  })

  it('names the invalid field', async () => {
    const user = { cid: 3, user_id: 'f1', passport: 'passport-f1', name: 'N', big_avatar_url: URL_OF_PICTURE }
    const refused = async (body: object) =>
      (
        await world.app.inject({
          method: 'POST',
          url: '/admin/v1/users/import',
          headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
          payload: body,
        })
      )
        .json<{ data: { problems: { field: string }[] } }>()
        .data.problems.map(({ field }) => field)
    expect(await refused({ dry_run: false, users: [{ ...user, password_hash: '$2b$12$x' }] })).toEqual([
      'users[0].password_hash',
    ])
    expect(await refused({ dry_run: true, users: [{ ...user, cid: -1 }] })).toEqual(['users[0].cid'])
    expect(await refused({ users: [user] })).toEqual(['dry_run'])
  })
})

const HASH = '$argon2id$v=19$m=19456,t=2,p=1$HLtutxAG/JpSq6wxbj8oyQ$VneNEKkrNc0aCJHiTSe+LaqlerA/XLmya2n6KKUAYJU'
