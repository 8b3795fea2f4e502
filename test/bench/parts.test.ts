import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { freshDatabase } from '../harness.ts'
import { CONTESTANTS } from './contestants/contestant.ts'
import { judge, type Results, verdicts } from './goals.ts'
import { answerChecker, readAnswer } from './load/answer.ts'
import type { Expectation } from './load/ask.ts'
import { BadOption, readOptions } from './options.ts'
import { growthOf } from './phases/soak.ts'
import { percentile, ratios, spreadOf } from './statistics.ts'
import type { Round } from './turn-runner.ts'
import { lastStatements, verifyRows } from './verify.ts'
import { WORKS } from './works.ts'

describe('statistics', () => {
  it('takes the median, or the mean of the two middle values', () => {
    expect(spreadOf([5, 1, 9])).toEqual({ median: 5, least: 1, most: 9 })
    expect(spreadOf([4, 1, 2, 10])).toEqual({ median: 3, least: 1, most: 10 })
    expect(() => spreadOf([])).toThrow('no values')
  })
  it('computes percentiles by nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1)
    expect(percentile(hundred, 0.5)).toBe(50)
    expect(percentile(hundred, 0.99)).toBe(99)
    expect(percentile([7], 0.99)).toBe(7)
  })
  it('computes ratios round by round', () => {
    expect(ratios([20, 30], [10, 10])).toEqual([2, 3])
    expect(ratios([20], [])).toEqual([])
  })
  it('distinguishes growing memory from constant memory', () => {
    expect(growthOf([50, 100, 100, 100, 100, 100, 100, 100])).toBe(1)
    expect(growthOf([50, 60, 100, 100, 110, 120, 150, 150])).toBe(1.5)
    expect(growthOf([1, 2, 3])).toBeUndefined()
  })
})

const round = (perSecond: number, more: Partial<Round> = {}): Round => ({
  perSecond,
  p50: 1,
  p99: 2,
  slowest: 3,
  refusedPerSecond: 0,
  generatorShare: 0,
  lastStatements: [],
  ...more,
})

describe('goals', () => {
  it('are decided by the median of the ratios of each round', () => {
    // The ratio of the medians would be 300 / 100; the ratios of the rounds are 3, 1 and 1.5.
    const gatehouse = [round(300), round(100), round(900)]
    const plain = [round(100), round(100), round(600)]
    const verdict = verdicts({ rounds: { a5: { gatehouse, plain } }, coldStarts: [3, 5, 4] })
    const named = (goal: string) => verdict.find((candidate) => candidate.goal === goal)
    expect(named('A5 against plain')).toMatchObject({ figure: { median: 1.5, least: 1, most: 3 }, pass: false })
    expect(named('A5 against bare')).toMatchObject({ figure: undefined, pass: undefined })
    expect(named('cold npm start to the first answer')).toMatchObject({ limit: '≤ 4 s', pass: true })
  })
  it('are met at the limit and missed beyond it', () => {
    const atLeast = { goal: 'rate', unit: '×', atLeast: 2 }
    expect([judge(atLeast, [2]).pass, judge(atLeast, [1.99]).pass]).toEqual([true, false])
    const atMost = { goal: 'connections', unit: '', atMost: 0 }
    expect([judge(atMost, [0]).pass, judge(atMost, [0, 0, 1]).pass]).toEqual([true, false])
  })
  it('are missed by a service that is slow throughout', () => {
    const half = { gatehouse: [round(700, { duePerSecond: 1000, p50: 700, p99: 1300 })] }
    const goals = (rounds: Results['rounds']) => verdicts({ rounds, coldStarts: [] })
    const [tail, kept] = goals({ a5: { gatehouse: [round(2000, { p50: 6 })] }, half }).filter(({ goal }) =>
      goal.includes('half'),
    )
    expect(tail).toMatchObject({ figure: { median: 1300 / 6 }, pass: false })
    expect(kept).toMatchObject({ figure: { median: 0.7 }, pass: false })
  })
  it('compare A5 during sign-ins with A5 alone, and overload with the peak', () => {
    const rounds: Results['rounds'] = {
      half: { gatehouse: [round(700, { p99: 4 })] },
      'sign-ins': { gatehouse: [round(700, { p99: 10 })] },
      refresh: { gatehouse: [round(1000)] },
      overload: { gatehouse: [round(700, { slowest: 3100, refusedPerSecond: 4000 })] },
    }
    const measured = verdicts({ rounds, coldStarts: [] }).filter(({ goal }) => /sign-ins|five times/.test(goal))
    expect(measured.map(({ figure, pass }) => [figure?.median, pass])).toEqual([
      [2.5, false],
      [0.7, false],
      [3.1, false],
    ])
  })
  it('are exactly these', () => {
    const nothing: Results = { rounds: {}, coldStarts: [] }
    const limits = verdicts(nothing).map(({ goal, limit }) => `${goal} ${limit}`)
    expect(limits).toEqual([
      'A5 against plain ≥ 2 ×',
      'A5 against bare ≥ 0.45 ×',
      'A5 against oidc-provider introspection ≥ 4 ×',
      'A2 exchange against plain ≥ 2 ×',
      'A2 exchange against oidc-provider ≥ 2.5 ×',
      'A3 refresh against plain ≥ 2 ×',
      'A3 refresh against oidc-provider ≥ 2.5 ×',
      'A3 rotating refresh against plain ≥ 2 ×',
      'userinfo against A5 ≥ 0.9 ×',
      'introspection against oidc-provider ≥ 2 ×',
      'code exchange with an id_token against oidc-provider ≥ 1 ×',
      'notices against plain ≥ 1.5 ×',
      'notices against checked ≥ 3 ×',
      'forged tokens against bare ≥ 0.7 ×',
      'malformed tokens against bare ≥ 0.7 ×',
      'database connections used for forged tokens ≤ 0',
      'database connections used for malformed tokens ≤ 0',
      'A5 with many tokens against 10 thousand ≥ 0.85 ×',
      'A5 at half of its peak rate: p99 against p50 ≤ 5 ×',
      'A5 at half of its peak rate: answers per request due ≥ 0.95 ×',
      'A5 beside sign-ins: p99 against p99 without ≤ 2 ×',
      'A3 offered at five times its peak rate: answers against the peak ≥ 0.8 ×',
      'A3 offered at five times its peak rate: slowest answer or refusal ≤ 3 s',
      'A5 with all processes, a core, against one ≥ 0.8 ×',
      'memory at peak ≤ 200 MB',
      'memory, last quarter against second ≤ 1.1 ×',
      'cold npm start to the first answer ≤ 4 s',
    ])
  })
})

describe('responses', () => {
  const asked = (expect: Expectation) => ({ request: 'POST /sign-in?a=b HTTP/1.1\r\n\r\n', expect })
  const bytes = (text: string) => Buffer.from(text, 'utf8')

  it('are parsed once they are complete, and only one at a time', () => {
    const whole = 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}'
    expect(readAnswer(bytes(whole))).toEqual({ status: 200, body: '{"a":1}' })
    expect(readAnswer(bytes(whole.slice(0, -1)))).toBeUndefined()
    expect(readAnswer(bytes(whole.slice(0, 20)))).toBeUndefined()
    expect(() => readAnswer(bytes(`${whole}HTTP`))).toThrow('more bytes')
    expect(() => readAnswer(bytes('HTTP/1.1 204 No Content\r\n\r\n'))).toThrow('without Content-Length')
  })
  it.each([
    ['another text', { kind: 'text', text: 'a' }, 200, 'b'],
    ['another status', { kind: 'text', text: 'a' }, 503, 'a'],
    ['another status of a background request', { kind: 'beside', status: 303 }, 500, ''],
    ['another user', { kind: 'fields', fields: { active: true, sub: '7' } }, 200, '{"active":true,"sub":"8"}'],
  ] as const)('are wrong with %s', (_name, expected, status, body) => {
    expect(() => answerChecker().check({ status, body }, asked(expected))).toThrow('a wrong answer of /sign-in: ')
  })
  it('may be 503 for background requests, if the machine cannot keep up', () => {
    const check = () => answerChecker().check({ status: 503, body: '' }, asked({ kind: 'beside', status: 303 }))
    expect(check).not.toThrow()
  })
  it('must contain each access token only once, and the refresh token of the request', () => {
    const checker = answerChecker()
    const expected = { kind: 'tokens', enveloped: true, scope: 'USER_INFO', refreshToken: 'r'.repeat(50) } as const
    const set = { access_token: 'a'.repeat(50), refresh_token: 'r'.repeat(50), expires_in: 60, scope: 'USER_INFO' }
    const answer = (change: object, rescode = 0) => ({
      status: 200,
      body: JSON.stringify({ rescode, data: { ...set, ...change } }),
    })
    checker.check(answer({}), asked(expected))
    expect(() => checker.check(answer({}), asked(expected))).toThrow('handed out before')
    const fresh = { access_token: 'b'.repeat(50) }
    expect(() => checker.check(answer(fresh, 20013), asked(expected))).toThrow('no access token')
    expect(() => checker.check(answer({ ...fresh, refresh_token: 's'.repeat(50) }), asked(expected))).toThrow(
      'refresh token',
    )
  })
  it('must match the number of rows written', async () => {
    const database = await freshDatabase()
    const pool = new pg.Pool({ connectionString: database.url })
    const rows = await verifyRows(pool, WORKS.rotate, 'plain')
    await pool.query(`insert into refresh_token (routing_key, token_hash, grant_id, expires_at, rotated_at)
                      values (1, '\\x01', gen_random_uuid(), now(), now())`)
    await rows.mustHaveGrownBy(1)
    await expect(rows.mustHaveGrownBy(2)).rejects.toThrow('gave 2 answers but wrote 1 rows')
    await pool.end()
    await database.drop()
  })
  it('are judged by the last statements, ignoring those that the service sends once a minute', async () => {
    const database = await freshDatabase()
    const [looking, asking] = [1, 2].map(() => new pg.Pool({ connectionString: database.url, max: 1 }))
    const since = new Date(Date.now() - 60_000)
    const counted = "insert into app_usage values ('a', now(), 'read', 0, 1) on conflict do nothing"
    for (const [statements, expected] of [
      [[counted], []],
      [['begin', counted, 'commit'], []],
      [['select 1 as asked'], ['select 1 as asked']],
    ] as const) {
      for (const statement of statements) await asking?.query(statement)
      expect(await lastStatements(looking as pg.Pool, since)).toEqual(expected)
    }
    await Promise.all([looking?.end(), asking?.end()])
    await database.drop()
  })
})

describe('options', () => {
  it('have defaults, and shorter ones with --quick', () => {
    expect(readOptions([])).toMatchObject({ rounds: 5, seconds: 5, tokens: 10_000, coldStarts: 5, soakS: 0 })
    expect(readOptions(['--quick', '--only', 'a5'])).toMatchObject({ rounds: 2, works: ['a5'], coldStarts: 0 })
    expect(readOptions(['--set', 'HTTP_PROCESSES=2'])).toMatchObject({ settings: { HTTP_PROCESSES: '2' } })
  })
  it('run a process for each core only on request', () => {
    expect(readOptions([])).toMatchObject({ contestants: CONTESTANTS })
    expect(readOptions(['--contestants', 'gatehouse,gatehouse-all'])).toMatchObject({
      contestants: ['gatehouse', 'gatehouse-all'],
    })
  })
  it.each([[['--only', 'a6']], [['--rounds', 'many']], [['--contestants', 'apache']]])('reject %j', (args) => {
    expect(() => readOptions(args)).toThrow(BadOption)
  })
})
