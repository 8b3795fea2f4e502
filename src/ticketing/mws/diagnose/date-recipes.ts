import {
  asctimeForms,
  chineseForms,
  dayDigitForms,
  epochForms,
  httpForms,
  isoForms,
  localForms,
  readLoosely,
  rfc850Forms,
  shiftedForms,
  widelyShiftedForms,
  zoneForms,
} from './date-forms.ts'
import { mistakesIn } from './recipe.ts'

/** The date's instant in other forms, the form that was sent left out. */
const reformatted =
  (forms: (at: Date) => string[]) =>
  ({ date }: { date: string }): string[] => {
    const at = readLoosely(date)
    return at === null ? [] : forms(at).filter((form) => form !== date)
  }

const ONCE = 'Format the Date once, sign that text and send the same text.'

/** The Date changed its form between signing and sending (REFERENCE "Signature", usual mistakes). */
export const dateRecipes = mistakesIn('date', [
  {
    name: 'date-signed-as-iso-8601',
    explanation: `The date was signed in ISO 8601 form but sent in another. ${ONCE}`,
    how: reformatted(isoForms),
  },
  {
    name: 'date-signed-as-rfc-850',
    explanation: `The date was signed in RFC 850 form (05-May-15) but sent in another. ${ONCE}`,
    how: reformatted(rfc850Forms),
  },
  {
    name: 'date-signed-as-asctime',
    explanation: `The date was signed as asctime or Java’s Date.toString() prints it but sent in another form. ${ONCE}`,
    how: reformatted(asctimeForms),
  },
  {
    name: 'date-signed-with-chinese-names',
    explanation: `The date was signed with Chinese names of day and month; format it with an English locale (Java: Locale.ENGLISH). ${ONCE}`,
    how: reformatted(chineseForms),
  },
  {
    name: 'date-signed-as-epoch',
    explanation: `The date was signed as a Unix timestamp but sent as text. ${ONCE}`,
    how: reformatted(epochForms),
  },
  {
    name: 'date-signed-with-other-day-digits',
    explanation: `The day of the month was signed with one digit and sent with two, or the other way round. ${ONCE}`,
    how: ({ date }) => dayDigitForms(date).filter((form) => form !== date),
  },
  {
    name: 'date-signed-in-other-case',
    explanation: `The date was signed and sent in different letter case. ${ONCE}`,
    how: ({ date }) => [date.toLowerCase(), date.toUpperCase()].filter((form) => form !== date),
  },
  {
    name: 'date-signed-with-other-zone',
    explanation: `The date was signed with UTC or +0000 at its end but sent with another zone. ${ONCE}`,
    how: reformatted(zoneForms),
  },
  {
    name: 'date-signed-in-local-time',
    explanation: `The date was signed in local time (UTC+8) but sent in GMT. ${ONCE}`,
    how: reformatted(localForms),
  },
  {
    name: 'date-sent-in-other-form',
    explanation: `The date was signed in the right form but sent in another, or as local time. ${ONCE}`,
    how: reformatted(httpForms),
  },
  {
    name: 'date-computed-twice',
    explanation: `The date was computed twice: the signed one and the sent one differ by some seconds. ${ONCE}`,
    how: reformatted(shiftedForms),
  },
  {
    name: 'date-minutes-apart',
    alone: true,
    explanation: `The signed date and the sent one are up to ten minutes apart: one of them was kept from an earlier call. ${ONCE}`,
    how: reformatted(widelyShiftedForms),
  },
  {
    name: 'date-with-header-name',
    explanation: 'The header’s name was signed together with the Date; sign only its value.',
    how: ({ date }) => [`Date: ${date}`, `Date:${date}`],
  },
  {
    name: 'date-not-signed',
    explanation: 'The Date was not signed; the string to sign ends with the exact value of the Date header.',
    how: () => [''],
  },
])
