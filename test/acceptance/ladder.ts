import type { Failure } from './expectations.ts'
import { type Call, queryOf } from './http.ts'

/**
 * The "order of checks" tables in REFERENCE are ladders: when two checks fail, the earlier row answers. A test breaks
 * an entirely valid request in one place or in two.
 */
export interface Draft {
  method: string
  readonly path: string
  parameters: Record<string, string | undefined>
  /** Appended to the query without encoding. */
  rawQuery: string
  headers: Record<string, string>
  body?: string
}

export interface Defect<World> {
  /** Number of the row in the table. */
  readonly row: number
  readonly name: string
  /** What it changes; two defects that change the same thing cannot be combined. */
  readonly touches: readonly string[]
  /** May return a promise; its result is ignored. */
  readonly breakIt: (draft: Draft, world: World) => unknown
  readonly failure: Omit<Failure, 'mode'>
}

export const draftOf = (
  method: string,
  path: string,
  parameters: Readonly<Record<string, string | undefined>>,
): Draft => ({
  method,
  path,
  parameters: { ...parameters },
  rawQuery: '',
  headers: {},
})

export const callOf = ({ method, path, parameters, rawQuery, headers, body }: Draft): Call => ({
  method,
  path: `${path}?${queryOf(parameters)}${rawQuery}`,
  headers,
  body,
})

export const set =
  (changes: Readonly<Record<string, string | undefined>>) =>
  (draft: Draft): void => {
    Object.assign(draft.parameters, changes)
  }

/** Appends to the query without encoding. */
export const addRaw =
  (raw: string) =>
  (draft: Draft): void => {
    draft.rawQuery += raw
  }

/** Sets a parameter to a value that is not percent-encoded. */
export const setRaw =
  (name: string, raw: string) =>
  (draft: Draft): void => {
    draft.parameters[name] = undefined
    draft.rawQuery += `&${name}=${raw}`
  }

export const useMethod =
  (method: string) =>
  (draft: Draft): void => {
    draft.method = method
  }

export const useHeader =
  (name: string, value: string) =>
  (draft: Draft): void => {
    draft.headers[name] = value
  }

/** `touches`: names separated by spaces. */
export const defect = <World>(
  row: number,
  name: string,
  touches: string,
  breakIt: Defect<World>['breakIt'],
  failure: Omit<Failure, 'mode'>,
): Defect<World> => ({ row, name, touches: touches.split(' '), breakIt, failure })

/** 20007 with a message that matches `what`. */
export const illegal = (what: RegExp): Omit<Failure, 'mode'> => ({ rescode: 20007, message: what })

export interface Pair<World> {
  readonly name: string
  readonly first: Defect<World>
  readonly second: Defect<World>
}

/** All pairs of defects of different rows that can be combined, the earlier row first. */
export function pairsOf<World>(defects: readonly Defect<World>[]): Pair<World>[] {
  return defects.flatMap((first) =>
    defects
      .filter((second) => second.row > first.row && !second.touches.some((what) => first.touches.includes(what)))
      .map((second) => ({
        name: `row ${first.row} (${first.name}) before row ${second.row} (${second.name})`,
        first,
        second,
      })),
  )
}
