import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Strangers who open many connections at once and send the same text on each, regardless of responses. */
export interface Flood {
  readonly port: number
  readonly connections: number
  /** Sent on each connection once it is open, unless empty. */
  readonly text: string
  /** Whether the text is sent again after each response. */
  readonly again: boolean
  /** Milliseconds until a closed connection is reopened; undefined: never. */
  readonly reopenMs?: number | undefined
  readonly seconds: number
}

export interface FloodResult {
  readonly opened: number
  /** Closed by the service, or never opened. */
  readonly closed: number
  /** Numbers of responses by status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Open at the end. */
  readonly open: number
}

export async function flood(plan: Flood): Promise<FloodResult> {
  const { port, connections, text, again, reopenMs, seconds } = plan
  const statuses: Record<string, number> = {}
  const sockets = new Set<ReturnType<typeof connect>>()
  let [opened, closed, over] = [0, 0, false]
  const open = (): void => {
    if (over) return
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.setEncoding('latin1')
    socket.on('connect', () => {
      opened++
      sockets.add(socket)
      if (text !== '') socket.write(text)
    })
    socket.on('data', (received: string) => {
      for (const [, status = ''] of received.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
        statuses[status] = (statuses[status] ?? 0) + 1
        if (again) socket.write(text)
      }
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      if (over) return
      closed++
      if (reopenMs !== undefined) setTimeout(open, reopenMs)
    })
  }
  for (let n = 0; n < connections; n++) open()
  await sleep(seconds * 1000)
  over = true
  const result = { opened, closed, statuses, open: sockets.size }
  for (const socket of sockets) socket.destroy()
  return result
}
