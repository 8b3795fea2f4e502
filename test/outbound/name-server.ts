import { createSocket, type Socket } from 'node:dgram'

/** Name servers that a test runs itself. */

const servers: Socket[] = []

/** To be called by every test that opens name servers. */
export function closeNameServers(): void {
  for (const server of servers.splice(0)) server.close()
}

/** Returns `address:port`; `answer` turns a query into an answer, or stays silent. */
export async function nameServer(answer: (query: Buffer) => Buffer | undefined): Promise<string> {
  const server = createSocket('udp4')
  servers.push(server)
  server.on('message', (query, { port, address }) => {
    const made = answer(query)
    if (made) server.send(made, port, address)
  })
  await new Promise<void>((ready) => server.bind(0, '127.0.0.1', ready))
  return `127.0.0.1:${server.address().port}`
}

/** An answer to the query: its header, its question and these records. */
export function answerTo(query: Buffer, code: number, ...records: Buffer[]): Buffer {
  const end = query.indexOf(0, 12) + 5
  const head = Buffer.from(query.subarray(0, 12))
  head.writeUInt16BE(0x8180 | code, 2)
  head.writeUInt16BE(records.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, query.subarray(12, end), ...records])
}

/** 1 for an IPv4 address, 28 for an IPv6 one. */
export const typeOf = (query: Buffer): number => query.readUInt16BE(query.indexOf(0, 12) + 1)

/** An address record for the name in the question, from four or sixteen bytes. */
export const record = (...address: number[]): Buffer =>
  Buffer.from([0xc0, 12, 0, address.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, address.length, ...address])
