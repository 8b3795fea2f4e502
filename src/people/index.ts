export { eraseDue, listDeletionRequests } from './deletion.ts'
export { countErasable, type Erasable, eraseUser, type Receipt } from './erase.ts'
export { exportedUser, exportUser } from './export.ts'
