import type { MicroApp } from './wire.ts'

/**
 * Whether an app may ask this person: one in development asks only its own test users, and those use no other app. `testOf`:
 * whose test user the person is.
 */
export const mayUse = (
  { app_key, stage }: Pick<MicroApp, 'app_key' | 'stage'>,
  { testOf }: { readonly testOf: string | null },
): boolean => (testOf === null ? stage === 'live' : testOf === app_key)
