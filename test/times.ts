/** Times on pages: each must be a `<time>` of views/when.eta, which a script converts to the reader's time zone. */

const TIME = /<time datetime="([^"]+)" title="([^"]+)">([^<]*)<\/time>/g
/** Ignored: raw data that was sent, such as Date headers, and countdowns. */
const RAW =
  /<(pre|code|textarea|style|script)[\s>][\s\S]*?<\/\1>|<dl class="headers">[\s\S]*?<\/dl>|<[^>]*\sdata-left=[^>]*>[^<]*/g
/** Form fields: their values are sent and not shown, unlike their labels. */
const FIELDS = /<(?:input|option)[^>]*>/g
const CLOCK = /\d{4}-\d\d-\d\d[ T]\d\d:\d\d|\b\d{1,2}:\d\d(?::\d\d)?(?!\d)|\b\d\d:\d\d:\d\d GMT/g

export interface TimesOnPage {
  /** Whatever looks like a time in the text or the labels of the page but is no proper `<time>`. */
  readonly stray: readonly string[]
  /** The proper times, in ISO 8601. */
  readonly right: readonly string[]
}

export function timesOn(html: string): TimesOnPage {
  const right: string[] = []
  const rest = html
    .slice(html.indexOf('<body'))
    .replace(TIME, (whole, iso: string, title: string, text: string) => {
      const utc = `${iso.slice(0, 19).replace('T', ' ')} UTC`
      // A line of a log shows its offset from the first one, such as "+2 s".
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
