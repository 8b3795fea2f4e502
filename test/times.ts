/** Times on pages: each is a `<time>` of views/when.eta, which scripts turn into the reader's own time. */

const TIME = /<time datetime="([^"]+)" title="([^"]+)">([^<]*)<\/time>/g
/** What was sent, such as Date headers, and a clock that runs down. */
const RAW =
  /<(pre|code|textarea|style|script)[\s>][\s\S]*?<\/\1>|<dl class="headers">[\s\S]*?<\/dl>|<[^>]*\sdata-left=[^>]*>[^<]*/g
/** Values of fields are what a form sends. */
const FIELDS = /<(?:input|option)[^>]*>/g
const CLOCK = /\d{4}-\d\d-\d\d[ T]\d\d:\d\d|\b\d{1,2}:\d\d(?::\d\d)?(?!\d)|\b\d\d:\d\d:\d\d GMT/g

export interface TimesOnPage {
  /** What looks like a time in the text of a page, or in what is said of it, and is none of ours. */
  readonly stray: readonly string[]
  /** ISO 8601. */
  readonly right: readonly string[]
}

export function timesOn(html: string): TimesOnPage {
  const right: string[] = []
  const rest = html
    .slice(html.indexOf('<body'))
    .replace(TIME, (whole, iso: string, title: string, text: string) => {
      const utc = `${iso.slice(0, 19).replace('T', ' ')} UTC`
      // A line of a log says how long after the first one it came.
      const isTime = /^[\d-]{10}T[\d:.]{8,12}Z$/.test(iso) && title === utc && (text === utc || /^\+/.test(text))
      if (isTime) right.push(iso)
      return isTime ? '' : whole.replaceAll('<time', '<time 00:00')
    })
    .replace(RAW, '')
    .replace(FIELDS, (field) => /aria-label="[^"]*"/.exec(field)?.[0] ?? '')
    .replace(/\s(?:href|src|action|id|value|data-[a-z-]+)="[^"]*"/g, '')
    .replaceAll(/\bUTC[+-]\d{1,2}(?::\d\d)?/g, '')
  return { stray: rest.match(CLOCK) ?? [], right }
}
