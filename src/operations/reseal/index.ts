export { type Resealed, type ResealProgress, resealEverything } from './reseal.ts'
