import type { Deps } from '../../deps.ts'
import { parseLossless } from '../../lib/lossless.ts'
import { readShape, type ShapeProblem } from '../../lib/shape.ts'
import { noticeEndpoint } from '../../mtp/replay.ts'
import { INTERFACES } from '../../ticketing/interfaces/index.ts'
import type { PartnerInterface } from '../../ticketing/interfaces/interface.ts'
import { readAnswer } from '../../ticketing/interfaces/read-answer.ts'
import { docsLink, type NoticeName } from '../docs/anchor.ts'
import { NOTICES } from '../docs/notices.ts'

/** One field that was wrong, with its place in the field reference. */
export interface LinkedProblem extends ShapeProblem {
  readonly docs: string
}

const noticeAt = (deps: Deps, path: string) => {
  const endpoint = noticeEndpoint(deps, path)
  return NOTICES.find((notice) => notice.path === endpoint)
}

/** The notice that is taken at a path; undefined for any other path. */
export const noticeName = (deps: Deps, path: string): NoticeName | undefined => noticeAt(deps, path)?.name

const jsonOf = (text: string): unknown => {
  const parsed = parseLossless(Buffer.from(text))
  return 'value' in parsed ? parsed.value : undefined
}

/** What is wrong with the fields of an answer to an interface; nothing for what is no JSON, which is told otherwise. */
export function answerProblems(name: string, text: string): LinkedProblem[] {
  const entry = INTERFACES.find((candidate) => candidate.name === name)
  const json = jsonOf(text)
  if (!entry || json === undefined) return []
  const reading = readAnswer(entry as PartnerInterface, json)
  if (reading.outcome !== 'misshapen') return []
  return reading.problems.map((problem) => ({ ...problem, docs: docsLink(entry.name, 'answer', problem.path) }))
}

/** The same for a notice. */
export function noticeProblems(deps: Deps, path: string, text: string): LinkedProblem[] {
  const notice = noticeAt(deps, path)
  const json = jsonOf(text)
  if (!notice || json === undefined) return []
  const { name, shape } = notice
  const read = readShape(shape, json)
  if (!('problems' in read)) return []
  return read.problems.map((problem) => ({ ...problem, docs: docsLink(name, 'notice', problem.path) }))
}
