import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { programOf } from '../../src/command-line.ts'
import { ALL_ACTIONS, type Field, fieldsOf, PERMISSIONS } from '../../src/operations/actions/index.ts'
import { openContext } from '../../src/operations/cli/context.ts'
import { createOperator } from '../../src/operations/operators/index.ts'
import { namesIn, partsOf } from '../../src/platform/lib/action.ts'
import { allows, ROLES, type Role } from '../../src/platform/lib/web/admin-auth.ts'
import { adminRoutes } from '../admin-routes.ts'
import { gatehouse } from '../cli-runner.ts'
import { ADMIN_TOKEN, openWorld, SECRET_KEY, type World } from '../harness.ts'

/** Every route and every command with every role: allowed, or denied and audited. */

let world: World
let url: string
const tokens = new Map<Role, string>()
beforeAll(async () => {
  world = await openWorld()
  url = await world.app.listen({ port: 0, host: '127.0.0.1' })
  for (const role of ROLES) {
    tokens.set(role, (await createOperator(world.deps, { name: `a-${role}`, role, days: 1 })).token)
  }
})
afterAll(() => world.close())

/** The number of audited denials of this operator, by target. */
const refusals = async (role: Role): Promise<Readonly<Record<string, number>>> => {
  const { rows } = await world.pool.query(
    `select target, count(*)::int as count from audit_event
     where event = 'operator_refused' and outcome = 'refused' and actor_name = $1 group by target`,
    [`a-${role}`],
  )
  return Object.fromEntries(rows.map(({ target, count }) => [target, count]))
}

const routes = PERMISSIONS.flatMap(({ role, route }) => (route ? [[route, role] as const] : []))
const commands = PERMISSIONS.flatMap(({ role, command, route }) => (command ? [{ role, command, route }] : []))

describe('the table of permissions', () => {
  it('has every route of the admin API, and no other', () => {
    const listed = routes.map(([route]) => route.replace(' ', ' /admin/v1'))
    expect(adminRoutes(world.app).sort()).toEqual(listed.sort())
  })

  it('has every command except those that need no operator', () => {
    const own = ['jsticket', 'secret check', /^sandbox /]
    const known = commandsOf(
      programOf(openContext({ stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: {} })),
    )
    const operators = known.filter(
      (name) => !own.some((one) => (typeof one === 'string' ? one === name : one.test(name))),
    )
    expect(operators.sort()).toEqual(commands.map(({ command }) => command).sort())
  })
})

function commandsOf(command: Command, words: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [words.join(' ')]
  return command.commands.flatMap((one) => commandsOf(one, [...words, one.name()]))
}

describe.each(routes)('%s', (route, needed) => {
  const [method = '', pattern = ''] = route.split(' ')
  const ask = (token?: string) =>
    world.app.inject({
      method: method as 'GET',
      url: `/admin/v1${pattern.replaceAll(/:\w+/g, '1')}`,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })

  it.each(ROLES)('is allowed or denied according to the permissions of %s', async (role) => {
    const before = await refusals(role)
    const { statusCode, json } = await ask(tokens.get(role))
    const after = await refusals(role)
    if (allows(role, needed)) {
      expect([200, 400, 404]).toContain(statusCode)
      expect(after).toEqual(before)
    } else {
      expect([statusCode, json().rescode]).toEqual([403, 20003])
      expect(json().data.message).toContain(`needs the role ${needed}; this operator is ${role}`)
      const target = route.replace(' ', ' /admin/v1')
      expect(after).toEqual({ ...before, [target]: (before[target] ?? 0) + 1 })
    }
  })

  it('is denied without a valid token', async () => {
    expect((await ask()).statusCode).toBe(401)
    expect((await ask('ghop_forged')).statusCode).not.toBe(200)
  })
})

const USERS = join(mkdtempSync(join(tmpdir(), 'matrix-')), 'users.csv')
writeFileSync(
  USERS,
  'cid,user_id,passport,password,name,big_avatar_url\n1,i,matrix-i,long enough,X,https://a.example/\n',
)

const UUID = '8f3c1a52-4f0e-4a57-9a65-0f6bb5f1c111'
/** Values for required fields by name; all others get their first choice, a number or a text. */
const GIVEN: Readonly<Record<string, string>> = {
  ...{ partner_id: '1', order_id: '1', job_id: '1' },
  ...{ request_id: UUID, event_id: UUID, grant_id: UUID, token_id: UUID, team_id: UUID, run_id: UUID, id: UUID },
  ...{ invitation_id: UUID },
  ...{ mail: 'x@a.example', big_avatar_url: 'https://a.example/', session_id: 'x'.repeat(43) },
}
/** Options needed in addition to the required ones for a command to reach the service. */
const EXTRA_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  'app create': ['--host', 'example.com'],
  'app update': ['--name', 'X'],
  'app end-tokens': ['--yes'],
  'user update': ['--name', 'X'],
  'grant list': ['--cid', '1', '--user-id', 'none'],
  'user create': ['--password', 'long enough'],
  'user erase': ['--yes'],
  'user end-sessions': ['--yes'],
  'partner update': ['--name', 'X'],
}
/** The arguments of commands that do not correspond to an action. */
const OWN: Readonly<Record<string, readonly string[]>> = { 'user import': [USERS] }

function typedFor(command: string): readonly string[] {
  const action = ALL_ACTIONS.find((one) => one.command === command)
  if (!action || OWN[command]) return OWN[command] ?? []
  const inPath = namesIn(partsOf(action.route).path)
  const named = action.arguments ?? (inPath.length === 1 ? inPath : [])
  const required = fieldsOf(action).filter((field) => field.required && !field.secret)
  const given = ({ name, choices, kind }: Field) => GIVEN[name] ?? choices[0] ?? (kind === 'number' ? '1' : 'matrix')
  const options = required.filter(({ name }) => !named.includes(name))
  return [
    ...named.map((name) => GIVEN[name] ?? required.find((field) => field.name === name)?.choices[0] ?? 'none'),
    ...options.flatMap((field) => [`--${field.flag}`, given(field)]),
    ...(EXTRA_OPTIONS[command] ?? []),
  ]
}
const NEEDS_INPUT = ['partner set-aes-key', 'operator set-password']

describe.each(commands.filter(({ command }) => !NEEDS_INPUT.includes(command)))(
  'gatehouse $command',
  ({ command, role: needed, route }) => {
    const typed = typedFor(command)

    it.each(ROLES)('is allowed or denied according to the permissions of %s', async (role) => {
      const settings = { GATEHOUSE_URL: url, GATEHOUSE_TOKEN: tokens.get(role) ?? '' }
      const { code, stderr } = await gatehouse(settings, ...command.split(' '), ...typed)
      if (route === undefined) expect(stderr).toContain('works only on the machine of the service')
      else if (allows(role, needed)) expect(stderr).not.toMatch(/needs the role|Unauthorized|option|is required/)
      else
        expect([code, stderr]).toEqual([
          1,
          expect.stringContaining(`needs the role ${needed}; this operator is ${role}`),
        ])
    })
  },
)

describe('the command line over the admin API', () => {
  const remote = (...words: string[]) => gatehouse({ GATEHOUSE_URL: `${url}/`, GATEHOUSE_TOKEN: ADMIN_TOKEN }, ...words)

  it('prints the same as on the machine of the service', async () => {
    await remote('app', 'create', '--name', '票', '--host', 'a.com', '--scope', 'USER_INFO', '--app-key', 'same')
    const direct = { DATABASE_URL: world.databaseUrl, SECRET_KEY }
    for (const words of [
      ['app', 'show', 'same'],
      ['app', 'list'],
      ['partner', 'list', '--json'],
    ]) {
      const there = await remote(...words)
      expect(there).toEqual(await gatehouse(direct, ...words))
      expect(there.code).toBe(0)
    }
  })

  it('reports problems by the names of the options', async () => {
    await remote('app', 'create', '--name', 'X', '--host', 'a.com', '--scope', 'USER_INFO', '--app-key', 'twice')
    const again = await remote(
      'app',
      'create',
      '--name',
      'X',
      '--host',
      'a.com',
      '--scope',
      'USER_INFO',
      '--app-key',
      'twice',
    )
    expect(again).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--app-key +is already taken/) })
    expect(await remote('app', 'show', 'none')).toMatchObject({ code: 1, stderr: 'no such micro-app\n' })
  })

  it('says which service did not respond or which setting is wrong', async () => {
    const nowhere = await gatehouse({ GATEHOUSE_URL: 'http://127.0.0.1:1', GATEHOUSE_TOKEN: 'x' }, 'app', 'list')
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('http://127.0.0.1:1 does not respond') })
    const without = await gatehouse({ GATEHOUSE_URL: url }, 'app', 'list')
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('GATEHOUSE_TOKEN') })
    const wrong = await gatehouse({ GATEHOUSE_URL: url, GATEHOUSE_TOKEN: 'wrong' }, 'app', 'list')
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^(GATEHOUSE_TOKEN is not accepted: .+|Request forbidden)$/m),
    })
  })

  it.each(['http://gatehouse.internal:3001', 'http://10.0.0.7', 'http://127.0.0.1.example.com'])(
    'does not send its token to another machine over plain http: %s',
    async (address) => {
      const settings = { GATEHOUSE_URL: address, GATEHOUSE_TOKEN: ADMIN_TOKEN }
      const { code, stderr } = await gatehouse(settings, 'app', 'list')
      expect([code, stderr]).toEqual([1, expect.stringMatching(/https:.*ssh -L.*GATEHOUSE_URL_HTTP=on/)])
    },
  )

  it('sends its token over plain http if GATEHOUSE_URL_HTTP allows it', async () => {
    const settings = { GATEHOUSE_URL: 'http://gatehouse.invalid', GATEHOUSE_TOKEN: 'x', GATEHOUSE_URL_HTTP: 'on' }
    const { stderr } = await gatehouse(settings, 'app', 'list')
    expect(stderr).toContain('http://gatehouse.invalid does not respond')
  })

  it.each(['http://127.0.0.1:1/?a=b', 'http://127.0.0.1:1/#top', 'http://127.0.0.1:1?'])(
    'rejects a URL with a query or fragment: %s',
    async (address) => {
      const { code, stderr } = await gatehouse({ GATEHOUSE_URL: address, GATEHOUSE_TOKEN: 'x' }, 'app', 'list')
      expect([code, stderr]).toEqual([1, expect.stringContaining('GATEHOUSE_URL must not have a query or a fragment')])
    },
  )

  it.each(['http://lin:pass-word@127.0.0.1:1', 'https://lin:pass-word@gatehouse.internal', 'ftp://lin:pass-word@x'])(
    'never prints the user name or password of a URL: %s',
    async (address) => {
      const { code, stdout, stderr } = await gatehouse({ GATEHOUSE_URL: address, GATEHOUSE_TOKEN: 'x' }, 'app', 'list')
      expect([code, stderr]).toEqual([1, expect.stringContaining('GATEHOUSE_URL must')])
      expect(stdout + stderr).not.toMatch(/lin|pass-word/)
    },
  )

  it('exports the audit log and verifies it', async () => {
    const { stdout } = await remote('audit', 'export', '--action', 'operator_created')
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).action),
    ).toContain('operator_created')
    const verified = await remote('audit', 'verify', '--json')
    expect([verified.code, JSON.parse(verified.stdout).intact]).toEqual([0, true])
  })
})
