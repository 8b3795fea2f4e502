export {
  aboutWhat,
  type Explained,
  type ExplainedRefusal,
  type ExplainedRequest,
  explain,
  explainRequest,
  oneRequest,
} from './explain.ts'
export { withoutOthersWords } from './masked.ts'
