import type { Translate } from '../../../platform/lib/web/locale.ts'
import type { ShownContact } from './contacts-form.ts'

interface Field {
  readonly name: string
  readonly label: string
  /** Empty when nothing is wrong. */
  readonly problem: string
}

/** What of the page can have a problem. */
interface CheckedForm {
  readonly groups: readonly {
    readonly name: string
    readonly problem: string
    readonly functions: readonly { readonly id: string; readonly required: boolean }[]
  }[]
  readonly products: readonly Field[]
  readonly travelDate: Field
  readonly prices: readonly Field[]
  readonly quantity: Field
  readonly baseUrl: Field
  readonly urls: readonly Field[]
  readonly conditions: { readonly numbers: readonly Field[] }
  readonly contacts: readonly ShownContact[]
}

/** A field with a problem: where it is, and both in words. */
export interface FormProblem {
  readonly href: string
  readonly text: string
}

/** Every field with a problem, in the order of the page. A field is named by its label, a group by its legend. */
export function summaryOf(page: CheckedForm, t: Translate): FormProblem[] {
  const { groups, products, travelDate, prices, quantity, baseUrl, urls, conditions, contacts } = page
  const named = (label: string, text: string): string => t('sandbox.functions.problem', { label, text })
  const fields = [
    ...[...products, travelDate, ...prices, quantity, baseUrl, ...urls, ...conditions.numbers],
    ...contacts.flatMap(({ legend, person, mail }) =>
      [person, mail].map((field) => ({ ...field, label: named(legend, field.label) })),
    ),
  ].map((field) => ({ ...field, href: `#field-${field.name}` }))
  const boxes = groups.map(({ name, problem, functions }) => ({
    label: name,
    problem,
    href: `#function-${functions.find(({ required }) => !required)?.id}`,
  }))
  return [...boxes, ...fields].flatMap(({ href, label, problem }) =>
    problem ? [{ href, text: named(label, problem) }] : [],
  )
}
