import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROOT } from './tiers.ts'

/** `npm start` rebuilds only if something has changed since the last build, and never runs an outdated build. */

const PROGRAMS = ['main', 'worker', 'cli', 'migrate', 'demo-order', 'process/http-worker']
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-build-'))
const main = join(folder, 'src/main.ts')
const built = join(folder, '.build/main.js')

const build = (): Promise<{ ok: boolean; stdout: string; stderr: string; made: number }> =>
  new Promise((resolve) => {
    const env = { ...process.env, PATH: `${ROOT}/node_modules/.bin:${process.env.PATH}` }
    execFile(process.execPath, ['.bundle.js'], { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ ok: error === null, stdout, stderr, made: statSync(built).mtimeMs }),
    )
  })

beforeAll(() => {
  for (const name of ['.bundle.js', 'package.json', 'tsconfig.json']) cpSync(join(ROOT, name), join(folder, name))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const name of [...PROGRAMS, 'ticketing/mws/diagnose/search-worker']) {
    mkdirSync(dirname(join(folder, 'src', name)), { recursive: true })
    writeFileSync(join(folder, 'src', `${name}.ts`), `process.stdout.write('${name}')\n`)
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

it('rebuilds after any change, even to an older file, and otherwise not', async () => {
  const first = await build()
  expect(first.ok).toBe(true)
  expect((await build()).made).toBe(first.made)

  const source = readFileSync(main, 'utf8')
  writeFileSync(main, source.replace('main', 'changed'))
  const second = await build()
  expect(second.made).toBeGreaterThan(first.made)
  expect(readFileSync(built, 'utf8')).toContain('changed')

  rmSync(join(folder, '.build/worker.js'))
  const third = await build()
  expect(third.made).toBeGreaterThan(second.made)
  expect(statSync(join(folder, '.build/worker.js')).size).toBeGreaterThan(0)

  writeFileSync(main, `${source}export const wrong: number = 'text'\n`)
  for (let n = 0; n < 2; n++)
    expect(await build()).toMatchObject({ ok: false, stdout: expect.stringContaining('TS2322') })
  writeFileSync(main, source)
  expect((await build()).ok).toBe(true)
  expect(readFileSync(built, 'utf8')).toContain("'main'".replaceAll("'", '"'))
})

it('says how to install what NODE_ENV=production leaves out', async () => {
  rmSync(join(folder, 'node_modules'))
  writeFileSync(join(folder, 'src/new.ts'), '')
  expect(await build()).toMatchObject({ ok: false, stderr: expect.stringMatching(/^[^\n]*npm ci --include=dev\n$/) })
})
