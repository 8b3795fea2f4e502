import { writeSync } from 'node:fs'

/** Memory for lines that wait to be written. */
const MOST_BYTES = 1_048_576
/** Lines that are collected are written once they have so many bytes, as a burst must not use up the memory above. */
const MOST_TOGETHER = 65_536
const TRY_AGAIN_AFTER_MS = 200
/** A pipe holds 64 KiB: if its reader were waited for longer, a busy service would log more than is written. */
const FULL_PIPE_AGAIN_AFTER_MS = 10
/** For the reader of a full pipe, when the process ends: its last lines say why. */
const MOST_WAIT_AT_EXIT_MS = 1_000

const sleeping = new Int32Array(new SharedArrayBuffer(4))
const isFullPipe = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EAGAIN'

/**
 * Lines that cannot be written wait, as far as there is room: a full disk, or a pipe that nobody reads, must not stop the
 * service. (pino's own stream ends the process on an error, and repeats its last write for good if the disk is full.)
 */
export class LogOutput {
  readonly #fd: number
  readonly #mostBytes: number
  readonly #together: boolean
  #soon: NodeJS.Immediate | undefined
  #waiting: Buffer[] = []
  #bytes = 0
  #missing = 0
  #timer: NodeJS.Timeout | undefined
  #isPipeFull = false
  /** Called with the number of lines that were left out, once lines can be written again. */
  onGap: (lines: number) => void = () => {}

  /** `together`: the lines of a turn of the event loop by one write, which costs less than one for each. */
  constructor(fd: number, { mostBytes = MOST_BYTES, together = false } = {}) {
    this.#fd = fd
    this.#mostBytes = mostBytes
    this.#together = together
    process.once('exit', () => this.#flushAtExit())
  }

  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#bytes + bytes.length > this.#mostBytes) {
      this.#missing++
      return
    }
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
    if (this.#timer !== undefined) return
    if (!this.#together || this.#bytes >= MOST_TOGETHER) this.#flush()
    else this.#soon ??= setImmediate(() => this.#flush())
  }

  #flush(): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#soon)
    this.#timer = undefined
    this.#soon = undefined
    if (this.#waiting.length > 1) this.#waiting = [Buffer.concat(this.#waiting)]
    try {
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        const written = writeSync(this.#fd, next)
        this.#bytes -= written
        if (written < next.length) this.#waiting[0] = next.subarray(written)
        else this.#waiting.shift()
      }
    } catch (error) {
      const wait = isFullPipe(error) ? FULL_PIPE_AGAIN_AFTER_MS : TRY_AGAIN_AFTER_MS
      this.#timer = setTimeout(() => this.#flush(), wait).unref()
      this.#isPipeFull = isFullPipe(error)
      return
    }
    const missing = this.#missing
    this.#missing = 0
    if (missing > 0) this.onGap(missing)
  }

  #flushAtExit(): void {
    const until = performance.now() + MOST_WAIT_AT_EXIT_MS
    this.#flush()
    while (this.#waiting.length > 0 && this.#isPipeFull && performance.now() < until) {
      Atomics.wait(sleeping, 0, 0, FULL_PIPE_AGAIN_AFTER_MS)
      this.#flush()
    }
  }
}
