import type { InterfaceName } from '../../../ticketing/interfaces/index.ts'
import { NOTICE_ENDPOINTS } from '../../../ticketing/mtp/index.ts'
import { ENDPOINTS, type NoticeName } from '../../../ticketing/mws-wire/index.ts'

export type Direction = 'request' | 'answer' | 'notice'

/**
 * The id of a field in `/sandbox/docs`, such as `order-create.answer.body.partnerOrderId`, from the path of a
 * ShapeProblem or zod issue. An empty path is the message as a whole.
 */
export function docsAnchor(name: InterfaceName | NoticeName, direction: Direction, path: string): string {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '' && !/^\d+$/.test(step))
  return [name, direction, ...steps].join('.')
}

export const docsLink = (...field: Parameters<typeof docsAnchor>): string => `/sandbox/docs#${docsAnchor(...field)}`

/** Paths without a prefix, and the schemas by which notices are parsed. */
export const NOTICES = NOTICE_ENDPOINTS.map(({ name, shape }) => ({ name, path: ENDPOINTS[name], shape }))
