import type { Terminal } from './terminal.ts'

const WIDTH = 30

/** `[##########----------]  100 of 120`; without a total only how many. */
export function progressLine(seen: number, total: number | undefined): string {
  if (total === undefined || total === 0) return `${seen}`
  const filled = Math.min(WIDTH, Math.round((seen / total) * WIDTH))
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}]  ${seen} of ${total}`
}

/** Draws progress on a terminal, over itself, and takes it away at the end; elsewhere it stays silent. */
export function progressBar(stream: Terminal['stderr']) {
  const clear = '\r\u001b[K'
  return {
    show: (seen: number, total: number | undefined): void => {
      if (stream.isTTY) stream.write(clear + progressLine(seen, total))
    },
    end: (): void => {
      if (stream.isTTY) stream.write(clear)
    },
  }
}
