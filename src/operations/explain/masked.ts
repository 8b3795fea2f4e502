import { maskedAnswer, maskedReason } from '../../platform/lib/masked-reason.ts'
import type { ExplainedRequest } from './explain.ts'

/** What is known of a request without what the partner wrote, for operators who may not see people. */
export const withoutOthersWords = ({ rejected_call: call, notice, ...found }: ExplainedRequest): ExplainedRequest => ({
  ...found,
  ...(call && {
    rejected_call: { ...call, reason: maskedReason(call.reason), answer: maskedAnswer(call.answer, call.reason) },
  }),
  ...(notice && { notice: { ...notice, answer: maskedAnswer(notice.answer, null) } }),
})
