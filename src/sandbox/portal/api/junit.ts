import { localized } from '../../../platform/lib/localized-text.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { localizedText } from '../texts.ts'
import type { FailedCheck, RunReport } from './answer.ts'

// Characters that XML 1.0 forbids, even escaped (section 2.2). Partners' texts may contain them.
const NOT_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

const escaped = (text: string, what: RegExp): string =>
  text.replace(NOT_XML, '\ufffd').replace(what, (character) => ESCAPES[character] ?? '')

type ReportedStep = RunReport['steps'][number]
type ReportedAttempt = ReportedStep['attempts'][number]
type Attributes = Readonly<Record<string, string | number>>

/** `children` are XML. */
function element(name: string, attributes: Attributes, children: readonly string[] = []): string {
  const all = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value), /[&<>"\t\n\r]/g)}"`)
  const start = `<${name}${all.join('')}`
  return children.length > 0 ? `${start}>${children.join('')}</${name}>` : `${start}/>`
}

const text = (value: string): string => escaped(value, /[&<>\r]/g)

const CLASS = 'gatehouse.sandbox'

/**
 * A report as JUnit XML, valid for both common schemas (Ant's and Jenkins'): the run is a test suite, each step a test
 * case, and so is the acceptance check. A step counts as skipped if it was not reached, or if it is advisory and could
 * not test anything; an interrupted step is an error.
 */
export function junitOf(report: RunReport, t: Translate): string {
  const cases = [...report.steps.map((step) => caseOfStep(step, t)), caseOfAcceptance(report, t)]
  const count = (verdict: Verdict) => cases.filter((testCase) => testCase.verdict === verdict).length
  const suite = {
    id: 0,
    name: `run ${report.number}`,
    package: CLASS,
    // Ant's schema forbids fraction and zone; it is UTC.
    timestamp: report.created_at.toISOString().slice(0, 19),
    hostname: 'localhost',
    tests: cases.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: seconds(cases.reduce((sum, { ms }) => sum + ms, 0)),
  }
  const parts = [
    element(
      'properties',
      {},
      propertiesOf(report).map(([name, value]) => element('property', { name, value })),
    ),
    ...cases.map(({ xml }) => xml),
    element('system-out', {}, [text(historyOf(report, t))]),
    element('system-err', {}),
  ]
  const body = parts.map((part) => `\n    ${part}`).join('')
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n  ${element('testsuite', suite, [body, '\n  '])}\n</testsuites>\n`
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(3)

type Verdict = 'passed' | 'failure' | 'error' | 'skipped'

interface Case {
  readonly verdict: Verdict
  readonly ms: number
  readonly xml: string
}

function caseOf(name: string, ms: number, verdict: Verdict, message = '', detail = ''): Case {
  const attributes = verdict === 'skipped' ? { message } : { message, type: verdict }
  const children = verdict === 'passed' ? [] : [element(verdict, attributes, detail ? [text(detail)] : [])]
  return { verdict, ms, xml: element('testcase', { name, classname: CLASS, time: seconds(ms) }, children) }
}

/** The last ended attempt counts. */
function caseOfStep({ id, state, done, attempts }: ReportedStep, t: Translate): Case {
  const last = attempts.findLast(({ outcome }) => outcome !== null)
  const ms = last?.duration_ms ?? 0
  if (!last) return caseOf(id, 0, 'skipped', t('sandbox.junit.not_run'))
  if (state === 'passed') return caseOf(id, ms, 'passed')
  if (state === 'not_tested') {
    const why = junitCheckLine(last.failed_checks.at(-1), t)
    return caseOf(id, ms, done ? 'skipped' : 'failure', t('sandbox.junit.not_tested', { why }))
  }
  if (state === 'interrupted') return caseOf(id, ms, 'error', t('sandbox.junit.interrupted'))
  const errors = last.failed_checks.filter(({ level }) => level === 'error')
  const all = last.failed_checks.map((check) => junitCheckLine(check, t))
  return caseOf(id, ms, 'failure', junitCheckLine(errors[0], t), all.join('\n'))
}

function caseOfAcceptance({ acceptance }: RunReport, t: Translate): Case {
  const { passed, open_steps, consumed, refunded, missing_contacts } = acceptance
  const is = (verdict: Verdict, message?: string) => caseOf('acceptance', 0, verdict, message)
  const listed = (texts: readonly string[]) => texts.join(t('layout.between'))
  if (passed) return is('passed')
  if (open_steps.length > 0) return is('skipped', t('sandbox.junit.open_steps', { steps: listed(open_steps) }))
  const lacking = [
    ...(consumed.length > 0 ? [] : [t('sandbox.junit.no_consumption')]),
    ...(refunded.length > 0 ? [] : [t('sandbox.junit.no_refund')]),
  ]
  if (lacking.length > 0) return is('failure', lacking.join(t('sandbox.list.clauses')))
  if (missing_contacts.length === 0) return is('skipped', t('sandbox.junit.not_accepted'))
  return is('failure', t('sandbox.junit.contacts', { contacts: listed(missing_contacts) }))
}

/** `Invalid field: body[0].title is required`; `Not the order: orderId: expected 7, got 8`. */
export function junitCheckLine(check: Omit<FailedCheck, 'id'> | undefined, t: Translate): string {
  if (!check) return t('sandbox.junit.no_check')
  const { text: name, level, path, expected, actual, problem } = check
  // `body[0].title is required` already says that the field is missing.
  const isFieldProblem = problem === true && path !== undefined && expected !== undefined
  const isMissing = isFieldProblem && actual === localizedText(localized('missing'), t)
  const facts = [
    ...(expected === undefined
      ? []
      : [isFieldProblem ? `${path} ${expected}` : t('sandbox.junit.expected', { expected })]),
    ...(actual === undefined || isMissing ? [] : [t('sandbox.junit.actual', { actual })]),
  ].join(t('layout.between'))
  const where = [name, ...(path === undefined || isFieldProblem ? [] : [path]), ...(facts === '' ? [] : [facts])].join(
    ': ',
  )
  return level === 'warning' ? t('sandbox.junit.warning', { check: where }) : where
}

const everyAttempt = ({ steps }: RunReport): [string, ReportedAttempt][] =>
  steps.flatMap(({ id, attempts }) => attempts.map((attempt): [string, ReportedAttempt] => [id, attempt]))

const took = ({ duration_ms }: ReportedAttempt): string => (duration_ms === null ? '-' : `${seconds(duration_ms)} s`)

function propertiesOf(report: RunReport): [name: string, value: string][] {
  const { run_id, passed_at, choice, acceptance } = report
  return [
    ['run_id', run_id],
    ['passed_at', passed_at?.toISOString() ?? ''],
    ['functions', choice.functions.join(' ')],
    ...Object.entries(choice.products).map(([role, id]): [string, string] => [`product.${role}`, id ?? '']),
    ['orders.consumed', acceptance.consumed.join(' ')],
    ['orders.refunded', acceptance.refunded.join(' ')],
    ...everyAttempt(report).map(([step, attempt]): [string, string] => [
      `attempt.${step}.${attempt.number}`,
      `${attempt.outcome ?? 'running'} ${took(attempt)}`,
    ]),
  ]
}

const historyOf = (report: RunReport, t: Translate): string =>
  everyAttempt(report)
    .map(([step, attempt]) => {
      const first = `${attempt.started_at.toISOString()} ${step} #${attempt.number}: ${attempt.outcome ?? 'running'} after ${took(attempt)}`
      return [first, ...attempt.failed_checks.map((check) => `  ${junitCheckLine(check, t)}`)].join('\n')
    })
    .join('\n')
