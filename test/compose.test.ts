import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { settings } from '../src/settings.ts'

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

interface Service {
  readonly image?: string
  readonly build?: string
  readonly environment: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { condition: string }>>
  readonly healthcheck?: object
}
const compose = parse(read('docker-compose.yml')) as {
  services: Record<string, Service>
  volumes: Record<string, unknown>
}

describe('docker-compose.yml', () => {
  it('runs PostgreSQL 18 and the service, built from the Dockerfile here', () => {
    expect(compose.services.database?.image).toBe('postgres:18')
    expect(compose.services.gatehouse?.build).toBe('.')
    expect(existsSync(new URL('../Dockerfile', import.meta.url))).toBe(true)
  })

  it('names only what exists: settings, volumes, services', () => {
    const { gatehouse, database } = compose.services
    expect(Object.keys(gatehouse?.environment ?? {}).filter((name) => !(name in settings.shape))).toEqual([])
    expect(database?.volumes?.map((volume) => volume.split(':')[0])).toEqual(Object.keys(compose.volumes))
    for (const [name, { condition }] of Object.entries(gatehouse?.depends_on ?? {})) {
      expect(compose.services[name]?.healthcheck, condition).toBeDefined()
    }
  })

  it('gives the service the database as it is set up', () => {
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

describe('the Dockerfile', () => {
  it('copies only what exists, and runs as a user that is not root', () => {
    const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
      ([, list]) => list?.split(' ') ?? [],
    )
    expect(copied.length).toBeGreaterThan(5)
    for (const path of copied) expect(existsSync(new URL(`../${path}`, import.meta.url)), path).toBe(true)
    expect(read('Dockerfile')).toMatch(/^USER node$/m)
  })

  it('starts Node with the options of npm start', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const command = JSON.parse(/^CMD (\[.+\])$/m.exec(read('Dockerfile'))?.[1] ?? '[]')
    expect(`exec ${command.join(' ')}`).toBe(scripts.start)
  })
})
