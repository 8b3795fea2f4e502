import { readFileSync } from 'node:fs'
import { Deployment } from 'kubernetes-models/apps/v1'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import { Job } from 'kubernetes-models/batch/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Secret, Service } from 'kubernetes-models/v1'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { longestShutdown, readConfig } from '../src/platform/config/index.ts'
import { settings } from '../src/platform/config/schema.ts'
import { SECRET_KEY } from './secrets.ts'

/** Checks kubernetes.yml against the schemas that Kubernetes publishes and against the needs of this service. */

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
const documents = parseAllDocuments(read('kubernetes.yml'))
const manifests = documents.map((document) => document.toJS())
const KINDS = { Secret, Job, Deployment, Service, PodDisruptionBudget, HorizontalPodAutoscaler }
const ofKind = (kind: keyof typeof KINDS) => manifests.find((manifest) => manifest.kind === kind)

const deployment = ofKind('Deployment')
const [container] = deployment.spec.template.spec.containers
const [migration] = ofKind('Job').spec.template.spec.containers
const autoscaler = ofKind('HorizontalPodAutoscaler').spec

/** The paths of all values below this one. */
const pathsIn = (value: unknown, path = ''): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => [`${path}/${name}`, ...pathsIn(inner, `${path}/${name}`)])
    : []

/** Records which paths the validator reads: it ignores fields that the schemas do not know, and so never reads them. */
function watched<T>(value: T, readPaths: Set<string>, path = ''): T {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get: (target, name) => {
      if (typeof name === 'string') readPaths.add(`${path}/${name}`)
      return watched(Reflect.get(target, name), readPaths, `${path}/${String(name)}`)
    },
  })
}

function problemsOf(manifest: Record<string, unknown>): string[] {
  const readPaths = new Set<string>()
  const Kind = KINDS[manifest.kind as keyof typeof KINDS]
  try {
    Kind.prototype.validate.call(watched(manifest, readPaths) as never)
  } catch (error) {
    return [(error as Error).message]
  }
  return pathsIn(manifest).filter((path) => !readPaths.has(path))
}

const settingsOf = ({ env = [] }: { env?: { name: string; value: string }[] }): Record<string, string> => ({
  ...ofKind('Secret').stringData,
  ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
})
const config = readConfig({
  NODE_ENV: 'production',
  ...settingsOf(container),
  SECRET_KEY,
  DATABASE_URL: 'postgres://a:b@db/gatehouse',
})

describe('the manifests', () => {
  it('match their schemas and have no unknown fields', () => {
    expect(manifests.map(problemsOf)).toEqual(manifests.map(() => []))
    expect(new Set(manifests.map(({ kind }) => kind))).toEqual(new Set(Object.keys(KINDS)))
  })

  it.each([
    ['a wrong type', (spec: Record<string, unknown>) => ({ ...spec, paused: 'no' }), /paused/],
    ['an unknown field', (spec: Record<string, unknown>) => ({ ...spec, replica: 2 }), /\/spec\/replica/],
  ])('are checked: %s is found', (_what, changed, problem) => {
    expect(problemsOf({ ...deployment, spec: changed(deployment.spec) }).join()).toMatch(problem)
  })

  it('select the pods of the Deployment', () => {
    const { labels } = deployment.spec.template.metadata
    const selectors = [deployment.spec.selector.matchLabels, ofKind('Service').spec.selector]
    for (const selector of [...selectors, ofKind('PodDisruptionBudget').spec.selector.matchLabels]) {
      expect(labels).toMatchObject(selector)
    }
    expect(autoscaler.scaleTargetRef).toMatchObject({ kind: 'Deployment', name: deployment.metadata.name })
  })
})

it('the migration has every setting that production demands', () => {
  const given = { SECRET_KEY, DATABASE_URL: 'postgres://a:b@db/gatehouse' }
  expect(() => readConfig({ NODE_ENV: 'production', ...settingsOf(migration), ...given })).not.toThrow()
})

describe('the pods', () => {
  it('get only existing settings, and do not start if the Secret is left empty', () => {
    expect(Object.keys(settingsOf(container)).filter((name) => !(name in settings.shape))).toEqual([])
    expect(() => readConfig({ NODE_ENV: 'production', ...settingsOf(container) })).toThrow(/SECRET_KEY/)
  })

  it('have time to shut down before they are killed', () => {
    const { terminationGracePeriodSeconds: grace } = deployment.spec.template.spec
    const { service: longest } = longestShutdown(config)
    expect(grace).toBeGreaterThanOrEqual(longest)
    expect(grace).toBeLessThan(longest + 20)
  })

  it('are probed at HEALTH_PORT, and may start for longer than DATABASE_WAIT_S', () => {
    const { startupProbe, readinessProbe, livenessProbe, ports } = container
    const health = ports.find(({ name }: { name: string }) => name === 'health').containerPort
    expect(health).toBe(config.HEALTH_PORT)
    expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'health' })
    for (const { httpGet } of [startupProbe, livenessProbe])
      expect(httpGet).toEqual({ path: '/healthz', port: 'health' })
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThan(config.DATABASE_WAIT_S)
  })

  it('run as a user without privileges, on a read-only file system', () => {
    for (const { securityContext } of [container, migration]) {
      expect(securityContext).toMatchObject({
        runAsNonRoot: true,
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
  })

  it('leave migrations to the Job, which runs the same image', () => {
    expect(config.MIGRATE).toBe(false)
    expect(migration.image).toBe(container.image)
    const { version, scripts } = JSON.parse(read('package.json'))
    expect(container.image).toMatch(new RegExp(`:${version}$`))
    expect(ofKind('Job').metadata.name).toContain(version)
    expect(scripts.migrate.split(' ').at(-1)).toBe(migration.command.at(-1))
  })

  it('are scaled by requests in progress, well before any is rejected', () => {
    const [{ pods }] = autoscaler.metrics
    expect(read('.github/dashboard.json')).toContain(pods.metric.name)
    expect(Number(pods.target.averageValue)).toBeLessThan(config.MAX_REQUESTS / 2)
    expect(autoscaler.minReplicas).toBeGreaterThan(ofKind('PodDisruptionBudget').spec.maxUnavailable)
  })
})
