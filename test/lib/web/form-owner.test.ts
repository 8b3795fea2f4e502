import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../../src/platform/lib/root.ts'
import { FORM_OWNER } from '../../../src/platform/lib/web/form-owner.ts'

/** A form without the owner field counts as sent by a program, so every form that changes something must match the pattern. */

const VIEWS = new URL('views/', ROOT)
const views = readdirSync(VIEWS, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.eta'))
  .map((path) => [path, readFileSync(new URL(path, VIEWS), 'utf8')] as const)
/** The literal form tags, without what the view computes. */
const formsOf = (view: string): string[] => view.replaceAll(/<%[\s\S]*?%>/g, '').match(/<form\b[^>]*>/g) ?? []

describe('forms of views', () => {
  it.each(views.filter(([, view]) => view.includes('<form')))(
    'in %s name their method, and get the owner field if it is post',
    (path, view) => {
      for (const form of formsOf(view)) {
        if (form.includes(' method="get"')) expect(FORM_OWNER.addOwnerField(form, 'mark')).toBe(form)
        else if (!form.includes(' method=""')) expect(FORM_OWNER.addOwnerField(form, 'mark')).toContain('value="mark"')
        else expect(path).toBe('developer/try.eta') // for API calls, which the page does not send as a form
      }
    },
  )

  it('have no button that overrides their method', () => {
    expect(views.filter(([, view]) => /formmethod/i.test(view)).map(([path]) => path)).toEqual([])
  })
})
