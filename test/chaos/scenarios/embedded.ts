import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { newDataFolder, removeDataFolder } from '../../bench/data-folder.ts'
import { call, callsAt, count } from '../calls.ts'
import { type Figure, type Ground, ms, percent, type Scenario } from '../scenario.ts'
import { type Service, startService } from '../service.ts'

/** Long enough for PostgreSQL to restart while the backend still holds the shared memory. */
const SLOW_BACKEND_S = 12
const LONGEST_MS = 60_000

/** A request that queries the database and needs no token. */
const READ = { method: 'GET', target: '/readyz' } as const

/** The embedded PostgreSQL is killed, then killed again while one of its backends hangs. */
export const embedded: Scenario = async (ground) => {
  const folder = newDataFolder()
  ground.endings.add(() => removeDataFolder(folder))
  const { checkout } = ground.options
  const start = async () => {
    const service = await startService({ checkout, folder: ground.world.folder, settings: { DATA_DIR: folder } })
    ground.endings.add(() => service.stop())
    while (service.ended() === undefined && !service.output().includes('Gatehouse is ready')) await sleep(50)
    return service
  }
  const figures: Figure[] = []
  for (const slow of [false, true]) {
    const service = await start()
    figures.push(...(await killed(ground, service, folder, slow)))
    await service.stop()
  }
  return figures
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function killed({ progress }: Ground, service: Service, folder: string, slow: boolean): Promise<Figure[]> {
  const name = slow ? 'kill -9 beside a backend that hangs' : 'kill -9'
  const cluster = realpathSync(join(folder, 'postgres'))
  const [pid, , , port] = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  const postmaster = Number(pid)
  let backend = 0
  if (slow) {
    const { password } = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'))
    const client = new pg.Client(`postgres://gatehouse:${password}@127.0.0.1:${port}/postgres`)
    client.on('error', () => {})
    await client.connect()
    backend = (await client.query('select pg_backend_pid() as pid')).rows[0].pid
    process.kill(backend, 'SIGSTOP')
  }
  process.kill(postmaster, 'SIGKILL')
  progress(`${name}: PostgreSQL is gone${slow ? `, one backend of it stays for ${SLOW_BACKEND_S} s` : ''}`)
  const began = performance.now()
  const ending = slow && setTimeout(kill, SLOW_BACKEND_S * 1000, backend)
  const asked = callsAt(10, slow ? SLOW_BACKEND_S : 3, service.port, () => READ, 10_000)
  const served = async () => (await call(service.port, READ, 2_000)).status === 200
  await sleep(300)
  while (performance.now() < began + LONGEST_MS && service.ended() === undefined && !(await served())) await sleep(100)
  const back = performance.now() - began
  const ended = service.ended()
  const outcomes = await asked
  if (ending) clearTimeout(ending)
  if (slow) kill(backend) // in case the service ended first
  const answered = count(outcomes, 200) + count(outcomes, 503)
  return [
    {
      figure: `${name}: service`,
      value: ended === undefined ? `back after ${ms(back)}` : `the process has ended with ${ended} after ${ms(back)}`,
    },
    {
      figure: `${name}: calls meanwhile that got no answer`,
      value: percent(outcomes.length - answered, outcomes.length),
    },
  ]
}
