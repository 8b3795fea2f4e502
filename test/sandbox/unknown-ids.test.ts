import { expect, it } from 'vitest'
import { translator } from '../../src/platform/lib/web/locale.ts'
import type { CheckId } from '../../src/sandbox/checks/checks.ts'
import { findingAnswer } from '../../src/sandbox/portal/api/answer.ts'
import { shownChoice } from '../../src/sandbox/portal/pages/run-parts.ts'
import { trafficTexts } from '../../src/sandbox/portal/traffic/texts.ts'
import { storedChoice } from '../../src/sandbox/test-plan/choice.ts'

/** What another release has stored: functions, checks and steps that this one does not know are shown by their ids. */

const t = translator('en')

it('a function of another release is shown by its id', () => {
  const choice = storedChoice.parse({
    functions: ['product-pull', 'of-another-release'],
    products: { main: 'P' },
    quantity: 2,
  })
  expect(shownChoice(choice, new Date(0), t).functions).toEqual(['Product pull', 'of-another-release'])
})

it('a check of another release is shown by its id', () => {
  expect(findingAnswer({ id: 'of-another-release' as CheckId }, t).text).toBe('of-another-release')
})

it('a call of a step that was removed is shown with the id of the step', () => {
  const texts = trafficTexts('en')
  expect(texts.cause({ cause: 'step', cause_ref: 'removed-step' })).toContain('removed-step')
  expect(texts.step('removed-step')).toBe('removed-step')
})
