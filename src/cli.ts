#!/usr/bin/env node
import './platform/lib/start-faster.ts'

// `… | head` closes the pipe early: exit quietly instead of failing with EPIPE.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

const { runCommand } = await import('./command-line.ts') // its modules rely on start-faster.ts having run
await runCommand(process, process.argv.slice(2))
