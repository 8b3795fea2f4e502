export { EXPLAIN_ACTIONS } from './actions.ts'
export {
  type Explained,
  explain,
  explainRequest,
  oneRequest,
  withoutPartnerTexts,
} from './explain.ts'
