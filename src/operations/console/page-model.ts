import type { Tone, Upload } from '../../platform/lib/action.ts'
import type { Role } from '../../platform/lib/web/admin-auth.ts'
import type { Download } from '../../platform/lib/web/download.ts'
import type { Locale, Translate } from '../../platform/lib/web/locale.ts'
import type { ExportFormat } from '../actions/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'

/** What pages are made of. A section says what it shows and does; routes.ts and the views make pages of it. */

/** One value; `text` is shown as text, never as markup. */
export interface Cell {
  readonly text: string
  readonly href?: string
  readonly tone?: Tone
  /** An id, address or other text that is to be read letter by letter. */
  readonly isCode?: boolean
  /** ISO 8601: the moment that the first line feed of `text` stands for. */
  readonly at?: string
  /** Times that its line feeds stand for. */
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
  /** ISO 8601: the moment that a line feed in `title` stands for. */
  readonly at?: string
  readonly note?: string
}

export interface Fact {
  readonly name: string
  readonly cells: readonly Cell[]
}

/** A link to the confirmation page of a change; shown to those whose role allows the operation. */
export interface ActionLink {
  readonly operation: string
  readonly href: string
  readonly text: string
  /** It ends something that cannot be brought back: shown apart. */
  readonly isDangerous?: true
  /** It leads elsewhere, and changes nothing. */
  readonly isSecond?: true
}

export interface Field {
  readonly name: string
  readonly label: string
  /** `hidden`: what the page showed comes back with the form; `several`: any of its choices, a line each in `value`. */
  readonly kind: 'text' | 'password' | 'number' | 'choice' | 'several' | 'date' | 'lines' | 'hidden'
  /** What a `choice` or `several` offers: value and text. */
  readonly choices?: readonly (readonly [value: string, text: string])[]
  readonly required?: boolean
  readonly hint?: string
  readonly value?: string
  readonly most?: number
}

/** What a section's functions are given. */
export interface PageContext {
  /** With the operator as actor. */
  readonly deps: ServiceDeps
  readonly t: Translate
  readonly locale: Locale
  readonly role: Role
  /** Values in the path. */
  readonly params: Readonly<Record<string, string>>
  /** Values in the address, or in the form; empty ones left out. */
  readonly fields: Readonly<Record<string, string>>
  /** Refuses an operator below this role, and records what was refused. */
  readonly admit: (role: Role, operation: string) => Promise<void>
}

/** Below /console; `operation` is a route of the admin API, whose role the page needs. */
interface Place {
  readonly path: string
  readonly operation: string
}

export interface ListPage extends Place {
  /** The audit log records each look, so HEAD is not answered. */
  readonly recordsLook?: true
  readonly title: string
  readonly lead: string
  readonly filters: (context: PageContext) => readonly Field[]
  readonly read: (context: PageContext) => Promise<{ readonly table: Table; readonly next: string | null }>
  /** The whole list as a file. */
  readonly exported?: (context: PageContext, format: ExportFormat) => Promise<Download>
  /** Who may have it. */
  readonly exportRole?: Role
  readonly actions?: (context: PageContext) => readonly ActionLink[]
}

/** A text of several lines, such as a body. */
export interface TextBlock {
  readonly title: string
  readonly text: string
  /** Empty if there is nothing to note. */
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

/** What a change will do, before it is made. */
interface Confirmation {
  /** The name of what is changed, which the page's title adds. */
  readonly about?: string
  readonly says: readonly string[]
  /** In numbers, where there are many. */
  readonly facts?: readonly Fact[]
  readonly fields?: readonly Field[]
  /** Where to go after the change, or if it is cancelled. */
  readonly back: string
  /** What may be done instead. */
  readonly others?: readonly ActionLink[]
}

/** A result that is shown once and not again, such as a new secret or what a pull has brought. */
export interface OneTimeResult {
  /** The page of the record that was made. */
  readonly back?: string
  readonly tone?: 'good' | 'bad'
  readonly note: string
  readonly values: readonly Fact[]
  readonly tables?: readonly Table[]
  readonly texts?: readonly TextBlock[]
}

/** The page of the record that was made. */
export interface Made {
  readonly address: string
}

export interface FormPage extends Place {
  /** Title of the page; its button says the same, unless it has a text of its own. */
  readonly title: string
  readonly button?: string
  /** It ends something that cannot be brought back: the button is red. */
  readonly isDangerous?: true
  /** Fields whose text counts to the last space: passwords. Asked with the first form sent, not at every start. */
  readonly exactly?: () => readonly string[]
  /** Where to go afterwards, of a change whose numbers take long to count: making it does not count them again. */
  readonly back?: (context: PageContext) => string
  /** Its form takes a file, and has no other fields. */
  readonly upload?: Upload<ServiceDeps>
  readonly confirm: (context: PageContext) => Promise<Confirmation>
  readonly run: (context: PageContext) => Promise<OneTimeResult | Download | Made | undefined>
}

export interface Section {
  /** The path below /console. */
  readonly id: string
  readonly title: string
  /** Who sees it in the navigation, where it has lists. */
  readonly operation: string
  readonly lists?: readonly ListPage[]
  readonly details?: readonly DetailPage[]
  readonly forms?: readonly FormPage[]
}
