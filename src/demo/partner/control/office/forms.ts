import type { Fields } from '../../fields.ts'
import type { Shop } from '../../shop.ts'
import type { Action } from '../api.ts'
import { describeProduct } from '../state.ts'

/** What a form sends, as the control API takes it: everything as text. */
type Read = (form: URLSearchParams, shop: Shop) => Fields

const asItIs: Read = (form) => Object.fromEntries(form)

const yesOrNo = (value: string | null, yes: string, no: string): boolean | undefined =>
  value === yes ? true : value === no ? false : undefined

/**
 * The form shows every field of the product and sends all of them; only what differs is a change. A field that is not
 * in the form, or left empty, stays as it is.
 */
const changedFields: Read = (form, shop) => {
  const partnerDealId = form.get('partnerDealId') ?? ''
  const product = shop.products.get(partnerDealId)
  const onSale = yesOrNo(form.get('onSale'), 'yes', 'no')
  const shown: Fields = product ? describeProduct(product) : {}
  const changed = [...form].filter(([name, value]) => name !== 'onSale' && !isShown(shown[name], value))
  return {
    ...Object.fromEntries(changed),
    partnerDealId,
    ...(onSale === undefined || onSale === shown.onSale ? {} : { onSale }),
  }
}

const isShown = (shown: unknown, value: string): boolean =>
  typeof shown === 'number' ? Number(value) === shown : value === shown

export const FORMS: Readonly<Record<Action, Read>> = {
  consume: asItIs,
  'decide-refund': (form) => ({
    ...Object.fromEntries(form),
    approve: yesOrNo(form.get('decision'), 'approve', 'refuse'),
  }),
  'change-product': changedFields,
  'add-product': asItIs,
}
