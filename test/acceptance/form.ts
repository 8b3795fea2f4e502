/** A form as a browser reads it from a page, whatever its layout. */
export interface Form {
  readonly action: string
  readonly method: string
  /** Names and values that are sent without any typing: hidden and prefilled inputs. */
  readonly fields: Readonly<Record<string, string>>
  readonly inputs: readonly string[]
  readonly buttons: readonly { readonly name: string; readonly value: string }[]
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const unescapeHtml = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16))
    if (decimal) return String.fromCodePoint(Number(decimal))
    return ENTITIES[name] ?? whole
  })

function attributes(tag: string): Record<string, string> {
  const found = tag.matchAll(/([\w:-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?/g)
  return Object.fromEntries(
    [...found]
      .slice(1)
      .map(([, name = '', double, single, bare]) => [name.toLowerCase(), unescapeHtml(double ?? single ?? bare ?? '')]),
  )
}

function formOf(html: string): Form {
  const [opening = ''] = /^<form[^>]*>/i.exec(html) ?? []
  const { action = '', method = 'get' } = attributes(opening)
  const inputs = [...html.matchAll(/<input[^>]*>/gi)].map(([tag]) => attributes(tag))
  const named = inputs.filter((input) => input.name && !['submit', 'image'].includes(input.type ?? ''))
  const buttons = [...html.matchAll(/<button[^>]*>/gi)].map(([tag]) => attributes(tag))
  const submits = inputs.filter((input) => input.type === 'submit')
  return {
    action,
    method: method.toUpperCase(),
    fields: Object.fromEntries(named.map((input) => [input.name ?? '', input.value ?? ''])),
    inputs: named.map((input) => input.name ?? ''),
    buttons: [...buttons, ...submits]
      .filter((button) => button.name)
      .map((button) => ({ name: button.name ?? '', value: button.value ?? '' })),
  }
}

export const formsOf = (html: string): Form[] =>
  [...html.matchAll(/<form[\s\S]*?<\/form>/gi)].map(([form]) => formOf(form))

export const signInForm = (html: string): Form | undefined =>
  formsOf(html).find((form) => form.inputs.includes('passport') && form.inputs.includes('password'))

/** The form of the second sign-in step. */
export const codeForm = (html: string): Form | undefined => formsOf(html).find((form) => form.inputs.includes('code'))

export const consentForm = (html: string): Form | undefined =>
  formsOf(html).find((form) => form.buttons.some((button) => button.name === 'decision'))

/** The text that a person reads: the page without tags. */
export const visibleText = (html: string): string =>
  unescapeHtml(
    html
      .replace(/<(script|style|head)[\s\S]*?<\/\1>/gi, ' ')
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' '),
  )
