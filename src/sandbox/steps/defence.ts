import type { Forgery } from '../../ticketing/call-partner.ts'
import type { Step } from './step.ts'

/** Code 300: the partner has refused us, as it should. */
const REFUSED = [300]

/** A call of product pull that is wrong in one way; a partner that answers it verifies nobody. */
const refuses = (forge: Forgery, texts: Pick<Step, 'id' | 'name' | 'todo'>): Step => ({
  ...texts,
  kind: 'defence',
  needs: () => true,
  checks: [],
  async perform(scene) {
    const { main } = scene.choice.products
    await scene.call('product-pull', { method: 'multi', partnerDealIds: [main] }, { forge, codes: REFUSED })
  },
})

export const wrongSignature = refuses('signature', {
  id: 'wrong-signature',
  name: 'sandbox.step.wrong_signature.name',
  todo: 'sandbox.step.wrong_signature.todo',
})

export const staleDate = refuses('date', {
  id: 'stale-date',
  name: 'sandbox.step.stale_date.name',
  todo: 'sandbox.step.stale_date.todo',
})

export const unknownClient = refuses('client', {
  id: 'unknown-client',
  name: 'sandbox.step.unknown_client.name',
  todo: 'sandbox.step.unknown_client.todo',
})
