import { Refusal } from '../src/lib/web/rescode.ts'

Refusal.recordsStack = true
