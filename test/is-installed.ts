import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Whether a program of that name is on the PATH and may be run. */
export const isInstalled = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
