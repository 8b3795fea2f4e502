import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes longest, so begins first: then all workers end at about the same time. Any other order is right too. */
const LONGEST = [
  'sandbox-walk.browser.test.ts',
  'starters.test.ts',
  'processes.test.ts',
  'plans.test.ts',
  'run.browser.test.ts',
  'races.test.ts',
  'console.browser.test.ts',
  'secret-key-rotation.test.ts',
  'headless.test.ts',
  'careless-seller.browser.test.ts',
  'bench.test.ts',
  'resource.test.ts',
  'mistakes.test.ts',
  'partners.test.ts',
  'answers.test.ts',
  'members.browser.test.ts',
  'shutdown.test.ts',
  'notices-canary.test.ts',
  'pages.browser.test.ts',
  'snippets.test.ts',
  'steps.test.ts',
  'worker.test.ts',
  'readiness.test.ts',
  'canary.test.ts',
  'encrypted-order.test.ts',
  'exchange.test.ts',
  'rates.test.ts',
  'slow-bodies.test.ts',
  'docs.browser.test.ts',
  'start.test.ts',
  'cli-embedded.test.ts',
  'refresh.test.ts',
  'partner-office.browser.test.ts',
  'mail.test.ts',
  'traffic.browser.test.ts',
  'walk.browser.test.ts',
  'requests.test.ts',
  'embedded.test.ts',
  'play.browser.test.ts',
  'access.browser.test.ts',
  'notices-kill.test.ts',
  'forbidden-start.test.ts',
  'pulls.test.ts',
  'notice-steps.test.ts',
  'outage.test.ts',
  'call-partner.test.ts',
  'way-back.test.ts',
  'notices-repeat.test.ts',
  'stream-routes.test.ts',
  'notices-property.test.ts',
  'backup.test.ts',
  'api.test.ts',
  'preflight.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => LONGEST.indexOf(basename(moduleId)) + 1 || LONGEST.length + 1
    // A worker goes on with the files of one project.
    const byProject = (a: TestSpecification, b: TestSpecification) => a.project.name.localeCompare(b.project.name)
    return [...files].sort((a, b) => byProject(a, b) || rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId))
  }
}
