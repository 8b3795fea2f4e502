import { InvalidInput } from '../lib/json/input.ts'
import { invalidRequest, type RescodeError } from '../lib/web/rescode.ts'

export const noSuchMicroApp = (): RescodeError => invalidRequest('no such micro-app', { status: 404 })

export const appKeyTaken = (): RescodeError => new InvalidInput([{ field: 'app_key', problem: 'is already taken' }])
