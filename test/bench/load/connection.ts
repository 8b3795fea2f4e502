import { once } from 'node:events'
import { connect } from 'node:net'
import { type Answer, readAnswer } from './answer.ts'

export interface Connection {
  /** Sends a whole HTTP request; call it again only after its response. */
  send(request: string): void
  close(): void
}

/**
 * A keep-alive HTTP/1.1 connection with one request at a time. General clients (undici, autocannon) need several times the
 * CPU, which the contestants would lack on a machine with two cores. `isAccepted`: waits until the contestant has accepted
 * it, shown by an answer. Node accepts one connection in each turn of its event loop: 33 a second while it is overloaded.
 */
export async function openConnection(
  port: number,
  onAnswer: (connection: Connection, answer: Answer) => void,
  onError: (error: Error) => void,
  isAccepted: boolean,
): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  if (isAccepted) {
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(socket, 'data')
  }
  let received: Buffer | undefined
  const connection: Connection = {
    send: (request) => socket.write(request, 'utf8'),
    close: () => {
      socket.removeAllListeners('close')
      socket.destroy()
    },
  }
  socket.on('data', (chunk: Buffer) => {
    try {
      received = received ? Buffer.concat([received, chunk]) : chunk
      const answer = readAnswer(received)
      if (!answer) return
      received = undefined
      onAnswer(connection, answer)
    } catch (error) {
      onError(error as Error)
    }
  })
  socket.on('error', onError)
  socket.on('close', () => onError(new Error('the contestant closed a connection')))
  return connection
}
