export {
  type Explained,
  explain,
  explainRequest,
  oneRequest,
  withoutPartnerTexts,
} from './explain.ts'
export { EXPLAIN_ACTIONS } from './operator.ts'
