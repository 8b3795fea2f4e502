import { Refusal } from '../src/platform/lib/web/rescode.ts'

Refusal.recordsStack = true
