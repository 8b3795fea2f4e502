import { once } from 'node:events'
import { connect } from 'node:net'
import { type Answer, readAnswer } from './answer.ts'

export interface Connection {
  /** Sends a whole HTTP request; the next one only after its answer. */
  send(request: string): void
  close(): void
}

/**
 * One keep-alive HTTP/1.1 connection with one request at a time. A general client (undici, autocannon) takes several
 * times the CPU for the same, and on two cores that CPU would be missing from the contestants.
 */
export async function openConnection(
  port: number,
  onAnswer: (connection: Connection, answer: Answer) => void,
  onError: (error: Error) => void,
): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
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
