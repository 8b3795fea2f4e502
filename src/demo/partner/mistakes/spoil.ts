import type { FastifyReply } from 'fastify'
import type { DemoMistake } from './mistakes.ts'

export type Json = Record<string, unknown>

/** What a mistake in a response may use. */
export interface Occasion {
  /** The interface's path. */
  readonly path: string
  readonly reply: FastifyReply
  /** The Authorization header of the call. */
  readonly authorization: string
  readonly clientSecret: string
}

/** Returns the altered response: an object for the next mistake, or a final text. */
export type Spoil = (answer: Json, occasion: Occasion) => Json | string | Promise<Json>

export type Spoilers = Readonly<Partial<Record<DemoMistake, Spoil>>>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Changes the body, or each entry of it. */
export const inBody = (answer: Json, change: (entry: Json) => Json): Json => {
  const { body } = answer
  if (Array.isArray(body)) return { ...answer, body: body.map((entry: Json) => change(entry)) }
  return isObject(body) ? { ...answer, body: change(body) } : answer
}

export const without = (entry: Json, field: string): Json =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => name !== field))

/** As a JSON parser reads it that keeps every number in 53 bits. */
export const rounded = (id: bigint): bigint => BigInt(String(Number(id)))
