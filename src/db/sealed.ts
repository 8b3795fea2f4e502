/**
 * A column whose values are sealed with SECRET_KEY (lib/crypto/keys.ts), as the owner of its table declares it: what is
 * sealed with an old key is sealed anew by `gatehouse reseal`.
 */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** Columns that tell the rows apart; rows are gone through in their order. */
  readonly key: readonly string[]
  /** What a value is sealed for, by the texts of its row's key. */
  readonly contextOf: (key: readonly string[]) => string
}
