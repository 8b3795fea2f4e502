import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Command } from './languages.ts'
import { runProgram } from './run-program.ts'

/** How `npm run interop` handles a program that works, fails, hangs or does not exist. */

const place = { folder: import.meta.dirname, environment: { ...process.env }, limitMs: 60_000 }
const node = (text: string): Command => [process.execPath, '-e', text]

it('passes the result of each visit back to the program, and returns its steps', async () => {
  const program = node(`
    console.log('step first')
    console.log('visit https://server.example/authorize')
    process.stdin.once('data', (line) => { console.log('step ' + line); process.exit(0) })
  `)
  expect(await runProgram(program, place, async (url) => `${url}/back`)).toEqual({
    problem: undefined,
    steps: ['first', 'https://server.example/authorize/back'],
  })
})

it('returns the last output of a program that fails', async () => {
  const ended = await runProgram(node(`console.log('step one'); console.error('a reason'); process.exit(3)`), place)
  expect(ended).toEqual({ problem: 'a reason', steps: ['one'] })
  expect((await runProgram(node('process.exit(1)'), place)).problem).toBe('it said nothing')
})

it('reports a visit that fails, and closes the input so that the program does not wait forever', async () => {
  const waits = node(`console.log('visit x'); process.stdin.on('end', () => process.exit(1)).resume()`)
  const ended = await runProgram(waits, place, () => Promise.reject(new Error('no form')))
  expect(ended.problem).toBe('the browser did not come back: no form')
})

it('kills a program and its children after the time limit', async () => {
  const hangs = node(`
    const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    console.log('step ' + child.pid)
    setInterval(() => {}, 1000)
  `)
  const { problem, steps } = await runProgram(hangs, { ...place, limitMs: 3_000 })
  expect(problem).toBe('ended after 3 s')
  await expect.poll(() => isAlive(Number(steps[0]))).toBe(false)
})

it('reports a program that does not exist', async () => {
  expect((await runProgram(['/nowhere/program'], place)).problem).toContain('ENOENT')
})

/** A zombie counts as dead. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return !/^State:\s+Z/m.test(readStatus(pid))
}

const readStatus = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}
