import { z } from 'zod'
import { idText, maybe, oneOf } from '../lib/json/fields.ts'
import { listOf } from '../lib/json/lists.ts'
import { smallInt } from '../lib/json/lossless.ts'
import { productDoubts } from './doubts.ts'
import { partnerInterface, plainAnswer } from './interface.ts'
import { product } from './product-record.ts'
import { softProblems } from './soft-fields.ts'

export const productPull = partnerInterface({
  name: 'product-pull',
  title: 'Product pull',
  defaultPath: '/product/query',
  request: z.discriminatedUnion('method', [
    z.object({ method: z.literal('page'), currentPage: smallInt(), pageSize: smallInt() }),
    z.object({ method: z.literal('multi'), partnerDealIds: listOf('deals', idText()) }),
  ]),
  answer: z.looseObject({ totalSize: maybe(smallInt()), body: listOf('products', product) }),
  doubts: productDoubts,
  warnings: (json) => {
    const { body } = json as { readonly body: readonly unknown[] }
    return body.flatMap((entry, place) =>
      softProblems(entry).map(({ path, problem }) => ({ path: `body[${place}].${path}`, problem })),
    )
  },
})

/**
 * status: 0 waiting, 1 online, 2 failed, 3 offline, 4 not yet online. checkStatus: 0 waiting, 1 passed, 2 rejected,
 * 3 exempt, 4 blacklisted, 5 not submitted, 9 given up.
 */
export const productStatus = partnerInterface({
  name: 'product-status',
  title: 'Product status message',
  defaultPath: '/product/status',
  request: listOf(
    'products',
    z.object({
      partnerDealId: idText(),
      status: oneOf(0, 1, 2, 3, 4),
      checkStatus: oneOf(0, 1, 2, 3, 4, 5, 9).optional(),
      msRatioCheckStatus: smallInt().optional(),
    }),
  ),
  answer: plainAnswer,
})
