import { z } from 'zod'
import { jsonIn } from '../../../platform/lib/json/lossless.ts'
import { listOf, readShape, type ShapeProblem } from '../../../platform/lib/json/shape.ts'
import { interfaceNamed, levelPriceCalendar, readAnswer } from '../../../ticketing/interfaces/index.ts'
import { type NoticeDeps, noticeAt } from '../../../ticketing/mtp/index.ts'
import type { NoticeName } from '../../../ticketing/mws-wire/index.ts'
import { docsLink } from '../docs/notices.ts'

/** A field with a problem, with a link to the field reference. */
export interface LinkedProblem extends ShapeProblem {
  readonly docs: string
}

/** The text of the failure says how many there are in all. */
const MAX_PROBLEMS = 50

const linked = (problems: readonly ShapeProblem[], linkTo: (path: string) => string): LinkedProblem[] =>
  problems.slice(0, MAX_PROBLEMS).map((problem) => ({ ...problem, docs: linkTo(problem.path) }))

export const noticeName = (deps: NoticeDeps, path: string): NoticeName | undefined => noticeAt(deps, path)?.name

/** Values that look like mistakes in an accepted level price notice. */
export function implausibleInNotice(deps: NoticeDeps, path: string, text: string): LinkedProblem[] {
  const json = listed.safeParse(jsonIn(text))
  if (noticeName(deps, path) !== 'level-prices' || !json.success) return []
  const implausible = levelPriceCalendar.implausible?.(json.data.body) ?? []
  const problems = implausible.map(({ index, path: field, problem }) => ({ path: `body[${index}].${field}`, problem }))
  return linked(problems, (field) => docsLink('level-prices', 'notice', field))
}

const listed = z.object({ body: listOf('levelPrices', z.looseObject({})) })

/** Invalid fields of a response; empty for text that is not JSON, which is a failure of its own. */
export function answerProblems(name: string, text: string): LinkedProblem[] {
  const definition = interfaceNamed(name)
  const json = jsonIn(text)
  if (!definition || json === undefined) return []
  const reading = readAnswer(definition, json)
  if (reading.outcome !== 'invalid') return []
  return linked(reading.problems, (field) => docsLink(definition.name, 'answer', field))
}

export function noticeProblems(deps: NoticeDeps, path: string, text: string): LinkedProblem[] {
  const notice = noticeAt(deps, path)
  const json = jsonIn(text)
  if (!notice || json === undefined) return []
  const { name, shape } = notice
  const read = readShape(shape, json)
  if (!('problems' in read)) return []
  return linked(read.problems, (field) => docsLink(name, 'notice', field))
}
