import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  ARROWS,
  BELOW_ALL,
  FLOORS,
  floorOf,
  folderOf,
  foreignTables,
  joinedAcrossShards,
  OWNERS,
  roomOf,
  SHARD_TABLES,
  STANDS_ON,
  tablesOfMigrations,
} from './rooms.ts'

/** The rules of ARCHITECTURE that can be checked mechanically. A failure prints the forbidden import. */

/** Files outside the rooms that every room may import. */
const SHARED = ['src/platform/deps.ts']
/** Aim for 200; exceed it only to keep one flow together. */
const MAX_LINES = 300
/** How many names, including types, a door may export: today's maximum. Aim for twenty; lower this when you can. */
const MAX_NAMES = 36

/** Sources by path, such as `src/authorization/oauth/routes.ts`. */
type Sources = Readonly<Record<string, string>>

const withoutComments = (source: string): string => source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')

/** What a file imports: paths for relative imports, otherwise package names. */
function importsOf(path: string, source: string): string[] {
  const found = withoutComments(source).matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)'([^']+)'/g)
  return [...found].map(([, name = '']) =>
    name.startsWith('.') ? posix.normalize(posix.join(posix.dirname(path), name)) : name,
  )
}

/** The names that a file exports: `a` of `export { type a, b as c } from …` and of declarations. */
function exportsOf(source: string): string[] {
  const text = withoutComments(source)
  const listed = [...text.matchAll(/\bexport\s+(?:type\s+)?\{([^}]*)\}/g)].flatMap(([, names = '']) =>
    names.split(',').filter((name) => name.trim() !== ''),
  )
  const declared = [...text.matchAll(/\bexport\s+(?:async\s+)?(?:function|const|class|interface|type)\s+(\w+)/g)]
  return [...listed, ...declared.map(([, name = '']) => name)]
}

const isRoom = (name: string | undefined): name is string => name !== undefined && name in ARROWS
const named = (path: string, ...kinds: string[]): boolean =>
  kinds.some((kind) => new RegExp(`/([a-z-]+-)?${kind}\\.ts$`).test(path))

const COLLECTION = /^(?:Weak)?(?:Map|Set)$/
const isOurs = (source: string, name: string): boolean =>
  new RegExp(`\\bclass ${name}\\b|\\bimport \\{[^}]*\\b${name}\\b[^}]*\\} from '\\.`).test(source)

/** The mutable state at the top level of a file: collections that it changes, and instances of our own classes. */
function stateOf(source: string): string[] {
  const made = source.matchAll(/(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?^(?:export )?const (\w+)(?:: [^=]+)? = new (\w+)/gm)
  return [...made].flatMap(([, comment = '', name = '', ofClass = '']) => {
    const isChanged = new RegExp(`\\b${name}\\.(?:set|add|delete|clear)\\(`).test(source)
    const isState = COLLECTION.test(ofClass) ? isChanged : isOurs(source, ofClass)
    return isState && !comment.startsWith('/** Cache: ') ? [name] : []
  })
}

type Rule = (path: string, source: string, imports: readonly string[]) => string[]

const RULES: Readonly<Record<string, Rule>> = {
  'an arrow that the table does not have': (path, _source, imports) => {
    const from = roomOf(path)
    if (from === undefined) return []
    return imports.filter((to) => {
      if (!to.startsWith('src/')) return false
      const room = roomOf(to)
      if (room === undefined) return !SHARED.includes(to) && from !== 'process'
      if (room === from) return false
      const below = BELOW_ALL.indexOf(room)
      const at = BELOW_ALL.indexOf(from)
      return below >= 0 ? at >= 0 && below > at : !(ARROWS[from] ?? []).includes(room)
    })
  },
  // The plugin of a room is no part of its door: only app.ts may import it.
  'a room is entered past its door': (path, _source, imports) => {
    const from = roomOf(path)
    return imports.filter((to) => {
      const room = roomOf(to)
      if (room === undefined || room === from || BELOW_ALL.includes(room)) return false
      return to !== `${folderOf(room)}index.ts` && !(path === 'src/app.ts' && to === `${folderOf(room)}plugin.ts`)
    })
  },
  'a door that is too wide': (path, source) => {
    const names =
      isRoom(roomOf(path)) && path === `${folderOf(roomOf(path) ?? '')}index.ts` ? exportsOf(source).length : 0
    const mend =
      'let an operation carry its input (lib/json/input.ts), do in one what callers put together, or split it'
    const every = /\bexport\s+\*/.test(source) ? ['export *: name what others may use'] : []
    return names > MAX_NAMES ? [`${names} names, ${MAX_NAMES} at most: ${mend}`] : every
  },
  'a table of another room': (path, source) => foreignTables(path, source),
  'a routes file reaches past its operations': (path, _source, imports) =>
    named(path, 'routes')
      ? imports.filter(
          (to) => (to.startsWith('src/') && named(to, 'store')) || to.startsWith(folderOf('db')) || to === 'pg',
        )
      : [],
  'an operation knows about the web': (path, _source, imports) =>
    isRoom(roomOf(path)) && roomOf(path) !== 'demo' && !named(path, 'plugin', 'routes', 'guard')
      ? imports.filter((to) => to === 'fastify' || to.startsWith('@fastify/') || to.startsWith('fastify-'))
      : [],
  'SQL outside of a store': (path, source, imports) => [
    ...(!named(path, 'store') && roomOf(path) !== 'db' && /\bsql`/.test(withoutComments(source)) ? ['sql`…`'] : []),
    ...(roomOf(path) !== 'db' ? imports.filter((to) => to === 'pg') : []),
  ],
  // Adding a column to a live table would change the result type of prepared statements: their next use would fail.
  'columns that are not named': (path, source) =>
    named(path, 'store') || /\bsql`/.test(source)
      ? [...withoutComments(source).matchAll(/\b(?:select|returning)\s+\*|\b[a-z_]+\.\*/g)].map(([found]) => found)
      : [],
  'the environment outside of config/index.ts': (path, source) =>
    path !== 'src/platform/config/index.ts' && /\bprocess\.env\b/.test(withoutComments(source)) ? ['process.env'] : [],
  'the time outside of lib/clock.ts': (path, source) =>
    path === 'src/platform/lib/clock.ts'
      ? []
      : [...withoutComments(source).matchAll(/\bDate\.now\b|\bnew Date\(/g)].map(([found]) => found),
  // State that lives as long as the process is created together with Deps. Unobservable caches are exempt if marked as such.
  'state of the process outside of Deps': (_path, source) => stateOf(source),
  // These functions send nothing themselves: unless their result is returned, the response has no body.
  'the body of a success that is not returned': (_path, source) =>
    [
      ...withoutComments(source).matchAll(/(\S+)\s+((?:answerSuccess|answerLossless|success)\(request, reply\b)/g),
    ].flatMap(([, before = '', call = '']) => (['return', '=>'].includes(before) ? [] : [`${before} ${call}`])),
  // The build bundles many sources into one file, so import.meta points elsewhere. Resolving packages works from anywhere.
  'a path derived from the place of a source file': (path, source) =>
    path === 'src/platform/lib/root.ts'
      ? []
      : [...withoutComments(source).matchAll(/.*\bimport\.meta\b.*/g)]
          .map(([line]) => line.trim())
          .filter((line) => !line.includes('createRequire(import.meta.url)')),
  'a file that is too long': (_path, source) => {
    const lines = source.trimEnd().split('\n').length
    return lines > MAX_LINES ? [`${lines} lines`] : []
  },
}

/** One line for each breach: `rule: file → what it must not contain`. */
function breaches(sources: Sources): string[] {
  const lines = Object.entries(sources).flatMap(([path, source]) => {
    const imports = importsOf(path, source)
    return Object.entries(RULES).flatMap(([rule, check]) =>
      check(path, source, imports).map((to) => `${rule}: ${path} → ${to}`),
    )
  })
  return [...lines, ...cycles(sources)]
}

function cycles(sources: Sources): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const seen = trail.indexOf(path)
    if (seen >= 0) {
      found.push(`a cycle: ${[...trail.slice(seen), path].join(' → ')}`)
      return
    }
    if (done.has(path)) return
    for (const to of importsOf(path, sources[path] ?? '')) if (to in sources) visit(to, [...trail, path])
    done.add(path)
  }
  for (const path of Object.keys(sources)) visit(path, [])
  return found
}

const ROOT = new URL('../', import.meta.url).pathname
const sourcesBelow = (folder: string): Sources =>
  Object.fromEntries(
    readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [`${folder}/${file}`, readFileSync(`${ROOT}${folder}/${file}`, 'utf8')]),
  )
const ourSources = sourcesBelow('src')

describe('the architecture', () => {
  it('is respected by every source file', () => {
    expect(Object.keys(ourSources).length).toBeGreaterThan(20)
    expect(breaches(ourSources)).toEqual([])
  })

  it('lists every folder of src/ in its table', () => {
    const folders = new Set(Object.keys(ourSources).map(roomOf).filter(Boolean))
    expect([...folders].filter((folder) => !isRoom(folder) && !BELOW_ALL.includes(String(folder)))).toEqual([])
    const misplaced = Object.keys(ourSources).filter((path) => !path.startsWith(folderOf(roomOf(path) ?? '')))
    expect(misplaced.filter((path) => roomOf(path) !== undefined)).toEqual([])
  })

  it('has an owner for every table and view', () => {
    expect(Object.keys(OWNERS).sort()).toEqual(tablesOfMigrations())
    for (const owner of Object.values(OWNERS)) expect(isRoom(owner) || owner === 'db', owner).toBe(true)
  })

  it('keeps tables of people in the shards, and joins them with no other table', () => {
    expect(SHARD_TABLES).toContain('access_token')
    expect(SHARD_TABLES).not.toContain('user_credential')
    const files = Object.entries(ourSources)
    expect(files.flatMap(([path, source]) => joinedAcrossShards(path, source))).toEqual([])
    const forged = 'sql`select from team_member join user_profile using (cid, user_id)`'
    expect(joinedAcrossShards('src/authorization/teams/store.ts', forged)).toEqual([
      'authorization/teams/store.ts joins team_member with tables of people',
    ])
  })

  it('has floors: a room imports only from its own floor and from lower ones', () => {
    expect(
      Object.values(FLOORS)
        .flat()
        .filter((room) => !isRoom(room) && !BELOW_ALL.includes(room)),
    ).toEqual([])
    const upward = Object.entries(ARROWS).flatMap(([room, others]) => {
      const floor = floorOf(room)
      if (floor === undefined) return []
      const below: readonly (string | undefined)[] = [floor, ...STANDS_ON[floor]]
      return others.filter((to) => !below.includes(floorOf(to))).map((to) => `${room} → ${to}`)
    })
    expect(upward).toEqual([])
  })

  it('has a table without cycles', () => {
    const asSources = Object.entries(ARROWS).map(([room, to]) => [
      `src/${room}.ts`,
      to.map((name) => `import './${name}.ts'`).join('\n'),
    ])
    expect(cycles(Object.fromEntries(asSources))).toEqual([])
  })
})

/** Each rule must be able to fail: a forged file and the breach that it must raise. */
describe('a breach is reported', () => {
  it.each<[string, Sources]>([
    [
      'the body of a success that is not returned: src/authorization/oauth/routes.ts → { answerSuccess(request, reply',
      { 'src/authorization/oauth/routes.ts': "app.get('/', async () => { answerSuccess(request, reply, {}) })" },
    ],
    [
      'the body of a success that is not returned: src/ticketing/orders/routes.ts → { answerLossless(request, reply',
      { 'src/ticketing/orders/routes.ts': "app.get('/', async () => { answerLossless(request, reply, {}) })" },
    ],
    [
      'an arrow that the table does not have: src/authorization/account/sign-in.ts → src/authorization/oauth/wire.ts',
      { 'src/authorization/account/sign-in.ts': "import { code } from '../oauth/wire.ts'" },
    ],
    [
      'an arrow that the table does not have: src/platform/lib/clock.ts → src/authorization/account/user.ts',
      { 'src/platform/lib/clock.ts': "import type { User } from '../../authorization/account/user.ts'" },
    ],
    [
      'an arrow that the table does not have: src/platform/db/sql.ts → src/authorization/oauth/store.ts',
      { 'src/platform/db/sql.ts': "await import('../../authorization/oauth/store.ts')" },
    ],
    [
      'an arrow that the table does not have: src/authorization/registry/host.ts → src/app.ts',
      { 'src/authorization/registry/host.ts': "import {\n  buildApp,\n} from '../../app.ts'" },
    ],
    [
      'an arrow that the table does not have: src/operations/cli/machine.ts → src/long-lived.ts',
      { 'src/operations/cli/machine.ts': "import { openLongLived } from '../../long-lived.ts'" },
    ],
    [
      'a room is entered past its door: src/ticketing/orders/pay-order.ts → src/ticketing/catalogue/pull-product.ts',
      { 'src/ticketing/orders/pay-order.ts': "import type { PullReport } from '../catalogue/pull-product.ts'" },
    ],
    [
      'a room is entered past its door: src/process/start-service.ts → src/ticketing/mtp/plugin.ts',
      { 'src/process/start-service.ts': "import { mtpRoom } from '../ticketing/mtp/plugin.ts'" },
    ],
    [
      'a table of another room: src/sandbox/certification/run-store.ts → sandbox/certification/run-store.ts names ticket_order, which orders owns',
      { 'src/sandbox/certification/run-store.ts': 'sql`select 1 from ticket_order`' },
    ],
    [
      'a table of another room: src/ticketing/catalogue/price-store.ts → ticketing/catalogue/price-store.ts names record_change, which history owns',
      { 'src/ticketing/catalogue/price-store.ts': 'sql`insert into record_change (at) values (now())`' },
    ],
    [
      'a routes file reaches past its operations: src/authorization/oauth/routes.ts → src/authorization/oauth/store.ts',
      { 'src/authorization/oauth/routes.ts': "import { find } from './store.ts'" },
    ],
    [
      'a routes file reaches past its operations: src/authorization/registry/admin-routes.ts → src/platform/db/sql.ts',
      { 'src/authorization/registry/admin-routes.ts': "import type { Db } from '../../platform/db/sql.ts'" },
    ],
    [
      'a routes file reaches past its operations: src/authorization/oauth/routes.ts → pg',
      { 'src/authorization/oauth/routes.ts': "import 'pg'" },
    ],
    [
      'an operation knows about the web: src/authorization/oauth/exchange.ts → fastify',
      { 'src/authorization/oauth/exchange.ts': "import type { FastifyRequest } from 'fastify'" },
    ],
    [
      'an operation knows about the web: src/authorization/oauth/store.ts → @fastify/cookie',
      { 'src/authorization/oauth/store.ts': "export * from '@fastify/cookie'" },
    ],
    [
      'SQL outside of a store: src/authorization/oauth/exchange.ts → sql`…`',
      { 'src/authorization/oauth/exchange.ts': 'db.one(row, sql`select 1`)' },
    ],
    [
      'columns that are not named: src/authorization/oauth/store.ts → select *',
      { 'src/authorization/oauth/store.ts': 'sql`select * from t`' },
    ],
    [
      'columns that are not named: src/authorization/oauth/store.ts → t.*',
      { 'src/authorization/oauth/store.ts': 'sql`select 1, t.* from t`' },
    ],
    [
      'columns that are not named: src/platform/db/jobs-store.ts → returning *',
      { 'src/platform/db/jobs-store.ts': 'sql`delete from t returning *`' },
    ],
    [
      'SQL outside of a store: src/process/start-service.ts → pg',
      { 'src/process/start-service.ts': "import { Pool } from 'pg'" },
    ],
    [
      'the environment outside of config/index.ts: src/platform/lib/log.ts → process.env',
      { 'src/platform/lib/log.ts': 'process.env.PORT' },
    ],
    [
      'the time outside of lib/clock.ts: src/authorization/oauth/exchange.ts → Date.now',
      { 'src/authorization/oauth/exchange.ts': 'Date.now()' },
    ],
    ['the time outside of lib/clock.ts: src/app.ts → new Date(', { 'src/app.ts': 'const at = new Date()' }],
    [
      'state of the process outside of Deps: src/ticketing/mtp/notice.ts → inFlight',
      {
        'src/ticketing/mtp/notice.ts':
          'const inFlight = new WeakMap<Db, Work>()\nconst begin = () => inFlight.set(db, work)',
      },
    ],
    [
      'state of the process outside of Deps: src/ticketing/mws/searches.ts → searches',
      {
        'src/ticketing/mws/searches.ts':
          'class Searches {}\n/** One for all. */\nexport const searches = new Searches()',
      },
    ],
    [
      'state of the process outside of Deps: src/platform/outbound/resolve.ts → turns',
      {
        'src/platform/outbound/resolve.ts':
          "import { Turns } from '../lib/turns.ts'\nconst turns = new Turns({ most: 1 })",
      },
    ],
    [
      `a door that is too wide: src/ticketing/orders/index.ts → ${MAX_NAMES + 1} names, ${MAX_NAMES} at most: let an operation carry its input (lib/json/input.ts), do in one what callers put together, or split it`,
      {
        'src/ticketing/orders/index.ts': `export type { A } from './a.ts'\nexport const b = 1\nexport { ${'c, '.repeat(MAX_NAMES - 1)} } from './c.ts'`,
      },
    ],
    [
      'a door that is too wide: src/ticketing/orders/index.ts → export *: name what others may use',
      { 'src/ticketing/orders/index.ts': "export * from './wire.ts'" },
    ],
    [
      'a path derived from the place of a source file: src/platform/lib/text.ts → const VIEWS = new URL("../../views", import.meta.url)',
      { 'src/platform/lib/text.ts': 'const VIEWS = new URL("../../views", import.meta.url)' },
    ],
    ['a file that is too long: src/app.ts → 301 lines', { 'src/app.ts': 'line\n'.repeat(301) }],
    [
      'a cycle: src/platform/lib/a.ts → src/platform/lib/b.ts → src/platform/lib/a.ts',
      { 'src/platform/lib/a.ts': "import './b.ts'", 'src/platform/lib/b.ts': "export { a } from './a.ts'" },
    ],
  ])('%s', (breach, sources) => {
    expect(breaches(sources)).toContain(breach)
  })

  it('but not for code that is allowed or appears only in comments', () => {
    expect(
      breaches({
        'src/authorization/oauth/routes.ts':
          "import type { FastifyInstance } from 'fastify'\nimport { exchange } from './exchange.ts'",
        'src/authorization/oauth/exchange.ts':
          "import { spend } from './store.ts'\nimport { user } from '../account/index.ts'",
        'src/authorization/oauth/store.ts': "import { sql } from '../db/sql.ts'\nsql`select 1`",
        'src/platform/lib/log.ts': '/** like process.env */\n// Date.now() and sql`x`\n/* new Date() */',
        'src/platform/config/index.ts': 'process.env',
        'src/platform/lib/clock.ts': 'new Date()',
        'src/authorization/oauth/known.ts':
          "/** Cache: of few. */\nconst known = new Map()\nknown.set('a', 1)\nconst NAMES = new Set(['a'])",
        'src/app.ts': 'line\n'.repeat(200),
      }),
    ).toEqual([])
  })
})

/** Acceptance tests see the service from outside: a real process, HTTP, its database. They must not depend on src/. */
describe('acceptance tests', () => {
  /** The one exception: it starts the PostgreSQL that is embedded in the service. */
  const POSTGRES = 'test/own-postgres.ts'

  /** `test/acceptance/a.ts → test/b.ts → src/c.ts`, one for each import of the app. */
  function importsOfTheApp(sources: Sources): string[] {
    const found: string[] = []
    const seen = new Set<string>()
    const visit = (path: string, trail: readonly string[]): void => {
      if (seen.has(path) || path === POSTGRES) return
      seen.add(path)
      for (const to of importsOf(path, sources[path] ?? '')) {
        if (to.startsWith('src/')) found.push([...trail, path, to].join(' → '))
        else visit(to, [...trail, path])
      }
    }
    for (const path of Object.keys(sources)) if (path.startsWith('test/acceptance/')) visit(path, [])
    return found
  }

  it('import nothing from src/, directly or indirectly', () => {
    expect(importsOfTheApp(sourcesBelow('test'))).toEqual([])
  })

  it('are reported if they do', () => {
    const sources = {
      'test/acceptance/a.test.ts': "import { b } from '../b.ts'\nimport { run } from '../own-postgres.ts'",
      'test/b.ts': "import type { C } from '../src/platform/lib/c.ts'",
      'test/own-postgres.ts': "import { run } from '../src/platform/db/run.ts'",
      'test/other.test.ts': "import { run } from '../src/platform/db/run.ts'",
    }
    expect(importsOfTheApp(sources)).toEqual(['test/acceptance/a.test.ts → test/b.ts → src/platform/lib/c.ts'])
  })
})
