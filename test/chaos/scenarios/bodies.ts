import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { callsAt, waitsText } from '../calls.ts'
import { watchMemory } from '../processes.ts'
import { mb, percent, type Scenario } from '../scenario.ts'
import { userInfoCalls } from '../works.ts'

const SOCKETS = 1_500
const ANNOUNCED = 1024 * 1024
const SENT = Math.floor(ANNOUNCED * 0.94)

/** Strangers announce notices of 1 MiB, send 0.94 MiB of each and stop. */
export const bodies: Scenario = async ({ world, options, start, progress }) => {
  const service = await start()
  const sockets = options.scale < 1 ? SOCKETS / 5 : SOCKETS
  const memory = watchMemory(service.pid)
  const head = `POST /mtp/api/order/consume/notice HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${ANNOUNCED}\r\n\r\n`
  const part = Buffer.alloc(SENT, 0x20)
  const answers: string[] = []
  const held: Socket[] = []
  for (let n = 0; n < sockets; n++) {
    const socket = connect({ port: service.port, host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.once('data', (bytes: Buffer) => answers.push(bytes.toString('latin1', 9, 12)))
    socket.write(head)
    socket.write(part)
    held.push(socket)
    if (n % 50 === 49) await sleep(100)
  }
  progress(`${sockets} sockets have announced a notice of 1 MiB and stopped after 0.94 MiB`)
  const reads = await callsAt(20, 5, service.port, userInfoCalls(world), 20_000)
  const open = held.filter((socket) => !socket.destroyed).length
  const most = memory.most()
  for (const socket of held) socket.destroy()
  await service.stop()
  return [
    { figure: `resident memory before and at most (${sockets} sockets)`, value: `${mb(memory.before)}, ${mb(most)}` },
    { figure: 'sockets answered; still open', value: `${percent(answers.length, sockets)}; ${open}` },
    { figure: 'A5 meanwhile waits', value: waitsText(reads) },
  ]
}
