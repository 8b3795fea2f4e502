import type { ReferenceSection } from './reference.ts'

/** Longer queries are cut. */
const MAX_QUERY_LENGTH = 100
const MAX_FOUND = 100

interface Found {
  readonly anchor: string
  /** The section, and for a field its path. */
  readonly location: string
  readonly text: string
}

type TitleOf = (section: ReferenceSection) => string

const entriesOf = (section: ReferenceSection, titleOf: TitleOf): (Found & { readonly words: string })[] => {
  const title = titleOf(section)
  const { name, path } = section
  return [
    { anchor: name, location: title, text: path, words: `${name} ${title} ${path}` },
    ...section.parts.flatMap(({ direction, fields }) =>
      fields.map(({ anchor, path: field, meaning, meanings }) => ({
        anchor,
        location: `${title} · ${field}`,
        text: meaning,
        words: [direction, field, meaning, ...meanings.map((value) => `${value.value} ${value.meaning}`)].join(' '),
      })),
    ),
    ...section.codes.map(({ code, meaning }) => ({
      anchor: name,
      location: `${title} · ${code}`,
      text: meaning,
      words: `${code} ${meaning}`,
    })),
  ]
}

/**
 * Entries that contain every word of the query, case-insensitively, in names, paths, fields, values, codes or meanings.
 */
export function searchReference(sections: readonly ReferenceSection[], titleOf: TitleOf, query: string) {
  const searched = query.trim().slice(0, MAX_QUERY_LENGTH)
  const words = searched.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return { query: '', found: [], isCut: false }
  const found = sections
    .flatMap((section) => entriesOf(section, titleOf))
    .filter((entry) => words.every((word) => entry.words.toLowerCase().includes(word)))
  return { query: searched, found: found.slice(0, MAX_FOUND), isCut: found.length > MAX_FOUND }
}
