import { InvalidInput } from '../lib/input.ts'
import { invalidRequest, type RescodeError } from '../lib/rescode.ts'

export const noSuchMicroApp = (): RescodeError => invalidRequest('no such micro-app', { status: 404 })

export const appKeyTaken = (): RescodeError => new InvalidInput([{ field: 'app_key', problem: 'is already taken' }])
