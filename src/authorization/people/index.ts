export { accountPages, type PersonRequest, pagesOf, pathOf } from './account-guard.ts'
export { PEOPLE_ACTIONS } from './actions.ts'
export { eraseDue } from './deletion.ts'
