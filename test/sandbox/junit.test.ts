import { describe, expect, it } from 'vitest'
import { addSeconds, utcDate } from '../../src/platform/lib/clock.ts'
import { localized } from '../../src/platform/lib/localized-text.ts'
import { translator } from '../../src/platform/lib/web/locale.ts'
import type { FailedCheck, RunReport } from '../../src/sandbox/portal/api/answer.ts'
import { junitCheckLine, junitOf as junitIn } from '../../src/sandbox/portal/api/junit.ts'
import { localizedText } from '../../src/sandbox/portal/texts.ts'
import { choice } from '../../src/sandbox/test-plan/choice.ts'
import { junitProblems } from './junit.ts'
import { SIMPLE } from './lab.ts'

const junitOf = (of: RunReport) => junitIn(of, translator('en'))

const AT = utcDate(2026, 5, 6, 10, 34, 20)

type ReportedStep = RunReport['steps'][number]
type ReportedAttempt = ReportedStep['attempts'][number]

const attempt = (number: number, outcome: ReportedAttempt['outcome'], failed_checks: FailedCheck[] = []) => ({
  ...{ attempt_id: `a-${number}`, number, outcome, failed_checks, started_at: AT, warnings: 0 },
  ended_at: outcome && addSeconds(AT, number),
  duration_ms: outcome && number * 1_000,
})

const step = (id: string, state: ReportedStep['state'], attempts: ReportedAttempt[] = []): ReportedStep => ({
  ...{ id, name: id, kind: 'call', state, attempts },
  ...{ running: attempts.some(({ outcome }) => outcome === null), current: false, done: state === 'passed' },
})

const report = (steps: ReportedStep[], acceptance: Partial<RunReport['acceptance']> = {}): RunReport => ({
  ...{ run_id: 'r', state: 'under_way', number: 7, choice: choice.parse(SIMPLE), current_step: null, last_seq: 9 },
  ...{ created_at: AT, superseded_at: null, passed_at: null, steps, signed_report: null },
  acceptance: { passed: false, open_steps: [], consumed: [], refunded: [], missing_contacts: [], ...acceptance },
})

const fields: FailedCheck = {
  ...{ id: 'fields', text: 'Invalid field', level: 'error', path: 'body[0].title' },
  ...{ expected: 'is required', actual: 'missing', problem: true },
}

describe('the JUnit file', () => {
  it('has a case for each step: passed, failed with its checks, interrupted, or skipped', async () => {
    const warning: FailedCheck = { id: 'answer-time', text: 'Slow response', level: 'warning' }
    const xml = junitOf(
      report(
        [
          step('heartbeat', 'passed', [attempt(1, 'failed', [fields]), attempt(2, 'passed')]),
          step('product-pull', 'failed', [attempt(1, 'failed', [warning, fields]), attempt(2, null)]),
          step('order-create', 'interrupted', [attempt(3, 'interrupted')]),
          step('order-pay', 'open'),
        ],
        { open_steps: ['product-pull', 'order-pay'] },
      ),
    )
    expect(await junitProblems(xml)).toEqual([])
    expect(xml).toContain('tests="5" failures="1" errors="1" skipped="2" time="6.000">')
    expect(xml).toContain('<testcase name="heartbeat" classname="gatehouse.sandbox" time="2.000"/>')
    const line = 'Invalid field: body[0].title is required'
    expect(xml).toContain(`<failure message="${line}" type="failure">warning: Slow response\n${line}</failure>`)
    expect(xml).toContain('<error message="the step was interrupted" type="error"/>')
    expect(xml).toContain('<skipped message="not run yet"/>')
    expect(xml).toContain('<skipped message="steps to pass first: product-pull, order-pay"/>')
    expect(xml).toContain('<property name="attempt.heartbeat.1" value="failed 1.000 s"/>')
    expect(xml).toContain('<property name="attempt.product-pull.2" value="running -"/>')
  })

  it('has a failure for a required step that tested nothing, and skips one that only warns', async () => {
    const untested = (done: boolean) =>
      junitOf(report([{ ...step('refund-of-rest', 'not_tested', [attempt(1, 'not_tested', [fields])]), done }]))
    const why = 'the step could not test anything: Invalid field: body[0].title is required'
    expect(untested(true)).toContain(`<skipped message="${why}"/>`)
    expect(untested(false)).toContain(`<failure message="${why}" type="failure"/>`)
    expect(await junitProblems(untested(false))).toEqual([])
  })

  it('says what is wrong with a field, and what other checks expected', () => {
    const [en, zh] = [translator('en'), translator('zh-CN')]
    const inChinese = (id: 'must-be-required' | 'missing') => localizedText(localized(id), zh)
    const minutes = { expected: 'must be more than 30 and at most 120 minutes', actual: '20', path: 'body[0].time' }
    const line = 'Invalid field: body[0].time must be more than 30 and at most 120 minutes, got 20'
    expect(junitCheckLine({ ...fields, ...minutes }, en)).toBe(line)
    expect(junitCheckLine({ ...fields, expected: '7', actual: '8', problem: false }, en)).toBe(
      'Invalid field: body[0].title: expected 7, got 8',
    )
    const missing = { ...fields, expected: inChinese('must-be-required'), actual: inChinese('missing') }
    expect(junitCheckLine(missing, zh)).toBe(`Invalid field: body[0].title ${missing.expected}`)
    expect(junitCheckLine({ ...fields, expected: 'is required', actual: 'null' }, en)).toMatch(
      /title is required, got null$/,
    )
  })

  it('has a case for the acceptance check', () => {
    const acceptance = (found: Partial<RunReport['acceptance']>) =>
      /name="acceptance".*?(?:\/>|<\/testcase>)/.exec(
        junitOf(report([step('s', 'passed', [attempt(1, 'passed')])], found)),
      )?.[0]
    const ids = { consumed: [2n ** 62n + 1n], refunded: [5n] }
    expect(acceptance({ ...ids, passed: true })).toMatch(/time="0.000"\/>$/)
    expect(acceptance(ids)).toContain('<skipped message="the acceptance check has not been run"/>')
    expect(acceptance({})).toContain(
      '<failure message="the platform\'s records do not show a consumption; the platform\'s records do not show a refund"',
    )
    expect(acceptance({ ...ids, missing_contacts: ['product'] })).toContain(
      '<failure message="contacts to add first: product"',
    )
    expect(junitOf(report([], ids))).toContain('<property name="orders.consumed" value="4611686018427387905"/>')
  })

  it('is valid whatever a partner answers', async () => {
    const nasty = `]]></failure>&amp;<b a="'">\u0000\u0001\u001b[31m\ud800\uffff\r\n\ttext 王芳 🎫`
    const xml = junitOf(report([step('s', 'failed', [attempt(1, 'failed', [{ ...fields, actual: nasty }])])]))
    expect(await junitProblems(xml)).toEqual([])
    expect(xml).toContain(
      'got ]]&gt;&lt;/failure&gt;&amp;amp;&lt;b a="\'"&gt;\ufffd\ufffd\ufffd[31m\ufffd\ufffd&#13;\n\ttext 王芳 🎫',
    )
  })

  it('is rejected by this validation when it is broken', async () => {
    const xml = junitOf(report([step('s', 'passed', [attempt(1, 'passed')])]))
    expect(await junitProblems(xml.replace('timestamp="2026', 'timestamp="x'))).not.toEqual([])
    expect(await junitProblems(xml.replace('<system-err/>', ''))).not.toEqual([])
    expect(await junitProblems(xml.replace('</testsuites>', ''))).not.toEqual([])
  })

  it('is in the language of its reader, except for ids and outcomes', () => {
    const check: FailedCheck = { id: 'fields', text: '字段有误', level: 'warning', expected: '必填', actual: '缺失' }
    const steps = [
      step('s', 'failed', [attempt(1, 'failed', [check])]),
      step('i', 'interrupted', [attempt(1, 'interrupted')]),
    ]
    const zh = translator('zh-CN')
    const all = [
      junitIn(report([...steps, step('o', 'open')], { open_steps: ['s'] }), zh),
      junitIn(report([]), zh),
      junitIn(report([], { consumed: [1n], refunded: [1n], missing_contacts: ['product'] }), zh),
      junitIn(report([], { consumed: [1n], refunded: [1n] }), zh),
    ]
    const messages = all.flatMap((xml) => [...xml.matchAll(/ message="([^"]+)"/g)].map(([, message = '']) => message))
    expect(messages.length).toBe(7)
    for (const message of messages) expect(message).toMatch(/^[^a-z]*(?:\b(?:s|product)\b)?[^a-z]*$/)
    expect(all[0]).toContain('警告：字段有误: 预期 必填、实际 缺失')
  })
})
