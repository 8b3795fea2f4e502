export { aboutWhat, type Explained, type ExplainedRefusal, explain } from './explain.ts'
export { openRefusalKeeper } from './refusals.ts'
export { EXPLAIN_RETENTION } from './store.ts'
