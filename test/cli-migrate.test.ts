import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { gatehouse } from './cli-runner.ts'
import { freshDatabase, SECRET_KEY } from './harness.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let settings: Record<string, string>
beforeAll(async () => {
  database = await freshDatabase()
  settings = { DATABASE_URL: database.url, SECRET_KEY }
})
afterAll(() => database.drop())

async function emptyDatabase(): Promise<void> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('drop schema public cascade; create schema public').finally(() => client.end())
}

it('gatehouse migrate reports what it applied; before that, other commands say to run it', async () => {
  await emptyDatabase()
  expect(await gatehouse(settings, 'demo', 'remove')).toMatchObject({
    code: 1,
    stderr: 'the database has no tables yet: run npm run migrate, or set MIGRATE=on\n',
  })
  const first = await gatehouse(settings, 'migrate')
  expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^applied 0001_platform\napplied 0002_/) })
  const { stdout } = await gatehouse(settings, 'migrate', '--json')
  expect(JSON.parse(stdout)).toEqual({ applied: [] })
  expect(await gatehouse(settings, 'demo', 'remove')).toMatchObject({
    code: 0,
    stdout: 'this database contains nothing of the demo\n',
  })
})

it('npm run migrate does the same', async () => {
  await emptyDatabase()
  const environment = { env: { ...process.env, ...settings } }
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'migrate'], environment)
  expect(stdout).toContain('applied 0001_platform\n')
  expect(await gatehouse(settings, 'migrate')).toEqual({
    code: 0,
    stdout: 'nothing to apply: the schema is current\n',
    stderr: '',
  })
})
