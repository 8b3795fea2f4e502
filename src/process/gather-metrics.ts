import type { Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { type GatherMetrics, lastingOf, type ProcessMetrics, sumOf } from '../operations/metrics/index.ts'

/**
 * With HTTP_PROCESSES > 1 a scrape reaches one server process, which asks the primary process, which asks them all. A
 * process that does not answer in time is missing from the scrape: `gatehouse_processes` says how many there were.
 */

/** From a server process: `askMetrics` requests the metrics of all processes; `ownMetrics` replies to a `metricsRequest`. */
export type MetricsFromServer =
  | { readonly askMetrics: number }
  | { readonly ownMetrics: ProcessMetrics; readonly id: number }
/** To a server process: the answer to `askMetrics`, or a request for its own metrics. */
export type MetricsToServer =
  | { readonly allMetrics: ProcessMetrics[]; readonly id: number }
  | { readonly metricsRequest: number }

const REPLY_TIMEOUT_MS = 2_000

type Own = () => Promise<ProcessMetrics>

/** Requests that await a reply, by number. */
class PendingReplies<Answer> {
  readonly #pending = new Map<number, (answer: Answer) => void>()
  #last = 0

  /** Undefined if no answer came in time. */
  async ask(send: (id: number) => void): Promise<Answer | undefined> {
    const id = ++this.#last
    const answered = new Promise<Answer>((resolve) => this.#pending.set(id, resolve))
    send(id)
    const answer = await Promise.race([answered, sleep(REPLY_TIMEOUT_MS, undefined, { ref: false })])
    this.#pending.delete(id)
    return answer ?? undefined
  }

  answer(id: number, answer: Answer): void {
    this.#pending.get(id)?.(answer)
  }
}

/** In the primary process. */
export class MetricsOfProcesses {
  readonly #own: Own
  readonly #last = new Map<Worker, ProcessMetrics>()
  readonly #pending = new PendingReplies<ProcessMetrics>()
  /** Counts of processes that have ended: a sum must not decrease, or rates would be wrong. */
  #ended: ProcessMetrics = []

  constructor(own: Own) {
    this.#own = own
  }

  add(child: Worker): void {
    const send = (message: MetricsToServer) => {
      if (child.isConnected()) child.send(message, () => {})
    }
    this.#last.set(child, [])
    child.on('message', (message: MetricsFromServer) => {
      if (typeof message !== 'object') return
      if ('ownMetrics' in message) this.#pending.answer(message.id, message.ownMetrics)
      if ('askMetrics' in message) {
        void this.#gather().then((allMetrics) => send({ allMetrics, id: message.askMetrics }))
      }
    })
    child.once('exit', () => void this.#keep(child))
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
        const metrics = await this.#pending.ask((metricsRequest) => {
          if (child.isConnected()) child.send({ metricsRequest } satisfies MetricsToServer, () => {})
        })
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
  const pending = new PendingReplies<ProcessMetrics[]>()
  const send = (message: MetricsFromServer) => process.send?.(message)
  return {
    gather: async () => (await pending.ask((askMetrics) => send({ askMetrics }))) ?? [await own()],
    take: (message) => {
      if ('allMetrics' in message) pending.answer(message.id, message.allMetrics)
      else void own().then((ownMetrics) => send({ ownMetrics, id: message.metricsRequest }))
    },
  }
}
