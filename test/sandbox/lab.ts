import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { buildDemoPartner } from '../../src/demo/partner/index.ts'
import { formatHttpDate } from '../../src/platform/lib/crypto/signing.ts'
import { stringifyLossless } from '../../src/platform/lib/json/lossless.ts'
import { startStep } from '../../src/sandbox/certification/attempt.ts'
import { attemptsOf, eventsOfAttempt, findOpenAttempt } from '../../src/sandbox/certification/attempt-store.ts'
import type { RunEvent, Waiting } from '../../src/sandbox/certification/event.ts'
import { nextStep, showRun, startRun } from '../../src/sandbox/certification/run.ts'
import { stepsFor } from '../../src/sandbox/certification/steps/index.ts'
import type { Finding } from '../../src/sandbox/checks/checks.ts'
import { type Choice, choice } from '../../src/sandbox/test-plan/choice.ts'
import { setAesKey } from '../../src/ticketing/partners/aes-key.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { openWorld, type World } from '../harness.ts'
import { signedHeaders } from '../signer.ts'
import { until } from '../until.ts'
import { inEnglish } from './in-english.ts'

/** A platform and the demo partner, both listening, to walk through the sandbox. */
export interface Lab {
  readonly world: World
  readonly partnerId: bigint
  readonly secret: string
  /** Where the platform listens. */
  readonly url: string
  /** Where the demo partner listens. */
  readonly sellerUrl: string
  /** Calls the demo partner's control API. */
  control(action: string, input?: object): Promise<unknown>
  /** Sets the mistakes that the demo partner makes from now on. */
  mistakes(...names: string[]): Promise<void>
  /** Starts a run, by default with SIMPLE. */
  run(chosen?: object): Promise<string>
  /** Starts a step and waits until its attempt has ended. */
  runStep(runId: string, stepId: string, meanwhile?: () => Promise<unknown>): Promise<StepResult>
  /** Resolves with what the running attempt waits for, once that is something other than the pay notice. */
  awaited(runId: string): Promise<Waiting>
  /** Sends a notice as the partner, signed, leaving out these headers. */
  send(
    path: string,
    notice: object,
    without?: readonly string[],
  ): Promise<{ readonly code: number; readonly describe: string }>
  close(): Promise<void>
}

export interface StepResult {
  readonly outcome: string | null
  readonly events: readonly RunEvent[]
  /** Failed checks, with their details in English. */
  readonly failures: readonly Finding[]
}

export const SIMPLE = {
  functions: ['product-pull', 'pay-at-once', 'refund-at-once'],
  products: { main: 'DEMO-OPEN' },
}

export const simpleChoice = (): Choice => choice.parse(SIMPLE)

/** The steps of a run with SIMPLE, in order, so that tests need no change when a step is added. */
export const SIMPLE_STEPS: readonly string[] = stepsFor(simpleChoice()).map(({ id }) => id)

const PARTNER_ID = 7001n
const PAY = '/mtp/api/order/pay/notice'
const SECRET = 'a secret for the sandbox lab'
const AES_KEY = 'key for the lab.'

const CONTACTS = {
  product: { name: 'Product', mail: 'product@lab.example' },
  business: { name: 'Business', mail: 'business@lab.example' },
}

/** `fresh`: the partner has just been registered, without a URL or contacts. */
export async function openLab(environment: Record<string, string> = {}, { fresh = false } = {}): Promise<Lab> {
  const world = await openWorld({ DEMO: 'on', PARTNER_ADDRESS_ALLOW: '127.0.0.1', ...environment })
  const { deps, app, log } = world
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const seller = await buildDemoPartner({
    partnerId: String(PARTNER_ID),
    clientId: 'lab',
    clientSecret: SECRET,
    aesKey: AES_KEY,
    platformUrl: url,
    log: log as FastifyBaseLogger,
    now: deps.clock.now,
  })
  await seller.listen({ host: '127.0.0.1', port: 0 })
  const base_url = `http://127.0.0.1:${(seller.server.address() as AddressInfo).port}`
  const known = fresh ? {} : { base_url, contacts: CONTACTS }
  const partner = newPartner.parse({ partner_id: PARTNER_ID, client_id: 'lab', name: 'Lab', ...known })
  await createPartner(deps, partner, SECRET)
  await setAesKey(deps, PARTNER_ID, { aes_key: AES_KEY })

  const control: Lab['control'] = async (action, input) => {
    const init = input && {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(input, (_name, value) => (typeof value === 'bigint' ? String(value) : value)),
    }
    const answer = await fetch(`${base_url}/control/${action}`, init)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${action}: ${text}`)
    return JSON.parse(text)
  }

  const ended = async (runId: string, attemptId: string): Promise<StepResult> => {
    // Polling the database during a wait would be most of the cost of the step.
    await deps.runningAttempts.endOf(attemptId)
    for (;;) {
      const attempt = (await attemptsOf(deps.db, runId)).find(({ attempt_id }) => attempt_id === attemptId)
      if (attempt?.outcome) {
        const events = await eventsOfAttempt(deps.db, attemptId)
        const failures = events.flatMap(({ kind, data }) => (kind === 'check' && !data.passed ? [inEnglish(data)] : []))
        return { outcome: attempt.outcome, events, failures }
      }
      await sleep(20)
    }
  }

  return {
    world,
    partnerId: PARTNER_ID,
    secret: SECRET,
    url,
    sellerUrl: base_url,
    control,
    mistakes: async (...names) => {
      await control('mistakes', { mistakes: names })
    },
    run: async (chosen = SIMPLE) => (await startRun(deps, PARTNER_ID, choice.parse(chosen))).run_id,
    runStep: async (runId, stepId, meanwhile) => {
      // So that earlier notices belong to the previous attempt.
      world.clock.advance(1)
      const attemptId = await startStep(deps, log, { partnerId: PARTNER_ID, runId, stepId })
      await meanwhile?.()
      return ended(runId, attemptId)
    },
    awaited: (runId) =>
      until(async () => {
        const open = await findOpenAttempt(deps.db, runId)
        const events = open ? await eventsOfAttempt(deps.db, open.attempt_id) : []
        return events.flatMap(({ kind, data }) => (kind === 'waiting' && data.path !== PAY ? [data] : [])).at(-1)
      }),
    send: async (path, notice, without = []) => {
      const caller = { clientId: 'lab', partnerId: String(PARTNER_ID), clientSecret: SECRET }
      const signed = signedHeaders(caller, { path, date: formatHttpDate(deps.clock.now()) })
      const headers = Object.entries(signed).filter(([name]) => !without.includes(name))
      const answer = await fetch(url + path, {
        method: 'POST',
        headers,
        body: stringifyLossless(notice),
      })
      return (await answer.json()) as { code: number; describe: string }
    },
    close: async () => {
      await world.close()
      await seller.close()
    },
  }
}

/** Runs every step before this one, all of which have to pass, and moves on to it. */
export async function walkTo(lab: Lab, runId: string, stepId: string): Promise<void> {
  const { deps } = lab.world
  for (;;) {
    const { current } = await showRun(deps, lab.partnerId, runId)
    if (!current) throw new Error(`the run has no step ${stepId}`)
    const { id } = current.step
    if (id === stepId) return
    const result = await lab.runStep(runId, id)
    if (result.outcome !== 'passed') throw new Error(`${id}: ${JSON.stringify(result.failures)}`)
    await nextStep(deps, lab.partnerId, runId, id)
  }
}
