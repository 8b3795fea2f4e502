import { execFileSync, spawn } from 'node:child_process'
import { constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openLog } from '../../src/platform/lib/log.ts'
import { LogOutput } from '../../src/platform/lib/log-output.ts'
import { until } from '../until.ts'

/** A log that cannot be written stops nothing: the service serves on, and the log says later that lines are missing. */

/** Never closed: what could not be written is tried again for as long as the process lives. */
const opened = openSync

/** A pipe that is full until it is read. */
function pipe() {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const fd = opened(path, constants.O_RDWR | constants.O_NONBLOCK)
  const buffer = Buffer.alloc(65_536)
  let text = ''
  const read = (): void => {
    try {
      for (;;) text += buffer.toString('utf8', 0, readSync(fd, buffer))
    } catch {
      // It is empty.
    }
  }
  const lines = () => {
    read()
    return text.split('\n').slice(0, -1)
  }
  return { path, fd, lines }
}

describe('a log', () => {
  it.each([true, false])(
    'on a full disk ends nothing and holds nothing up, even with a fatal line (pretty: %s)',
    (pretty) => {
      const log = openLog({ level: 'info', pretty }, new LogOutput(opened('/dev/full', 'w')))
      for (let n = 0; n < 3; n++) log.info('a line')
      log.fatal({ err: new Error('no') }, 'the last line')
    },
  )

  it('that nobody reads keeps some lines, counts the others and says so as soon as it is read', async () => {
    const { fd, lines } = pipe()
    const log = openLog({ level: 'info', pretty: false }, new LogOutput(fd, { mostBytes: 100_000 }))
    const began = performance.now()
    for (let n = 0; n < 5_000; n++) log.info({ n, text: '有'.repeat(50) }, 'a line')
    expect(performance.now() - began, 'without waiting for the reader').toBeLessThan(2_000)
    const isGap = (line: string) => line.includes('lines of the log are missing')
    const written = await until(() => {
      const all = lines()
      return all.some(isGap) && all
    })
    const records = written.map((line) => JSON.parse(line))
    const kept = records.filter(({ n }) => n !== undefined)
    expect(kept.map(({ n }) => n)).toEqual(kept.map((_, place) => place))
    expect(records.at(-1)).toMatchObject({ level: 40, lines: 5_000 - kept.length })
    log.info('and on')
    expect(lines().at(-1)).toContain('and on')
  })

  it('loses nothing where the reader of a pipe keeps up, though the pipe was full for a moment', async () => {
    const { fd, lines } = pipe()
    const output = new LogOutput(fd)
    const line = `${'x'.repeat(1_023)}\n`
    let sent = 0
    const send = (most: number) => {
      for (let n = 0; n < most; n++, sent++) output.write(line)
    }
    send(100)
    for (let n = 0; n < 100; n++) {
      send(32)
      await sleep(10)
      lines()
    }
    expect(await until(() => lines().length === sent && sent)).toBe(3_300)
  })

  it('loses nothing of a burst in one turn of the event loop, whose lines are written together', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-log-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'log')
    const output = new LogOutput(opened(path, 'w'), { together: true })
    const lines = Array.from({ length: 20_000 }, (_, n) => `${n} ${'x'.repeat(100)}\n`)
    for (const line of lines) output.write(line)
    await nextTurn()
    expect(readFileSync(path, 'utf8')).toBe(lines.join(''))
  })

  it('writes the last lines when the process ends, if the reader of a full pipe comes soon', async () => {
    const { path, fd } = pipe()
    const before = process.listeners('exit')
    vi.useFakeTimers({ toFake: ['setTimeout'] }) // no timer fires in a process that ends
    onTestFinished(() => void vi.useRealTimers())
    const output = new LogOutput(fd)
    const atExit = process.listeners('exit').find((listener) => !before.includes(listener))
    for (let n = 0; n < 300; n++) output.write(`${'x'.repeat(1_023)}\n`)
    const reader = spawn('sh', ['-c', `sleep 0.2; timeout 10 head -c ${300 * 1_024} ${path} | wc -c`])
    const read = text(reader.stdout)
    atExit?.(0)
    expect(Number(await read)).toBe(300 * 1_024)
  })
})
