export {
  type Explained,
  type ExplainedRefusal,
  type ExplainedRequest,
  explain,
  explainRequest,
  oneRequest,
} from './explain.ts'
export { withoutOthersWords } from './masked.ts'
export { EXPLAIN_ACTIONS } from './operator.ts'
export { openRefusalRecorder } from './refusals.ts'
export { checkText } from './steps.ts'
export { EXPLAIN_RETENTION, REFUSALS_OF_PERSON } from './store.ts'
