import { connect, type Socket } from 'node:net'

/** HTTP as raw bytes, for requests that libraries refuse to send. */

export interface RawRequest {
  readonly method: string
  readonly target: string
  /** Sent in this order, as they are. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
  /** The request violates HTTP. */
  readonly malformed: boolean
}

export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

const ANSWER_WITHIN_MS = 120_000
/** The service reads this much of a refused body, so that its answer arrives, and then closes the connection. */
const READ_AT_MOST = 4 * 1_048_576

/** Whether the server may close the connection, even without an answer. */
export const mayBeCutOff = ({ malformed, body }: RawRequest): boolean => malformed || body.length > READ_AT_MOST

export const bytesOf = ({ method, target, headers, body }: RawRequest): Buffer => {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines}\r\n`, 'latin1'), body])
}

/** The answer at the start of `bytes`; undefined while it is incomplete. */
function readAnswer(bytes: Buffer, ended: boolean, headOnly: boolean): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const rest = bytes.subarray(end + 4)
  if (/\r\ncontent-type: text\/event-stream/i.test(head) || headOnly) return { status, head, body: '' }
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) return rest.length < Number(length) ? undefined : { status, head, body: rest.toString() }
  if (status === 204 || status === 304) return { status, head, body: '' }
  const whole = /\r\ntransfer-encoding: *chunked/i.test(head) ? rest.includes('0\r\n\r\n') : ended
  return whole ? { status, head, body: rest.toString() } : undefined
}

/** Sends one request at a time over a connection that stays open as long as the server keeps it. */
export class RawConnection {
  readonly #port: number
  #socket: Socket | undefined

  constructor(port: number) {
    this.#port = port
  }

  /** The answer, or undefined when the connection was closed without one; rejects when neither happens in time. */
  send(request: RawRequest): Promise<RawAnswer | undefined> {
    const socket = this.#socket ?? connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.#socket = socket
    let received = Buffer.alloc(0)
    return new Promise((resolve, reject) => {
      const finish = (answer: RawAnswer | undefined, keep: boolean) => {
        clearTimeout(timer)
        socket.removeAllListeners()
        socket.on('error', () => {})
        if (!keep) {
          socket.destroy()
          this.#socket = undefined
        }
        resolve(answer)
      }
      const timer = setTimeout(() => {
        finish(undefined, false)
        reject(new Error(`no answer within ${ANSWER_WITHIN_MS / 1000} seconds`))
      }, ANSWER_WITHIN_MS)
      const read = (ended: boolean) => {
        const answer = readAnswer(received, ended, request.method === 'HEAD')
        const stays = answer && !ended && !mayBeCutOff(request) && /\r\nconnection: keep-alive/i.test(answer.head)
        if (answer) finish(answer, stays === true && !/event-stream/.test(answer.head))
        else if (ended) finish(undefined, false)
      }
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk])
        read(false)
      })
      socket.on('close', () => read(true))
      socket.on('error', () => read(true))
      socket.write(bytesOf(request))
    })
  }

  close(): void {
    this.#socket?.destroy()
  }
}
