import type { DescribedOperation } from './reference.ts'

export const LONGEST_SEARCH = 100

/** What a reader may look for an endpoint by. */
const textOf = ({ title, about, method, path, requests, answers, failures }: DescribedOperation): string =>
  [
    ...[title, about, method, path],
    ...requests.flatMap(({ name, parameters }) => [name, ...parameters.flatMap((one) => [one.name, one.meaning])]),
    ...answers.flatMap(({ fields }) => fields.flatMap((field) => [field.name, field.meaning])),
    ...failures.flatMap(({ code, name, message }) => [code, name, message]),
  ]
    .join('\n')
    .toLowerCase()

/** The endpoints that have every word; all of them where there is none. */
export function matching(operations: readonly DescribedOperation[], search: string): readonly DescribedOperation[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return operations.filter((operation) => {
    const text = textOf(operation)
    return words.every((word) => text.includes(word))
  })
}
