import type { FunctionsPage } from './functions-page.ts'

/** A field with a problem. */
export interface Mistake {
  readonly href: string
  /** The field's label, or the legend of its group. */
  readonly label: string
  readonly text: string
}

/** Every field with a problem, in the order of the page. */
export function summaryOf(page: Omit<FunctionsPage, 'summary'>): Mistake[] {
  const { groups, products, travelDate, prices, quantity, baseUrl, urls, conditions, contacts } = page
  const fields = [
    ...[...products, travelDate, ...prices, quantity, baseUrl, ...urls, conditions.daysAhead].map((field) => ({
      ...field,
      href: `#field-${field.name}`,
    })),
    ...contacts.flatMap(({ legend, person, mail }) =>
      [person, mail].map((field) => ({ ...field, label: `${legend}: ${field.label}`, href: `#field-${field.name}` })),
    ),
  ]
  const boxes = groups.map(({ name, problem, functions }) => ({
    label: name,
    problem,
    href: `#function-${functions.find(({ required }) => !required)?.id}`,
  }))
  return [...boxes, ...fields].flatMap(({ href, label, problem }) => (problem ? [{ href, label, text: problem }] : []))
}
