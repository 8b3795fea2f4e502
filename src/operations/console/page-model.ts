import type { Tone, Upload } from '../../platform/lib/action.ts'
import type { Role } from '../../platform/lib/web/admin-auth.ts'
import type { Download } from '../../platform/lib/web/download.ts'
import type { Locale, Translate } from '../../platform/lib/web/locale.ts'
import type { ExportFormat } from '../actions/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'

/** The parts of a page. Sections say what they show and do; routes.ts and the views turn that into pages. */

/** One value. `text` is always escaped. */
export interface Cell {
  readonly text: string
  readonly href?: string
  readonly tone?: Tone
  /** An id, address or the like, shown in a fixed-width font. */
  readonly isCode?: boolean
  /** Times in ISO 8601; the line feeds of `text` are placeholders for them. */
  readonly moments?: readonly string[]
  /** Text that exists in English only. */
  readonly isEnglish?: boolean
}

export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
  /** Shown instead of an empty table. */
  readonly none: string
  readonly title?: string
  /** ISO 8601; a line feed in `title` is the placeholder for this time. */
  readonly at?: string
  readonly note?: string
}

export interface Fact {
  readonly name: string
  readonly cells: readonly Cell[]
}

/** A link to the confirmation page of a change, shown if the role allows the operation. */
export interface ActionLink {
  readonly operation: string
  readonly href: string
  readonly text: string
  /** The change cannot be undone, so the link is shown apart. */
  readonly isDangerous?: true
  /** A link to another page, not to a change. */
  readonly isSecond?: true
}

export interface Field {
  readonly name: string
  readonly label: string
  /** `hidden` returns what the page showed; `several` takes any of the choices, one per line of `value`. */
  readonly kind: 'text' | 'password' | 'number' | 'choice' | 'several' | 'date' | 'lines' | 'hidden'
  /** What a `choice` or `several` offers: value and text. */
  readonly choices?: readonly (readonly [value: string, text: string])[]
  /** Values that a `text` suggests; others may be typed. */
  readonly offers?: readonly string[]
  readonly required?: boolean
  /** Has a good default: hidden until somebody opens the part of the form that it is in. */
  readonly isFolded?: true
  /** There may be secrets in it, so the browser keeps nothing of it (views/assets/send-once.js). */
  readonly isUnkept?: boolean
  readonly hint?: string
  readonly value?: string
  readonly most?: number
}

/** The request, as a section's functions get it. */
export interface PageContext {
  /** With the operator as actor. */
  readonly deps: ServiceDeps
  readonly t: Translate
  readonly locale: Locale
  readonly role: Role
  /** Path parameters. */
  readonly params: Readonly<Record<string, string>>
  /** Values of the query and the form, without empty ones. */
  readonly fields: Readonly<Record<string, string>>
  /** Throws for an operator below this role, and records the refusal. */
  readonly admit: (role: Role, operation: string) => Promise<void>
}

/** A path below /console, and the operation, a route of the admin API, whose role the page requires. */
interface Place {
  readonly path: string
  readonly operation: string
}

export interface ListPage extends Place {
  /** The audit log records each view, so HEAD is not answered. */
  readonly recordsLook?: true
  readonly title: string
  readonly lead: string
  readonly filters: (context: PageContext) => readonly Field[]
  readonly read: (context: PageContext) => Promise<{ readonly table: Table; readonly next: string | null }>
  /** Exports the whole list. */
  readonly exported?: (context: PageContext, format: ExportFormat) => Promise<Download>
  /** The role that may export it. */
  readonly exportRole?: Role
  readonly actions?: (context: PageContext) => readonly ActionLink[]
}

/** A multi-line text, such as a body. */
export interface TextBlock {
  readonly title: string
  readonly text: string
  /** May be empty. */
  readonly note: string
}

interface Detail {
  readonly title: string
  readonly facts: readonly Fact[]
  readonly tables: readonly Table[]
  readonly texts?: readonly TextBlock[]
  readonly actions: readonly ActionLink[]
  readonly notice?: string
}

export interface DetailPage extends Place {
  readonly read: (context: PageContext) => Promise<Detail>
}

/** Says what a change will do. */
interface Confirmation {
  /** The name of the record, added to the page's title. */
  readonly about?: string
  readonly says: readonly string[]
  /** The record, and the effect in numbers. */
  readonly facts?: readonly Fact[]
  readonly fields?: readonly Field[]
  /** The page to go to after the change, or if it is cancelled. */
  readonly back: string
  /** Alternatives. */
  readonly others?: readonly ActionLink[]
}

/** A result that is shown only once, such as a new secret or what a pull has brought. */
export interface OneTimeResult {
  /** The page of the created record. */
  readonly back?: string
  readonly tone?: 'good' | 'bad'
  readonly note: string
  readonly values: readonly Fact[]
  readonly tables?: readonly Table[]
  readonly texts?: readonly TextBlock[]
}

/** The page of the created record. */
export interface Created {
  readonly address: string
}

export interface FormPage extends Place {
  /** Title of the page, and text of the button unless `button` is set. */
  readonly title: string
  readonly button?: string
  /** The change cannot be undone, so the button is red. */
  readonly isDangerous?: true
  /** Fields that are not trimmed, such as passwords. A function, so that starting the service does not compute it. */
  readonly exactly?: () => readonly string[]
  /** The page to go to afterwards. */
  readonly back: (context: PageContext) => string
  /** The form takes a file and has no other fields. */
  readonly upload?: Upload<ServiceDeps>
  readonly confirm: (context: PageContext) => Promise<Confirmation>
  readonly run: (context: PageContext) => Promise<OneTimeResult | Download | Created | undefined>
}

export interface Section {
  /** The path below /console. */
  readonly id: string
  readonly title: string
  /** Its role is required to see the section in the navigation. */
  readonly operation: string
  readonly lists?: readonly ListPage[]
  readonly details?: readonly DetailPage[]
  readonly forms?: readonly FormPage[]
}
