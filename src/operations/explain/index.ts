export {
  type Explained,
  explain,
  explainRequest,
  oneRequest,
  withoutOthersWords,
} from './explain.ts'
export { EXPLAIN_ACTIONS } from './operator.ts'
