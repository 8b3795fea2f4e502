export { eraseDue } from './deletion.ts'
export { PEOPLE_ACTIONS } from './operator.ts'
