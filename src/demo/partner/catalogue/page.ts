import type { Answer } from '../answer.ts'
import { type Fields, positive } from '../fields.ts'

/** One page; the first is page 1. totalSize counts all pages, so that the platform knows when it has everything. */
export function pageOf(all: readonly unknown[], body: Fields): Answer {
  const [page, size] = [positive(body, 'currentPage'), positive(body, 'pageSize')]
  return { totalSize: all.length, body: all.slice((page - 1) * size, page * size) }
}
