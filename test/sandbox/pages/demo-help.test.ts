import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPartner, type PartnerWithSecrets } from '../../../src/registry/partner.ts'
import { eventsAfter } from '../../../src/sandbox/attempt-store.ts'
import type { Waiting } from '../../../src/sandbox/event.ts'
import { demoHelp } from '../../../src/sandbox/pages/demo-help.ts'
import { nextStep } from '../../../src/sandbox/run.ts'
import { type Lab, openLab, walkTo } from '../lab.ts'

let lab: Lab
let demo: PartnerWithSecrets
beforeAll(async () => {
  lab = await openLab()
  const partner = await findPartner(lab.world.deps, lab.partnerId)
  if (!partner) throw new Error('the lab has no partner')
  demo = { ...partner, client_id: 'demo-partner' }
})
afterAll(() => lab.close())

/** What a step waits for, as soon as it does. */
async function waitingOf(runId: string): Promise<Waiting> {
  for (;;) {
    const found = (await eventsAfter(lab.world.deps.db, runId, 0)).findLast(({ kind }) => kind === 'waiting')
    if (found) return found.data as Waiting
    await sleep(20)
  }
}

/** Does what the command does. */
async function perform(curl: string): Promise<void> {
  const [, url = '', body = ''] = /^curl -X POST (\S+) .* -d '(.*)'$/.exec(curl) ?? []
  const answer = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  if (!answer.ok) throw new Error(await answer.text())
}

describe('the demo partner’s help', () => {
  it.each([
    { stepId: 'consumption', functions: ['pay-at-once', 'refund-at-once'], products: { main: 'DEMO-OPEN' } },
    {
      stepId: 'refund-notice',
      functions: ['price-calendar', 'pay-at-once', 'refund-after-review'],
      products: { main: 'DEMO-OPEN', review: 'DEMO-TOWER' },
    },
    {
      stepId: 'product-change',
      functions: ['product-change', 'pay-at-once', 'refund-at-once'],
      products: { main: 'DEMO-OPEN' },
    },
  ])(
    'is a command that makes the shop send the notice of $stepId',
    async ({ stepId, ...wish }) => {
      const runId = await lab.run(wish)
      const acted = async () => {
        const help = demoHelp(lab.world.deps, demo, await waitingOf(runId))
        expect(help?.office).toBe(`http://localhost:${new URL(String(demo.base_url)).port}`)
        await perform(String(help?.curl))
      }
      const made = await (stepId === 'refund-notice'
        ? consumeThen(runId, stepId, acted)
        : walkTo(lab, runId, stepId).then(() => lab.make(runId, stepId, acted)))
      expect(made.failures).toEqual([])
      expect(made.outcome).toBe('passed')
    },
    60_000,
  )

  it('is for the demo partner alone, and for nobody where no demo runs', async () => {
    const waiting = { path: '/mtp/api/order/consume/notice', until: '', about: { orderId: '1', usedQuantity: '2' } }
    const { deps } = lab.world
    expect(demoHelp(deps, demo, waiting)).not.toBeNull()
    expect(demoHelp(deps, { ...demo, client_id: 'lab' }, waiting)).toBeNull()
    expect(demoHelp({ config: { ...deps.config, DEMO: false } }, demo, waiting)).toBeNull()
  })
})

/** A step behind the consumption: that one is made first, with the shop's help as well. */
async function consumeThen(runId: string, stepId: string, acted: () => Promise<void>) {
  await walkTo(lab, runId, 'consumption')
  await lab.make(runId, 'consumption', acted)
  await nextStep(lab.world.deps, lab.partnerId, runId, 'consumption')
  await walkTo(lab, runId, stepId)
  return lab.make(runId, stepId, async () => {
    for (;;) {
      const { path } = await waitingOf(runId)
      if (path.endsWith('/refund/notice')) return acted()
      await sleep(20)
    }
  })
}
