import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../src/platform/lib/web/listen.ts'
import { INHERITED, ROOT } from '../contestants/contestant.ts'
import { newDataFolder, removeDataFolder } from '../data-folder.ts'

const GIVE_UP_MS = 60_000

/** Seconds from `npm start` on an empty data folder until /readyz reports that the service is ready. */
export async function coldStart(): Promise<number> {
  const folder = newDataFolder()
  const port = await freePort()
  const ports = { PORT: String(port), DEMO_PORT: '0', DEMO_PARTNER_PORT: '0' }
  const began = performance.now()
  // In its own process group, so that npm, its shell and the service can be ended together.
  const child = spawn('npm', ['start', '--silent'], {
    cwd: ROOT,
    env: { ...INHERITED, ...ports, DATA_DIR: folder },
    stdio: 'ignore',
    detached: true,
  })
  try {
    await untilAnswer(`http://127.0.0.1:${port}/readyz`, () => child.exitCode)
    return (performance.now() - began) / 1000
  } finally {
    const ended = once(child, 'exit')
    if (child.exitCode === null && child.pid) process.kill(-child.pid, 'SIGTERM')
    if (child.exitCode === null) await ended
    removeDataFolder(folder)
  }
}

async function untilAnswer(url: string, exitCode: () => number | null): Promise<void> {
  const until = performance.now() + GIVE_UP_MS
  while (performance.now() < until) {
    const answer = await fetch(url).catch(() => undefined)
    if (answer?.status === 200) return
    if (exitCode() !== null) throw new Error(`npm start ended with ${exitCode()}`)
    await sleep(10)
  }
  throw new Error(`npm start does not answer after ${GIVE_UP_MS / 1000} s`)
}
