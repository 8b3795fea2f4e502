import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { longestShutdown, readConfig } from '../src/platform/config/index.ts'
import { settings } from '../src/platform/config/schema.ts'
import { SECRET_KEY } from './secrets.ts'

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

interface Service {
  readonly image?: string
  readonly build?: string
  readonly environment: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { condition: string }>>
  readonly healthcheck?: object
  readonly ports?: readonly string[]
  readonly user?: string
  readonly restart?: string
  readonly stop_grace_period?: string
  readonly read_only?: boolean
  readonly tmpfs?: readonly string[]
  readonly cap_drop?: readonly string[]
  readonly cap_add?: readonly string[]
  readonly privileged?: boolean
  readonly security_opt?: readonly string[]
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}
const compose: Compose = parse(read('docker-compose.yml'))
const citus: Compose = parse(read('docker-compose.citus.yml'), { merge: true })

describe('docker-compose.yml', () => {
  it('runs PostgreSQL 18 and the service, built from the Dockerfile here', () => {
    expect(compose.services.database?.image).toBe('postgres:18')
    expect(compose.services.gatehouse?.build).toBe('.')
    expect(existsSync(new URL('../Dockerfile', import.meta.url))).toBe(true)
  })

  it('names only existing settings, volumes and services', () => {
    const { gatehouse, database } = compose.services
    expect(Object.keys(gatehouse?.environment ?? {}).filter((name) => !(name in settings.shape))).toEqual([])
    const volumes = [database, gatehouse].flatMap((service) => service?.volumes ?? [])
    expect(volumes.map((volume) => volume.split(':')[0])).toEqual(Object.keys(compose.volumes))
    for (const [name, { condition }] of Object.entries(gatehouse?.depends_on ?? {})) {
      expect(compose.services[name]?.healthcheck, condition).toBeDefined()
    }
  })

  it('passes on the settings for addresses, mail, the proxy and partners', () => {
    const { environment = {} } = compose.services.gatehouse ?? {}
    const ofPartners = Object.keys(settings.shape).filter((name) => name.startsWith('PARTNER_'))
    const wanted = [...ofPartners, 'PUBLIC_URL', 'API_URL', 'TRUST_PROXY', 'SMTP_URL', 'MAIL_FROM']
    const passedOn = wanted.filter((name) => environment[name]?.startsWith(`\${${name}:`))
    expect(passedOn).toEqual(wanted)
  })

  it('restarts both containers after a failure, and works without the optional settings', () => {
    for (const { restart } of Object.values(compose.services)) expect(restart).toBe('unless-stopped')
    const leftOut = Object.entries(compose.services.gatehouse?.environment ?? {}).map(([name, value]) => [
      name,
      value
        .replace(/^\$\{\w+:-\}$/, '')
        .replace(/^\$\{SECRET_KEY.*/, SECRET_KEY)
        .replace(/^\$\{PUBLIC_URL:.*/, 'https://gate.example'),
    ])
    const config = readConfig({ NODE_ENV: 'production', ...Object.fromEntries(leftOut) })
    expect([config.PUBLIC_URL, config.SMTP_URL]).toEqual(['https://gate.example', undefined])
  })

  it('gives the process the time to end by itself', () => {
    const config = readConfig({
      ...{ NODE_ENV: 'production', SECRET_KEY, PUBLIC_URL: 'https://gate.example', DATABASE_URL: 'postgres://x/x' },
    })
    for (const { services } of [compose, citus]) {
      const grace = Number(/^(\d+)s$/.exec(services.gatehouse?.stop_grace_period ?? '')?.[1])
      expect(grace).toBeGreaterThan(longestShutdown(config).service)
    }
  })

  it('gives the service the credentials of the database', () => {
    const { environment = {} } = compose.services.database ?? {}
    const url = new URL(compose.services.gatehouse?.environment.DATABASE_URL ?? '')
    expect([url.hostname, url.username, url.password, url.pathname]).toEqual([
      'database',
      environment.POSTGRES_USER,
      environment.POSTGRES_PASSWORD,
      `/${environment.POSTGRES_DB}`,
    ])
  })
})

describe('docker-compose.citus.yml', () => {
  const { gatehouse, nodes, ...databases } = citus.services

  it('runs a coordinator and two workers from the image of .ci/citus, and joins them before the service starts', () => {
    expect(Object.keys(databases)).toEqual(['coordinator', 'worker-1', 'worker-2'])
    const [, image] = /^image=(\S+)$/m.exec(read('.ci/citus')) ?? []
    for (const service of [...Object.values(databases), nodes]) expect(service?.image).toBe(image)
    for (const name of Object.keys(databases)) {
      expect(nodes?.depends_on?.[name]).toEqual({ condition: 'service_healthy' })
      expect(JSON.stringify(nodes)).toContain(`'${name}'`)
    }
    expect(gatehouse?.depends_on).toEqual({ nodes: { condition: 'service_completed_successfully' } })
  })

  it('gives the service the settings of docker-compose.yml, the URL of the coordinator, and shards', () => {
    const { DATABASE_URL = '', SHARDS, ...settings } = gatehouse?.environment ?? {}
    const { DATABASE_URL: _, ...usual } = compose.services.gatehouse?.environment ?? {}
    expect(settings).toEqual(usual)
    const { environment: node = {} } = databases.coordinator ?? {}
    const url = new URL(DATABASE_URL)
    expect([url.hostname, url.username, url.password, url.pathname]).toEqual([
      'coordinator',
      node.POSTGRES_USER,
      node.POSTGRES_PASSWORD,
      `/${node.POSTGRES_DB}`,
    ])
    expect(readConfig({ NODE_ENV: 'test', SECRET_KEY, DATABASE_URL, SHARDS: String(SHARDS) }).SHARDS).toBeGreaterThan(1)
  })

  it('names only existing volumes, and restarts all containers after a failure except the one-time task', () => {
    const volumes = Object.values(citus.services).flatMap((service) => service.volumes ?? [])
    expect(volumes.map((volume) => volume.split(':')[0])).toEqual(Object.keys(citus.volumes))
    for (const [name, { restart }] of Object.entries(citus.services))
      expect(restart).toBe(name === 'nodes' ? 'no' : 'unless-stopped')
  })
})

const containers = [...Object.entries(compose.services), ...Object.entries(citus.services)]
describe.each(containers)('the container of %s', (name, service) => {
  it('has no capabilities, can gain none, and writes only to its volumes and to memory', () => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    expect([service.cap_add, service.privileged]).toEqual([undefined, undefined])
    expect(service.volumes ?? []).toHaveLength(name === 'nodes' ? 0 : 1)
    expect(service.tmpfs).toContain('/tmp')
  })

  it('does not run as root', () => {
    const user = service.build ? /^USER (\S+)$/m.exec(read('Dockerfile'))?.[1] : service.user
    expect(user).toMatch(/^(node|postgres)$/)
  })

  it('can be reached only from this machine', () => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
  })
})

describe('npx gatehouse in the image', () => {
  const ROOT = fileURLToPath(new URL('..', import.meta.url))
  const image = mkdtempSync(join(tmpdir(), 'gatehouse-image-'))
  afterAll(() => rmSync(image, { recursive: true, force: true }))

  it('runs at once, without building or installing anything', () => {
    cpSync(join(ROOT, 'package.json'), join(image, 'package.json'))
    mkdirSync(join(image, 'node_modules/.bin'), { recursive: true })
    symlinkSync(join(ROOT, '.build'), join(image, '.build'))
    // The very step of the Dockerfile that prepares it, but without node_modules, which would take a minute.
    const step = /^RUN (npm pkg .+)$/m.exec(read('Dockerfile'))?.[1] ?? 'true'
    const { PATH = '' } = process.env
    const env = {
      PATH,
      NODE_ENV: 'production',
      HOME: image,
      NPM_CONFIG_CACHE: join(image, 'cache'),
      NPM_CONFIG_UPDATE_NOTIFIER: 'false',
    }
    const inImage = (command: string) =>
      execFileSync('sh', ['-c', command], { cwd: image, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    inImage(step)
    expect(inImage('npx gatehouse jsticket abc')).toMatch(/^[0-9a-f]{32}\n$/)
    expect(existsSync(join(image, 'cache/_npx'))).toBe(false)
  })
})

describe('the Dockerfile', () => {
  it('checks the health on HEALTH_PORT, where no caller can delay the response', () => {
    const { HEALTH_PORT } = readConfig({ HEALTH_PORT: /\bHEALTH_PORT=(\d+)/.exec(read('Dockerfile'))?.[1] })
    expect(HEALTH_PORT).toBeDefined()
    const [, check] = /^HEALTHCHECK .*\n +CMD (\[.+\])$/m.exec(read('Dockerfile')) ?? []
    expect(JSON.parse(check ?? '[]').at(-1)).toContain("'http://127.0.0.1:' + process.env.HEALTH_PORT + '/readyz'")
  })

  it('copies only existing files, and does not run as root', () => {
    const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
      ([, list]) => list?.split(' ') ?? [],
    )
    expect(copied.length).toBeGreaterThan(5)
    for (const path of copied) expect(existsSync(new URL(`../${path}`, import.meta.url)), path).toBe(true)
    expect(read('Dockerfile')).toMatch(/^USER node$/m)
  })

  it('starts Node with the same options as npm start', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const command = JSON.parse(/^CMD (\[.+\])$/m.exec(read('Dockerfile'))?.[1] ?? '[]')
    expect(`exec ${command.join(' ')}`).toBe(scripts.start)
  })
})
