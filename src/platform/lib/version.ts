import { readFileSync } from 'node:fs'
import { ROOT } from './root.ts'

/** The version of this service, as package.json has it. */
export const VERSION: string = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')).version
