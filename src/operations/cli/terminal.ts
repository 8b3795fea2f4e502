/** A command's streams, environment and exit code: `process`, or a stand-in for tests. */
export interface Terminal {
  /** Prompts are shown only with `isTTY`, when a person types. */
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean }
  /** For progress, warnings and failures. */
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
  exitCode?: number | string | null | undefined
}
