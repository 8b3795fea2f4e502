export { type Progress, type Resealed, resealEverything } from './reseal.ts'
