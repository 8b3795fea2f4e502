/** A column encrypted with SECRET_KEY, declared by its table's owner; `gatehouse reseal` re-encrypts it. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** Columns that tell the rows apart; rows are gone through in their order. */
  readonly key: readonly string[]
  /** The context of a value's encryption, by the texts of its row's key. */
  readonly contextOf: (key: readonly string[]) => string
}
