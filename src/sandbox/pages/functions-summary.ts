import type { Translate } from '../../lib/web/locale.ts'
import type { FunctionsPage } from './functions-page.ts'

/** A field with a problem: where it is, and both in words. */
export interface Mistake {
  readonly href: string
  readonly text: string
}

/** Every field with a problem, in the order of the page. A field is named by its label, a group by its legend. */
export function summaryOf(page: Omit<FunctionsPage, 'summary'>, t: Translate): Mistake[] {
  const { groups, products, travelDate, prices, quantity, baseUrl, urls, conditions, contacts } = page
  const named = (label: string, text: string): string => t('sandbox.functions.problem', { label, text })
  const fields = [
    ...[...products, travelDate, ...prices, quantity, baseUrl, ...urls, conditions.daysAhead],
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
