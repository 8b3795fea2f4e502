import type { Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { type GatherMetrics, lastingOf, type ProcessMetrics, sumOf } from '../operations/metrics/index.ts'

/**
 * With HTTP_PROCESSES > 1 a scrape reaches one server process, which asks the primary process, which asks all that are
 * ready. Of one that does not answer in time the scrape has what it last counted; `gatehouse_processes` says how many
 * answered.
 */

/** From a server process: `askMetrics` requests the metrics of all processes; `ownMetrics` replies to a `metricsRequest`. */
export type MetricsFromServer =
  | { readonly askMetrics: number }
  | { readonly ownMetrics: ProcessMetrics; readonly id: number }
/** To a server process: the answer to `askMetrics`, or a request for its own metrics. */
export type MetricsToServer =
  | { readonly allMetrics: ProcessMetrics[]; readonly id: number }
  | { readonly metricsRequest: number }

/** The primary process stops waiting first, so that the one that asked it still gets the answers of the others. */
const [PROCESS_TIMEOUT_MS, PRIMARY_TIMEOUT_MS] = [1_000, 2_000]

type Own = () => Promise<ProcessMetrics>

/** Requests that await a reply, by number. */
function pendingReplies<Answer>(timeoutMs: number) {
  const pending = new Map<number, (answer: Answer) => void>()
  let last = 0
  return {
    /** Undefined if no answer came in time. */
    ask: async (send: (id: number) => void): Promise<Answer | undefined> => {
      const id = ++last
      const answered = new Promise<Answer>((resolve) => pending.set(id, resolve))
      send(id)
      const answer = await Promise.race([answered, sleep(timeoutMs, undefined, { ref: false })])
      pending.delete(id)
      return answer
    },
    answer: (id: number, answer: Answer) => pending.get(id)?.(answer),
  }
}

/** To a process that may just have ended. */
export function sendTo(child: Worker, message: MetricsToServer | string): void {
  if (child.isConnected()) child.send(message, () => {})
}

/** In the primary process. */
export class MetricsOfProcesses {
  readonly #own: Own
  /** What each process that is ready has last replied. */
  readonly #last = new Map<Worker, ProcessMetrics>()
  readonly #pending = pendingReplies<ProcessMetrics>(PROCESS_TIMEOUT_MS)
  /** Counts of processes that have ended: a sum must not decrease, or rates would be wrong. */
  #ended: ProcessMetrics = []
  #keeping = Promise.resolve()

  constructor(own: Own) {
    this.#own = own
  }

  add(child: Worker): void {
    child.on('message', (message: MetricsFromServer | 'ready') => {
      if (message === 'ready') this.#last.set(child, [])
      if (typeof message !== 'object') return
      if ('ownMetrics' in message) this.#pending.answer(message.id, message.ownMetrics)
      if ('askMetrics' in message) {
        void this.#gather().then((allMetrics) => sendTo(child, { allMetrics, id: message.askMetrics }))
      }
    })
    // One after the other: those that end at once must not overwrite each other's counts.
    child.once('exit', () => {
      this.#keeping = this.#keeping.then(() => this.#keep(child))
    })
  }

  async #keep(child: Worker): Promise<void> {
    const ended = await sumOf([this.#ended, lastingOf(this.#last.get(child) ?? [])]).getMetricsAsJSON()
    // At once, so that a scrape finds its counts in exactly one of the two.
    this.#last.delete(child)
    this.#ended = ended
  }

  async #gather(): Promise<ProcessMetrics[]> {
    const [own, ...ofChildren] = await Promise.all([
      this.#own(),
      ...[...this.#last.keys()].map(async (child) => {
        const metrics = await this.#pending.ask((metricsRequest) => sendTo(child, { metricsRequest }))
        if (metrics && this.#last.has(child)) this.#last.set(child, metrics)
        return () => (this.#last.has(child) ? (metrics ?? lastingOf(this.#last.get(child) ?? [])) : [])
      }),
    ])
    // Read together: a process that has ended since it replied is in the last one.
    return [own, ...ofChildren.map((metricsOf) => metricsOf()), this.#ended]
  }
}

/** In a server process: replies with its own metrics, and asks for those of all. */
export function metricsOfAll(own: Own): { readonly gather: GatherMetrics; take(message: MetricsToServer): void } {
  const pending = pendingReplies<ProcessMetrics[]>(PRIMARY_TIMEOUT_MS)
  const send = (message: MetricsFromServer) => process.send?.(message)
  return {
    gather: async () => (await pending.ask((askMetrics) => send({ askMetrics }))) ?? [await own()],
    take: (message) => {
      if ('allMetrics' in message) pending.answer(message.id, message.allMetrics)
      else void own().then((ownMetrics) => send({ ownMetrics, id: message.metricsRequest }))
    },
  }
}
