/** What a command reads from and writes to, and what it ends with: `process`, or a stand-in for tests. */
export interface Terminal {
  /** With `isTTY` a person types: only then are questions asked. */
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  /** For the output of commands. */
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean }
  /** For progress, warnings and failures. */
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
  exitCode?: number | string | null | undefined
}
