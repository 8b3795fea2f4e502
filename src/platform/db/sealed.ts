/** A column encrypted with SECRET_KEY, declared by its table's owner; `gatehouse reseal` re-encrypts it. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** A unique key; rows are processed in its order. */
  readonly key: readonly string[]
  /** The context that a value is encrypted with, from its row's key as texts. */
  readonly contextOf: (key: readonly string[]) => string
}
