import { defineConfig } from 'vitest/config'
import { HowToRun } from './how-to-run.ts'
import { LongestFirst } from './longest-first.ts'
import { testProcesses } from './test-processes.ts'
import { unitTests } from './tiers.ts'

/** What needs another language: `npm run interop`. */
const LANGUAGES = 'test/**/*.languages.test.ts'
/** `npm run test:unit` sets it. */
const UNIT_ALONE = process.env.TEST_TIER === 'unit'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    reporters: ['default', new HowToRun()],
    pool: testProcesses,
    // Files of one worker share what they import: the app is loaded once a worker.
    isolate: false,
    // What a run has compiled the next one need not.
    experimental: { fsModuleCache: true },
    // Twice the cores of a small machine: tests also wait, for processes and for time to pass. Six took as long, at three
    // times the load.
    maxWorkers: 4,
    setupFiles: ['test/record-stacks.ts', 'test/english-equals.ts', 'test/cheap-hashes.ts'],
    sequence: { sequencer: LongestFirst },
    // These only end what hangs, on the busiest machine.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    projects: [
      // One for both tiers: files of two projects never share a process, and each process loads the app anew.
      {
        extends: true,
        test: {
          name: 'node',
          include: UNIT_ALONE ? unitTests() : ['test/**/*.test.ts'],
          exclude: [LANGUAGES],
          globalSetup: ['test/global-setup.ts'],
        },
      },
      { extends: true, test: { name: 'languages', include: [LANGUAGES], globalSetup: ['test/global-setup.ts'] } },
    ],
  },
})
