import { Refusal } from '../src/lib/refusal.ts'

Refusal.recordsStack = true
