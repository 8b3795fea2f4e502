import { type ClientRequest, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** A log line as the stream sends it. */
interface Heard {
  readonly id: number
  readonly html: string
  readonly state: { readonly kind: string; readonly step: string; readonly attempt: string }
  /** `performance.now()` of its arrival. */
  readonly at: number
}

/** An open stream of log lines, over real HTTP. */
export interface Listener {
  readonly status: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly heard: Heard[]
  /** The server has ended the stream. */
  readonly ended: boolean
  until(done: (heard: readonly Heard[]) => boolean): Promise<void>
  /** Cuts the connection, as a lost network does. */
  cut(): void
}

const TIMEOUT_MS = 300_000

export function listen(url: string, headers: Record<string, string>): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const heard: Heard[] = []
    let ended = false
    const outgoing: ClientRequest = request(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      let rest = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const blocks = (rest + chunk).split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) {
          const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)))
          if (fields.id) heard.push({ id: Number(fields.id), ...JSON.parse(fields.data), at: performance.now() })
        }
      })
      response.on('close', () => {
        ended = true
      })
      response.on('error', () => {})
      const until: Listener['until'] = async (done) => {
        const end = performance.now() + TIMEOUT_MS
        while (!done(heard)) {
          if (performance.now() > end) throw new Error(`heard only ${JSON.stringify(heard.map(({ state }) => state))}`)
          await sleep(5)
        }
      }
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        heard,
        get ended() {
          return ended
        },
        until,
        cut: () => outgoing.destroy(),
      })
    })
    outgoing.end()
  })
}
