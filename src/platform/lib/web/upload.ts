import type { FastifyRequest } from 'fastify'
import { localized } from '../localized-text.ts'
import { hasBody } from './read-body.ts'
import { invalidRequest } from './rescode.ts'

/** What every form with a file needs, whatever @fastify/multipart is told. */

export const fileTooLarge = () => invalidRequest(localized('file-too-large'), { status: 413 })

/** The bytes that a form announces, 0 where there is none. Throws 20007 (413) where they are more than `most`, or are not announced. */
export function announcedBytes(request: FastifyRequest, most: number): number {
  if (!hasBody(request)) return 0
  const length = Number(request.headers['content-length'] ?? Number.NaN)
  if (!(length <= most)) throw fileTooLarge()
  return length
}

/** Whether the parser has left a file that was larger than it may be. */
export const isFileTooLarge = (error: unknown): boolean =>
  (error as { code?: unknown }).code === 'FST_REQ_FILE_TOO_LARGE'
