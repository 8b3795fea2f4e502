import type { Failure } from './expectations.ts'
import { type Call, queryOf } from './http.ts'

/**
 * The tables "order of checks" of the REFERENCE are ladders: of two failures at once, the earlier row answers. A test breaks a
 * request that is right in every way, in one place or in two.
 */
export interface Draft {
  method: string
  readonly path: string
  parameters: Record<string, string | undefined>
  /** Put behind the query as it is. */
  rawQuery: string
  headers: Record<string, string>
  body?: string
}

export interface Defect<World> {
  /** Number of the row in the table. */
  readonly row: number
  readonly name: string
  /** What it changes; two defects that change the same cannot be had at once. */
  readonly touches: readonly string[]
  /** May take its time; what it returns is of no interest. */
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

/** Adds to the end of the query as it stands. */
export const addRaw =
  (raw: string) =>
  (draft: Draft): void => {
    draft.rawQuery += raw
  }

/** Gives a parameter a value that is not percent-encoded on the way. */
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

/** 20007 whose message speaks of `what`. */
export const illegal = (what: RegExp): Omit<Failure, 'mode'> => ({ rescode: 20007, message: what })

export interface Pair<World> {
  readonly name: string
  readonly first: Defect<World>
  readonly second: Defect<World>
}

/** Every two defects of different rows that can be had at once, the earlier row first. */
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
