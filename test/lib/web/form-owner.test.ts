import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../../src/platform/lib/root.ts'
import { FORM_OWNER } from '../../../src/platform/lib/web/form-owner.ts'

/** A form without the field counts as one of a program, so each form that changes something has to be written as it is looked for. */

const VIEWS = new URL('views/', ROOT)
const views = readdirSync(VIEWS, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.eta'))
  .map((path) => [path, readFileSync(new URL(path, VIEWS), 'utf8')] as const)
/** Without what the view computes. */
const formsOf = (view: string): string[] => view.replaceAll(/<%[\s\S]*?%>/g, '').match(/<form\b[^>]*>/g) ?? []

describe('forms of views', () => {
  it.each(views.filter(([, view]) => view.includes('<form')))('of %s say how they are sent', (path, view) => {
    for (const form of formsOf(view)) {
      if (form.includes(' method="get"')) expect(FORM_OWNER.addOwnerField(form, 'mark')).toBe(form)
      else if (!form.includes(' method=""')) expect(FORM_OWNER.addOwnerField(form, 'mark')).toContain('value="mark"')
      else expect(path).toBe('developer/try.eta') // for calls of the API, which nobody's page sends
    }
  })

  it('have no button that sends them in another way', () => {
    expect(views.filter(([, view]) => /formmethod/i.test(view)).map(([path]) => path)).toEqual([])
  })
})
