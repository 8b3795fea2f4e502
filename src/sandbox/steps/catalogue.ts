import { offers } from '../choice.ts'
import type { Step } from './step.ts'

/** The first page of the catalogue, and in it the products that the run is about. */
export const productPull: Step = {
  id: 'product-pull',
  name: 'sandbox.step.product_pull.name',
  todo: 'sandbox.step.product_pull.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'product-pull'),
  checks: ['product-found'],
  async perform(scene) {
    const { products } = scene.choice
    const wanted = [...new Set(Object.values(products).filter((id) => id !== undefined))]
    const result = await scene.call('product-pull', { method: 'multi', partnerDealIds: wanted })
    if (result.outcome !== 'success') return
    const found = result.answer.body.map(({ partnerDealId }) => partnerDealId)
    for (const id of wanted) {
      const there = found.includes(id)
      await scene.check('product-found', there, { path: 'body', expected: id, actual: there ? id : found.join(', ') })
    }
  },
}
