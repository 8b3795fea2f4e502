import type { Browser } from '../acceptance/browser.ts'
import { codeForm, consentForm, signInForm } from '../acceptance/form.ts'
import { type Answer, header } from '../acceptance/http.ts'

/** Plays a person sent by an app, who signs in and consents as far as the pages ask for it. */

export interface Visit {
  /** The address of the app to which the browser was redirected. */
  readonly location: URL
  /** The pages that were shown on the way. */
  readonly pages: readonly ('sign-in' | 'code' | 'consent')[]
}

interface Habits {
  readonly user?: { readonly passport: string; readonly password: string }
  readonly decision?: 'approve' | 'refuse'
  /** The current code of the authenticator. */
  readonly code?: () => string
}

/** Opens an authorization URL and continues until the browser is redirected to the app. */
export async function visit(
  browser: Browser,
  url: string | URL,
  { user, decision = 'approve', code }: Habits = {},
): Promise<Visit> {
  const { pathname, search } = new URL(url, 'http://service.example')
  const pages: Visit['pages'][number][] = []
  let answer = await browser.open(pathname + search)
  for (let turns = 0; turns < 5 && !leaves(answer); turns++) {
    const [signIn, second, consent] = [signInForm(answer.text), codeForm(answer.text), consentForm(answer.text)]
    if (signIn) {
      if (!user) throw new Error('nobody was said to sign in')
      pages.push('sign-in')
      answer = await browser.submit(signIn, { passport: user.passport, password: user.password })
    } else if (second && code) {
      pages.push('code')
      answer = await browser.submit(second, { code: code() })
    } else if (consent) {
      pages.push('consent')
      answer = await browser.submit(consent, { decision })
    } else {
      throw new Error(`no form: ${answer.status} ${answer.text.slice(0, 2_000)}`)
    }
    answer = await browser.follow(answer)
  }
  if (!leaves(answer)) throw new Error(`the browser stays: ${answer.status} ${answer.text.slice(0, 500)}`)
  return { location: new URL(header(answer, 'location')), pages }
}

const leaves = (answer: Answer): boolean => answer.status === 303 && /^https?:/.test(header(answer, 'location'))
