/**
 * An answer to one caller, not a fault: where it was thrown is of no interest to a service, and recording that costs more
 * than all the rest. Tests have it recorded, so that one which fails shows the line.
 */
export class Refusal extends Error {
  static recordsStack = false

  constructor(message: string) {
    const { stackTraceLimit } = Error
    if (!Refusal.recordsStack) Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
  }
}
