import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { buildApp } from '../src/app.ts'
import { checkSecretKey, databaseState } from '../src/platform/db/installation.ts'
import { openDatabase } from '../src/platform/db/open-database.ts'
import { deriveKeys } from '../src/platform/lib/crypto/keys.ts'
import { TEMPLATE } from './database.ts'
import { openWorld, SECRET_KEY, type World } from './harness.ts'
import { shardsOf } from './one-table.ts'
import { SHORT_LIVED } from './start-options.ts'

/** `/readyz` reports the real state, even if the database is read-only, its disk full, or its SECRET_KEY another one. */

async function world(): Promise<World> {
  const opened = await openWorld()
  onTestFinished(() => opened.close())
  await checkSecretKey(opened.deps)
  return opened
}
const readyz = async ({ app }: Pick<World, 'app'>) => {
  const answer = await app.inject('/readyz')
  return [answer.statusCode, answer.json().status]
}
const linesWith = (opened: World, text: string) =>
  opened
    .logged()
    .split('\n')
    .filter((line) => line.includes(text))

const asAdmin = async (...statements: string[]) => {
  const client = new pg.Client({ connectionString: inject('serverUrl') })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}
const nameOf = ({ databaseUrl }: World) => new URL(databaseUrl).pathname.slice(1)
/** As after a failover: the service has to open new connections. */
const endSessions = (opened: World) =>
  asAdmin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${nameOf(opened)}'`)

it('is not ready while the database is read-only, and answers a write with 503 and Retry-After', async () => {
  const opened = await world()
  expect(await readyz(opened)).toEqual([200, 'ok'])
  await asAdmin(`alter database ${nameOf(opened)} set default_transaction_read_only = on`)
  await endSessions(opened)
  await expect.poll(() => readyz(opened)).toEqual([503, 'read-only'])
  await readyz(opened)
  expect(linesWith(opened, 'not ready').length).toBeLessThanOrEqual(2) // "unreachable" may have come first
  expect(linesWith(opened, '"reason":"read-only"')).toHaveLength(1)
  const answer = await opened.app.inject({
    method: 'POST',
    url: '/admin/v1/apps',
    headers: { authorization: `Bearer ${opened.deps.config.ADMIN_TOKEN}` },
    payload: { name: 'x', hosts: ['example.com'], scopes: ['USER_INFO'] },
  })
  expect([answer.statusCode, Number(answer.headers['retry-after']) > 0]).toEqual([503, true])
  await asAdmin(`alter database ${nameOf(opened)} reset default_transaction_read_only`)
  await expect.poll(() => readyz(opened)).toEqual([200, 'ok'])
  expect(linesWith(opened, 'ready again')).not.toHaveLength(0)
})

it('reports within two seconds that the database does not answer, with one query for all callers', async () => {
  const opened = await world()
  let asked = 0
  const silent = { ...opened.deps.db, many: () => new Promise<never>(() => asked++) }
  const state = databaseState(silent, opened.deps.keys)
  const silence = { status: 'unreachable', why: 'it does not answer within 2 s' }
  expect(await Promise.all([state(), state(), state()])).toEqual([silence, silence, silence])
  expect(await state()).toEqual(silence)
  expect(asked).toBe(1)
})

it('shows the error of the database to operators and in the log; others see only the status', async () => {
  const opened = await world()
  const asked = (authorization: string) => opened.app.inject({ url: '/readyz', headers: { authorization } })
  const admin = `Bearer ${opened.deps.config.ADMIN_TOKEN}`
  expect((await asked(admin)).json()).toEqual({ status: 'ok' })
  await asAdmin(`alter database ${nameOf(opened)} allow_connections false`)
  await endSessions(opened)
  await expect.poll(async () => (await asked(admin)).json().why).toContain('not currently accepting connections')
  expect((await asked(admin)).json().status).toBe('unreachable')
  for (const stranger of ['', 'Bearer another'])
    expect((await asked(stranger)).json()).toEqual({ status: 'unreachable' })
  expect(linesWith(opened, 'not ready').join('')).toMatch(/"reason":"unreachable","why":"/)
  await asAdmin(`alter database ${nameOf(opened)} allow_connections true`)
  await expect.poll(() => readyz(opened)).toEqual([200, 'ok'])
  await opened.pool.query("delete from migration where name like '0005%'")
  expect((await asked(admin)).json()).toEqual({ status: 'migrations pending', why: '0005_operations' })
})

it('is not ready if the database belongs to another SECRET_KEY', async () => {
  const opened = await world()
  await opened.pool.query("update installation set secret_key_fingerprint = 'another'")
  expect(await readyz(opened)).toEqual([503, 'another SECRET_KEY'])
  expect(await readyz(opened)).toEqual([503, 'another SECRET_KEY'])
  expect(linesWith(opened, '"reason":"another SECRET_KEY"')).toHaveLength(1)
})

it('if several keys start on a new database at once, one wins and all others are rejected', async () => {
  const opened = await openWorld()
  onTestFinished(() => opened.close())
  const starts = Array.from({ length: 8 }, (_, n) => ({ db: opened.deps.db, keys: deriveKeys(`${SECRET_KEY} ${n}`) }))
  const outcomes = await Promise.allSettled(starts.map(checkSecretKey))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const { db, keys } of starts.filter((_, n) => outcomes[n]?.status === 'rejected')) {
    await expect(checkSecretKey({ db, keys })).rejects.toThrow('this database was made with another SECRET_KEY')
  }
})

describe('with another SECRET_KEY', () => {
  let opened: World
  beforeAll(async () => {
    opened = await openWorld()
    await checkSecretKey(opened.deps)
    return () => opened.close()
  })

  it.each([['.build/main.js'], ['.build/worker.js'], ['.build/cli.js', 'demo', 'remove']])(
    '%s ends with an explanation',
    (...program) => {
      const key = 'another secret key, as long as it has to be'
      const { status, stderr } = spawnSync(process.execPath, [...SHORT_LIVED, ...program], {
        cwd: new URL('..', import.meta.url).pathname,
        env: {
          PATH: process.env.PATH,
          DATABASE_URL: opened.databaseUrl,
          ...shardsOf({ DATABASE_URL: opened.databaseUrl }),
          SECRET_KEY: key,
          PORT: '0',
          LOG_LEVEL: 'error',
        },
        encoding: 'utf8',
      })
      expect(stderr).toMatch(/this database was made with another SECRET_KEY/)
      expect(stderr).not.toContain(key)
      expect(status).toBe(1)
    },
  )
})

/** A file system of 64 MB; undefined unless run as root with the right to mount. */
function smallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-disk-'))
  if (process.getuid?.() !== 0 || spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'small', folder]).status !== 0) {
    rmSync(folder, { recursive: true })
    return undefined
  }
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true })
  })
  chmodSync(folder, 0o755)
  return folder
}

it('is not ready while the disk of the database is full', async (context) => {
  const disk = smallDisk()
  if (disk === undefined) {
    process.stderr.write('SKIPPED: readiness on a full disk, which needs root and mount\n')
    return context.skip()
  }
  const opened = await world()
  const [name, place] = [`${nameOf(opened)}_full`, join(disk, 'data')]
  mkdirSync(place)
  chownSync(place, 65_534, 65_534)
  await asAdmin(
    `create tablespace ${name} location '${place}'`,
    `create database ${name} template ${TEMPLATE} tablespace ${name}`,
  )
  const url = new URL(opened.databaseUrl)
  url.pathname = name
  const { SHARDS: shards } = opened.deps.config
  const { db, close } = openDatabase({ connectionString: url.href, size: 2 }, opened.log, { shards })
  const deps = { ...opened.deps, db }
  const app = await buildApp({ deps, log: opened.log, readiness: { draining: false } })
  try {
    expect(await readyz({ app })).toEqual([200, 'ok'])
    const filler = join(disk, 'filler')
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k'])
    await expect.poll(() => readyz({ app })).toEqual([503, 'disk full'])
    writeFileSync(filler, '')
    await expect.poll(() => readyz({ app })).toEqual([200, 'ok'])
  } finally {
    await app.close()
    await close()
    await asAdmin(`drop database ${name} with (force)`, `drop tablespace ${name}`)
  }
})
