import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { listTraffic } from '../../src/sandbox/portal/traffic/list.ts'
import { trafficQuery } from '../../src/sandbox/portal/traffic/wire.ts'
import { type Lab, openLab, walkTo } from './lab.ts'
import { textOf, type Visitor, visitor } from './pages/visitor.ts'

/** What a seller sees of calls that its system has to refuse, and of steps that pass with a warning. */

let lab: Lab
let me: Visitor
beforeAll(async () => {
  lab = await openLab()
  me = await visitor(lab)
})
afterAll(() => lab.close())
afterEach(() => lab.mistakes())

const list = async (outcome?: string) =>
  (await listTraffic(lab.world.deps, lab.partnerId, trafficQuery.parse({ direction: 'out', outcome }))).lines

/** Runs a step; returns its page and the entry of its last call. */
async function afterStep(stepId: string, ...mistakes: string[]) {
  const runId = await lab.run()
  await walkTo(lab, runId, stepId)
  await lab.mistakes(...mistakes)
  const result = await lab.runStep(runId, stepId)
  // The clock stands still during a step, so its forged call is as new as the genuine one before it.
  const [newest, ...older] = await list()
  const line = [newest, ...older.filter(({ at }) => +at === Number(newest?.at))].find((one) => one?.forged) ?? newest
  if (!line) throw new Error('no call was made')
  const page = await me.open(`/sandbox/run/${runId}?step=${stepId}`)
  const entry = await me.open(`/sandbox/traffic/${line.kind}/${line.id}`)
  return { result, line, page, entry }
}

describe('a call that the partner has to refuse', () => {
  it.each([
    ['wrong-signature', 'The platform sent a wrong signature on purpose.'],
    ['stale-date', 'The platform sent an old Date on purpose.'],
    ['unknown-client', 'The platform sent an unknown clientId on purpose.'],
  ])('is shown as refused correctly: %s', async (step, reason) => {
    const { result, line, page, entry } = await afterStep(step)
    expect(result.outcome).toBe('passed')
    expect(line).toMatchObject({ outcome: { name: 'refused-rightly', tone: 'good' }, warned: false })
    expect(textOf(entry)).toContain('Refused correctly')
    expect(textOf(entry)).toContain(reason)
    expect(textOf(entry)).not.toContain('What went wrong')
    expect(entry.body).not.toContain('mark bad')
    expect(page.body).not.toMatch(/class="(problem|failures)"/)
    expect((await list('failed')).map(({ id }) => id)).not.toContain(line.id)
    expect((await list('ok')).map(({ id }) => id)).toContain(line.id)
    const { body } = await me.open('/sandbox/traffic?direction=out')
    expect(body).toContain('<span class="mark good">Refused correctly</span>')
  })

  it('has failed when it is accepted, although its answer was a success', async () => {
    const { result, line, entry } = await afterStep('wrong-signature', 'wrong-signature-accepted')
    expect(result.outcome).toBe('failed')
    expect(line).toMatchObject({ outcome: { name: 'not-refused', tone: 'bad' }, code: 200 })
    expect(entry.body).toContain('<span class="mark bad">Not refused</span>')
    expect((await list('failed')).map(({ id }) => id)).toContain(line.id)
  })

  it('has not failed when it is accepted in a step that only warns', async () => {
    const { result, line, page } = await afterStep('stale-date', 'stale-date-accepted')
    expect(result.outcome).toBe('passed')
    expect(line).toMatchObject({ outcome: { name: 'not-refused', tone: 'warning' } })
    expect(textOf(page)).toContain('Warnings (1)')
    expect(textOf(page)).not.toContain('What failed')
    expect(page.body).not.toContain('class="failures"')
  })
})

describe('a call of a test step', () => {
  it('has failed when its answer fails a check, although its code is 200', async () => {
    const { result, line, entry } = await afterStep('product-pull', 'answer-other-partner-id')
    expect(result.outcome).toBe('failed')
    expect(line).toMatchObject({ outcome: { name: 'failed', tone: 'bad' }, code: 200 })
    expect(textOf(entry)).toContain('A check failed for this response')
  })

  it('has succeeded when there is only a warning, which is shown beside it', async () => {
    const { result, line, page } = await afterStep('product-pull', 'answer-wrong-content-type')
    expect(result.outcome).toBe('passed')
    expect(line).toMatchObject({ outcome: { name: 'succeeded' }, warned: true })
    expect(textOf(page)).toContain('Warnings (1)')
  })
})
