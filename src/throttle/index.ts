/** Failed attempts and rates, counted for all processes of a database. Below all other rooms. */
export { limitPages, limitRate, registerRates } from './guard.ts'
export { openRates } from './rates.ts'
export { countUse } from './uses.ts'
