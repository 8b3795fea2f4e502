import { ACCOUNT_OF_PERSON } from '../account/index.ts'
import type { PersonalRows } from '../db/personal-rows.ts'
import { REFUSALS_OF_PERSON } from '../explain/index.ts'
import { OAUTH_OF_PERSON } from '../oauth/index.ts'
import { ACCESSES_OF_PERSON } from '../resource/index.ts'

/** Everything that rooms keep about a person, in the order in which it may go. Orders and members name no user. */
export const ROWS_OF_PERSON: readonly PersonalRows[] = [
  ...OAUTH_OF_PERSON,
  ...ACCESSES_OF_PERSON,
  ...REFUSALS_OF_PERSON,
  ...ACCOUNT_OF_PERSON,
]
