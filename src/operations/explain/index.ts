export {
  type Explained,
  type ExplainedRequest,
  explain,
  explainRequest,
  oneRequest,
} from './explain.ts'
export { withoutOthersWords } from './masked.ts'
export { EXPLAIN_ACTIONS } from './operator.ts'
