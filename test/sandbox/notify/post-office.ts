import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'

/** A real SMTP server and a real webhook receiver with configurable answers. */

interface ReceivedMail {
  readonly recipients: readonly string[]
  readonly raw: string
  readonly mail: Email
  readonly secure: boolean
  readonly user: string | undefined
}

export interface PostOffice {
  readonly port: number
  readonly url: string
  readonly mails: ReceivedMail[]
  to(address: string): ReceivedMail[]
  close(): Promise<void>
}

/** The error with which an SMTP server refuses. */
export const reply = (code: number, text = 'no'): Error => Object.assign(new Error(text), { responseCode: code })

export interface OfficeOptions {
  readonly port?: number
  readonly smtp?: SMTPServerOptions
  /** Called before the message is accepted; an error that it throws is the answer. */
  readonly onMail?: (mail: ReceivedMail, session: SMTPServerSession) => Promise<void> | void
}

export async function postOffice({ port = 0, smtp = {}, onMail }: OfficeOptions = {}): Promise<PostOffice> {
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    logger: false,
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    onData: async (stream, session, done) => {
      const raw = Buffer.concat(await stream.toArray())
      const { user } = session as { user?: unknown }
      const received = {
        recipients: session.envelope.rcptTo.map(({ address }) => address),
        raw: raw.toString(),
        mail: await PostalMime.parse(raw),
        secure: Boolean(session.secure),
        user: typeof user === 'string' ? user : undefined,
      }
      try {
        await onMail?.(received, session)
      } catch (error) {
        return done(error as Error)
      }
      mails.push(received)
      return done()
    },
    ...smtp,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
  const taken = (server.server.address() as AddressInfo).port
  return {
    port: taken,
    url: `smtp://127.0.0.1:${taken}`,
    mails,
    to: (address) => mails.filter(({ recipients }) => recipients.includes(address)),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

interface Delivery {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A webhook that answers with each given status in turn, and then keeps repeating the last one. */
export async function hook(...statuses: [number, ...number[]]) {
  const deliveries: Delivery[] = []
  const server = createServer(async (request, response) => {
    const { url = '', headers } = request
    deliveries.push({ path: url, headers, body: Buffer.concat(await request.toArray()).toString() })
    const status = (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200
    response.writeHead(status, { Location: '/elsewhere' }).end(JSON.stringify(headers))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return { url, deliveries, close: () => void server.close() }
}
