import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/platform/config/index.ts'
import { nextStep, showRun } from '../../../src/sandbox/certification/run.ts'
import { demoHelp } from '../../../src/sandbox/portal/pages/waiting.ts'
import { findPartner, type PartnerWithSecrets } from '../../../src/ticketing/partners/partner.ts'
import { type Lab, openLab } from '../lab.ts'
import { completeStep, EVERYTHING } from '../walk.ts'

let lab: Lab
let demo: PartnerWithSecrets
/** The configuration of a service whose demo partner is the one of the lab. */
let config: Config
beforeAll(async () => {
  lab = await openLab()
  const partner = await findPartner(lab.world.deps, lab.partnerId)
  if (!partner) throw new Error('the lab has no partner')
  demo = { ...partner, client_id: 'demo-partner' }
  config = { ...lab.world.deps.config, DEMO_PARTNER_PORT: Number(new URL(String(demo.base_url)).port) }
})
afterAll(() => lab.close())

/** Follows the help once the step waits. */
async function followHelp(runId: string): Promise<void> {
  const help = demoHelp({ config }, demo, await lab.awaited(runId))
  expect(help?.office).toBe(`http://localhost:${new URL(String(demo.base_url)).port}`)
  return perform(help?.curl ?? '')
}

/** Sends the request that the cURL command would send. */
async function perform(curl: string): Promise<void> {
  const [, url = '', body = ''] = /^curl -X POST (\S+) .* -d '(.*)'$/.exec(curl) ?? []
  const answer = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  if (!answer.ok) throw new Error(await answer.text())
}

describe('the demo partner’s help', () => {
  it('is a command that makes the demo partner send each notice that a run waits for', async () => {
    const { deps } = lab.world
    const runId = await lab.run(EVERYTHING)
    const helped: string[] = []
    for (;;) {
      const { current } = await showRun(deps, lab.partnerId, runId)
      if (!current || helped.length === 3) break
      const { id, kind } = current.step
      const result =
        kind === 'notice' ? await lab.runStep(runId, id, () => followHelp(runId)) : await completeStep(lab, runId, id)
      expect(result.failures, id).toEqual([])
      if (kind === 'notice') helped.push(id)
      await nextStep(deps, lab.partnerId, runId, id)
    }
    expect(helped).toEqual(['product-change', 'consumption', 'refund-notice'])
  })

  const waiting = {
    path: '/mtp/api/order/consume/notice',
    until: '',
    about: { orderId: '1', usedQuantity: '2' },
    notice: '',
  }

  it('is shown to the demo partner only, and only where the demo runs', async () => {
    expect(demoHelp({ config }, demo, waiting)).not.toBeNull()
    expect(demoHelp({ config }, { ...demo, client_id: 'lab' }, waiting)).toBeNull()
    expect(demoHelp({ config: { ...config, DEMO: false } }, demo, waiting)).toBeNull()
  })

  it('is not shown to a seller who runs their own program as the demo partner', () => {
    for (const base_url of ['http://127.0.0.1:8080', 'https://tickets.example', null]) {
      expect(demoHelp({ config }, { ...demo, base_url }, waiting), String(base_url)).toBeNull()
    }
  })
})
