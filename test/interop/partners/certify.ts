import type { Json, PartnerProgram } from './program.ts'

/**
 * Walks a partner's program through the sandbox, over the headless API and nothing else
 * (src/sandbox/portal/api/README.md).
 */

interface Event {
  readonly kind: string
  readonly data: Json
}
export interface Certified {
  /** Whether the integration was accepted. */
  readonly passed: boolean
  /** The step that failed, if one did, and its checks that failed. */
  readonly step?: string
  readonly failures: readonly Json[]
  /** Failed checks that are only warnings. */
  readonly warnings: readonly string[]
}

const person = (name: string) => ({ name, mail: `${name.toLowerCase()}@partner.example` })

/** What `certify` needs of a program. */
export type Walker = Pick<
  PartnerProgram,
  'platformUrl' | 'headers' | 'functions' | 'products' | 'runOptions' | 'onWait'
>

export async function certify(program: Walker): Promise<Certified> {
  const call = async (method: string, path: string, body?: Json): Promise<Json> => {
    const url = new URL(`${program.platformUrl}/sandbox/api${path}`)
    const headers = program.headers(url.pathname, method)
    const answer = await fetch(url, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    const json = (await answer.json()) as Json
    if (json.code !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(json)}`)
    return json
  }
  const [product, business] = [person('Product'), person('Business')]
  await call('POST', '/contacts', { body: { product, business } })
  const options = { functions: program.functions, products: { main: program.products[0] }, ...program.runOptions }
  const begun = await call('POST', '/runs', { overwrite: true, body: options })
  const steps = (begun.run as { steps: { id: string }[] }).steps.map(({ id }) => id)
  const warnings: string[] = []
  let after = 0
  for (const step of steps) {
    await call('POST', `/runs/present/steps/${step}/start`)
    const failures: Json[] = []
    let outcome: unknown
    while (outcome === undefined) {
      const { events, last_seq } = await call('GET', `/runs/present/events?after=${after}&wait=10`)
      after = Number(last_seq)
      for (const { kind, data } of events as Event[]) {
        if (kind === 'waiting') {
          const notified = program.onWait(String(data.path), data.about as Record<string, string>)
          void notified.catch((error: Error) => failures.push({ id: 'notice', actual: error.message }))
        }
        if (kind === 'check' && data.passed === false) failures.push(data)
        if (kind === 'ended') outcome = data.outcome
      }
    }
    if (outcome !== 'passed') return { passed: false, step, failures, warnings }
    warnings.push(...failures.map(({ id }) => String(id)))
    await call('POST', `/runs/present/steps/${step}/next`)
  }
  const accepted = await call('POST', '/runs/present/accept')
  return { passed: accepted.passed === true, failures: [], warnings }
}
