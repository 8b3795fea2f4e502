import { describe } from 'vitest'

/**
 * How one ordinary service behaves towards its callers. Starting it costs more than most of these tests, and separate
 * files may run in workers that share nothing, so this is one file with a module for each subject. `-t 'A3, refresh'`
 * runs one.
 */
const SUBJECTS = {
  'README, word for word': () => import('./one-service/readme-walk.ts'),
  'downloads of the field reference': () => import('./one-service/downloads.ts'),
  'A1, the request': () => import('./one-service/authorize.ts'),
  'A1, sign-in and consent': () => import('./one-service/consent.ts'),
  'A2, exchange': () => import('./one-service/exchange.ts'),
  'A3, refresh': () => import('./one-service/refresh.ts'),
  'A4 and A5, what a token gives access to': () => import('./one-service/resource.ts'),
  'area A, every rescode': () => import('./one-service/rescodes.ts'),
  'area A, other settings': () => import('./one-service/area-a-settings.ts'),
  'malformed HTTP': () => import('./one-service/unreadable.ts'),
  'refused notices that are kept': () => import('./one-service/notices-rejected.ts'),
  'notices, headers and signatures': () => import('./one-service/notices.ts'),
  'notices, bodies': () => import('./one-service/notices-bodies.ts'),
  'notices in any order': () => import('./one-service/notices-property.ts'),
  'the signature tool': () => import('./one-service/signature-tool.ts'),
  'a locked table': () => import('./one-service/bulkheads.ts'),
}

for (const [subject, tests] of Object.entries(SUBJECTS)) {
  describe(subject, async () => {
    await tests()
  })
}
