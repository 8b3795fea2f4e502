import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STEPS } from '../../src/sandbox/certification/steps/index.ts'
import { SECRET_KEY, type System, startSystem } from '../acceptance/system.ts'
import { behindPgBouncer } from '../behind-pgbouncer.ts'
import { gatehouseProcess } from '../cli-process.ts'
import { gatehouse } from '../cli-runner.ts'
import { junitProblems } from './junit.ts'
import { SIMPLE_STEPS } from './lab.ts'

/** The service as `npm start` starts it, and its command line as an operator and a partner's CI use it. */
let system: System
let folder: string
beforeAll(async () => {
  system = await startSystem()
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-headless-'))
})
afterAll(async () => {
  await system.stop()
  rmSync(folder, { recursive: true })
})

/** Runs a command in its own process or, faster and with the same output, in this one (`gatehouse`). */
type Run = typeof gatehouse

const asOperator = (run: Run, ...args: string[]) =>
  run(behindPgBouncer({ DATABASE_URL: system.databaseUrl, SECRET_KEY, PUBLIC_URL: system.origin }), 'sandbox', ...args)

const SECRET = 'demo-partner-secret-local-use-only'
/** Runs on a machine of the partner, without a database. */
const asPartner = (run: Run, secret: string, ...args: string[]) =>
  run(
    { CLIENT_SECRET: secret, PATH: process.env.PATH ?? '' },
    'sandbox',
    ...args,
    '--client-id',
    'demo-partner',
    '--partner-id',
    '7001',
    '--url',
    system.origin,
  )

const officeUrl = async (): Promise<string> => {
  const [partner] = await system.query('select base_url from partner where partner_id = 7001')
  return String(partner?.base_url)
}
const mistakes = async (...names: string[]) => {
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' } }
  await fetch(`${await officeUrl()}/control/mistakes`, { ...init, body: JSON.stringify({ mistakes: names }) })
}

describe('gatehouse sandbox', () => {
  it('passes everything with the demo partner, and writes JUnit', async () => {
    const junit = join(folder, 'reports', 'out.xml')
    const { code, stdout, stderr } = await asOperator(
      gatehouseProcess,
      'run',
      '--partner',
      '7001',
      '--all',
      '--demo',
      '--junit',
      junit,
    )
    expect(stderr).toBe('')
    const lines = stdout.trimEnd().split('\n')
    const steps = Number(/^run 1 of demo-partner \([\da-f-]{36}\): (\d+) steps$/.exec(lines[0] ?? '')?.[1])
    expect(lines[1]).toBe(`step 1 of ${steps}: heartbeat (Heartbeat)`)
    const stepIds = lines.flatMap((line) => /^step \d+ of \d+: ([\w-]+) /.exec(line)?.[1] ?? [])
    expect(stepIds).toEqual(STEPS.filter(({ needs }) => !needs.includes('robustness')).map(({ id }) => id))
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^ {2}waiting until \S+Z for your call to POST \/mtp\/api\/order\/refund\/notice: code 200, orderId \d{16}, refundId /,
      ),
    )
    expect(
      lines.filter((line) => line === '  passed'),
      stdout,
    ).toHaveLength(steps)
    expect(lines.at(-1)).toBe('PASSED')
    expect(code).toBe(0)
    const xml = readFileSync(junit, 'utf8')
    expect(await junitProblems(xml)).toEqual([])
    expect(xml).toContain(`tests="${steps + 1}" failures="0" errors="0" skipped="0"`)
    const [run] = await system.query('select passed_at, number from sandbox_run')
    expect(run?.passed_at).not.toBeNull()
    const shown = await asOperator(gatehouse, 'show', '--partner', '7001')
    expect(shown.stdout).toMatch(/^run 1 {2}\S+ {2}passed {2}since /)
    expect(shown.stdout).toMatch(new RegExp(`^ +${steps} +product-status +passed +1 +Product status message$`, 'm'))
  })

  it('exits with 1 when a step fails, and names the field, also in JUnit', async () => {
    await mistakes('answer-missing-field')
    const junit = join(folder, 'failed.xml')
    const options = ['--function', 'product-pull,pay-at-once,refund-at-once', '--product', 'DEMO-OPEN']
    const { code, stdout } = await asPartner(gatehouse, SECRET, 'run', ...options, '--junit', junit)
    await mistakes()
    expect(code).toBe(1)
    const failed = 'Invalid field: body[0].title is required'
    expect(stdout).toContain(
      `step 1 of ${SIMPLE_STEPS.length}: product-pull (Product pull)\n  ${failed}\n  failed\nNOT PASSED\n`,
    )
    const xml = readFileSync(junit, 'utf8')
    expect(await junitProblems(xml)).toEqual([])
    expect(xml).toContain(`<failure message="${failed}" type="failure">`)
    expect(await asPartner(gatehouse, SECRET, 'run', ...options)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(`^run \\S+ is in progress: 0 of ${SIMPLE_STEPS.length} steps passed; send "overwrite": true`),
      ),
    })
    const { stdout: runs } = await asPartner(gatehouse, SECRET, 'list')
    expect(runs).toMatch(/^# +RUN_ID .*\n2 .* at product-pull\n1 .* passed\n$/)
  })

  it('lets a CI trigger its notices by a command, and reports in JSON', async () => {
    const script = join(folder, 'notify.sh')
    writeFileSync(
      script,
      `curl -sf "$OFFICE/control/consume" -H 'Content-Type: application/json' -d "{\\"orderId\\":\\"$ORDER_ID\\",\\"quantity\\":$QUANTITY}" >/dev/null
       echo "$SANDBOX_STEP $SANDBOX_PATH \${CLIENT_SECRET:-hidden}"`,
    )
    const options = [
      '--function',
      'product-pull,pay-at-once',
      '--function',
      'refund-at-once',
      '--product',
      'DEMO-OPEN',
      '--overwrite',
    ]
    const command = `OFFICE=${await officeUrl()}; . ${script}`
    const { code, stdout, stderr } = await asPartner(
      gatehouseProcess,
      SECRET,
      'run',
      ...options,
      '--json',
      '--on-wait',
      command,
    )
    expect(stderr).toContain('\nconsumption /mtp/api/order/consume/notice hidden\n')
    expect(stderr).toContain('\nPASSED\n')
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({ number: 3, acceptance: { passed: true, open_steps: [] } })
    expect(report.passed_at).toMatch(/Z$/)
    expect(stdout).toMatch(/"consumed": \[\s+\d{16}\s+\]/)
    expect(code).toBe(0)
  })

  it('stops waiting when the command fails, and shows the end of its output', async () => {
    const options = [
      '--function',
      'product-pull,pay-at-once,refund-at-once,product-change',
      '--product',
      'DEMO-OPEN',
      '--overwrite',
    ]
    const command = 'exec >&2; yes filler | head -n 10000; echo "status $STATUS"; echo "no shop today"; exit 7'
    const { code, stdout } = await asPartner(
      gatehouse,
      SECRET,
      'run',
      ...options,
      '--timeout',
      '50',
      '--on-wait',
      command,
    )
    expect(stdout).toMatch(
      /notice: status 2, partnerDealId DEMO-OPEN\n {2}the --on-wait command ended with 7:\n(.*\n)+ +status 2\n +no shop today\nstopped waiting: nothing will send the notice\nNOT PASSED\n$/,
    )
    expect(stdout.length).toBeLessThan(6_000)
    expect(code).toBe(1)
  })

  it('gives up after --timeout', async () => {
    // The second step waits for a notice.
    const options = [
      '--function',
      'product-pull,pay-at-once,refund-at-once,product-change',
      '--product',
      'DEMO-OPEN',
      '--timeout',
      '15',
      '--overwrite',
    ]
    const { code, stdout } = await asPartner(gatehouse, SECRET, 'run', ...options)
    expect(stdout).toMatch(
      /waiting until \S+ for your call to POST \/mtp\/api\/deal\/change\/notice: .*\nnot finished after 15 s \(--timeout\)\nNOT PASSED\n$/,
    )
    expect(code).toBe(1)
  })

  it('shows and sets the contacts that acceptance needs, without a database', async () => {
    const { stdout: before } = await asPartner(gatehouse, SECRET, 'contacts')
    expect(before).toBe(
      'product   Product manager   product@lakeside.example\nbusiness  Business contact  business@lakeside.example\n',
    )
    const { stdout, code } = await asPartner(
      gatehouse,
      SECRET,
      ...['contacts', '--product-name', 'Lin', '--product-mail', 'lin@example.com', '--json'],
    )
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { contacts: { product: { name: 'Lin', mail: 'lin@example.com' }, business: {} }, missing_contacts: [] },
    ])
    expect(
      await asPartner(gatehouse, SECRET, 'contacts', '--business-mail', 'bo', '--product-name', 'Lin'),
    ).toMatchObject({
      code: 2,
      stderr: [
        '--business-mail  must be an email address: someone@example.com',
        '--product-mail   is required too',
        '--business-name  is required too\n',
      ].join('\n'),
    })
    await system.query('delete from partner_contact where partner_id = 7001')
    const options = ['--function', 'product-pull,pay-at-once,refund-at-once', '--product', 'DEMO-OPEN', '--overwrite']
    const run = await asOperator(gatehouse, 'run', '--partner', '7001', '--demo', ...options)
    expect(run.stdout).toMatch(/^acceptance will need a product and a business contact: gatehouse sandbox contacts/)
    expect(run.stdout).toMatch(/\nacceptance needs a product and a business contact, .*\nNOT PASSED\n$/)
    expect(run.code).toBe(1)
  })

  it('explains wrong credentials, an unknown partner and an unknown run', async () => {
    expect(await asPartner(gatehouse, 'wrong', 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'BA verification failed; check clientId, clientSecret, PartnerId (--partner-id) and the clock of this machine\n',
    })
    expect(await asOperator(gatehouse, 'list', '--partner', '9')).toMatchObject({
      code: 1,
      stderr: 'partner 9 does not exist\n',
    })
    expect(await asPartner(gatehouse, SECRET, 'show', 'no-run')).toMatchObject({ code: 1, stderr: 'no such run\n' })
  })
})

it('the README’s headless block works word for word', async () => {
  const readme = readFileSync(new URL('../../src/sandbox/portal/api/README.md', import.meta.url), 'utf8')
  const script = /<!-- headless:.*-->\n```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  const env = { PATH: process.env.PATH, GATE: system.origin }
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], { env })
  expect(stdout).toMatch(/^\{"code":200,"describe":"success","partnerId":"7001","run":\{"run_id":/)
  expect(stdout).toContain('"data":{"outcome":"passed"}')
  expect(stdout).toContain(`"current_step":"${SIMPLE_STEPS[1]}"`)
  expect(stdout).toContain('<testcase name="product-pull" classname="gatehouse.sandbox" time="')
  expect(await junitProblems(stdout.slice(stdout.indexOf('<?xml')))).toEqual([])
})
