import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { ROOT } from '../root.ts'

const OWN = fileURLToPath(new URL('views/assets', ROOT))
const require = createRequire(import.meta.url)

/** Pico's style sheet, and Inter, which gatehouse.css refers to with its version. */
const PACKAGED = [
  require.resolve('@picocss/pico/css/pico.classless.min.css'),
  require.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'),
  require.resolve('@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2'),
]

/** Returns the function that gives the URL of a file; its version is a digest of all files, so browsers may cache them. */
export async function serveAssets(app: FastifyInstance): Promise<(name: string) => string> {
  const own = readdirSync(OWN).sort()
  const digest = createHash('sha256')
  for (const path of PACKAGED) digest.update(readFileSync(path))
  for (const name of own) digest.update(name).update(readFileSync(`${OWN}/${name}`))
  const version = digest.digest('hex').slice(0, 8)
  const served = new Set([...own, ...PACKAGED.map((path) => basename(path))].map((name) => `/${name}`))
  await app.register(fastifyStatic, {
    root: [OWN, ...new Set(PACKAGED.map(dirname))],
    prefix: '/assets/',
    decorateReply: false,
    index: false,
    allowedPath: (path) => served.has(path),
    maxAge: '365d',
    immutable: true,
    setHeaders: (answer) => {
      answer.setHeader('X-Content-Type-Options', 'nosniff')
    },
  })
  return (name) => {
    if (!served.has(`/${name}`)) throw new Error(`no asset ${name}`)
    return `/assets/${name}?v=${version}`
  }
}
