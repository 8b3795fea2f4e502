import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** Runs the whole benchmark with the shortest options. */

const ROOT = new URL('../../', import.meta.url).pathname

interface Ended {
  readonly code: number
  readonly output: string
  readonly errors: string
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The steps of `npm run bench`; the first, building the service, is done by the test setup. */
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const [BUILD, COMPILE = '', BENCH = ''] = String(scripts.bench).split(' && ')

async function bench(script: string, ...options: string[]): Promise<Ended> {
  const short = ['--quick', '--rounds', '1', '--seconds', '0.3', '--warm-up', '0.05', '--tokens', '500']
  const PATH = `${join(ROOT, 'node_modules', '.bin')}:${process.env.PATH}`
  const run = promisify(execFile)('sh', ['-c', `${script} "$@"`, 'bench', ...short, ...options], {
    cwd: ROOT,
    env: { ...process.env, PATH },
  })
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout, errors: stderr }),
    (error) => ({ code: error.code, output: error.stdout, errors: error.stderr }),
  )
}

describe('npm run bench', () => {
  const file = join(folder, 'right.json')
  let ended: Ended
  beforeAll(async () => {
    expect(BUILD).toBe('npm run --silent build')
    ended = await bench(
      `${COMPILE} && ${BENCH}`,
      '--only',
      'a5,exchange,refresh,rotate,notices,forged',
      '--output',
      file,
    )
  })
  const written = () => JSON.parse(readFileSync(file, 'utf8'))

  it('prints tables of results and goals, and writes everything as JSON', () => {
    const { code, output, errors } = ended
    expect(code, errors).toBe(0)
    expect(errors).toContain('round 1 of 1: gatehouse')
    expect(errors).not.toContain('Error')
    for (const name of ['gatehouse', 'plain', 'checked', 'bare', 'oidc-provider']) expect(output).toContain(`| ${name}`)
    expect(output).toMatch(/A5 against plain +\| ≥ 2 × +\|/)

    const { machine, rounds, goals } = written()
    expect(machine.settings).toMatchObject({ synchronous_commit: 'on', fsync: 'on' })
    expect(rounds.a5.gatehouse).toHaveLength(1)
    const [round] = rounds.a5.gatehouse
    expect(round.perSecond).toBeGreaterThan(0)
    expect(round.p99).toBeGreaterThanOrEqual(round.p50)
    expect(round.residentMb).toBeGreaterThan(20)
    expect(round.lastStatements).toContainEqual(expect.stringMatching(/^select asked\.ordinal, asked\.scope/))
    const against = goals.find(({ goal }: { goal: string }) => goal === 'A5 against bare')
    expect(against.figure.median).toBeCloseTo(round.perSecond / rounds.a5.bare[0].perSecond)
  })

  it('verifies that rows were written, and that rejected tokens do not reach the database', () => {
    const { rounds } = written()
    expect(rounds.exchange.plain[0].perSecond).toBeGreaterThan(0)
    expect(rounds.notices.gatehouse[0].perSecond).toBeGreaterThan(0)
    expect(rounds.notices.checked[0].perSecond).toBeGreaterThan(0)
    expect(rounds.forged.gatehouse[0].lastStatements).toEqual([])
  })

  it('fails if a contestant gives wrong responses', async () => {
    const file = join(folder, 'wrong.json')
    // Compiled by the run above.
    const { code, errors } = await bench(BENCH, '--only', 'a5', '--contestants', 'wrong', '--output', file)
    expect(code).toBe(1)
    expect(errors).toContain('not the expected')
    expect(existsSync(file)).toBe(false)
  })
})
