export { type Resealed, resealEverything } from './reseal.ts'
