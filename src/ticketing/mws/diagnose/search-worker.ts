import { type DiagnosedCall, type DiagnosedPartner, type Diagnosis, type DiagnosisSettings, diagnose } from './index.ts'

/** What a thread needs to find out how a call was signed. */
export interface SearchTask {
  readonly call: DiagnosedCall
  readonly partner: DiagnosedPartner
  readonly settings: DiagnosisSettings
}

/** Runs in a thread of its own; `ms` is the time that it took. */
export default function search({ call, partner, settings }: SearchTask): { diagnosis: Diagnosis; ms: number } {
  const began = performance.now()
  const diagnosis = diagnose(call, partner, settings)
  return { diagnosis, ms: performance.now() - began }
}
