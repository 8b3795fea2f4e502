export { openDeps } from './http-server.ts'
export { type Service, startService } from './start-service.ts'
