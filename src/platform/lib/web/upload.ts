import type { FastifyRequest } from 'fastify'
import { localized } from '../localized-text.ts'
import { hasBody } from './read-body.ts'
import { invalidRequest } from './rescode.ts'

/** Shared by all forms with a file, on top of @fastify/multipart. */

export const fileTooLarge = () => invalidRequest(localized('file-too-large'), { status: 413 })

/** The Content-Length of a form, 0 without a body. Throws 20007 (413) if it exceeds `max` or is missing. */
export function announcedBytes(request: FastifyRequest, max: number): number {
  if (!hasBody(request)) return 0
  const length = Number(request.headers['content-length'] ?? Number.NaN)
  if (!(length <= max)) throw fileTooLarge()
  return length
}

export const isFileTooLarge = (error: unknown): boolean =>
  (error as { code?: unknown }).code === 'FST_REQ_FILE_TOO_LARGE'
