export { accountPages, type PersonRequest, pagesOf, pathOf, typedText } from './account-guard.ts'
export { eraseDue } from './deletion.ts'
export { PEOPLE_ACTIONS } from './operator.ts'
